/*
 * Messages for people, each one line written at once to standard error.
 */
#pragma once

#include <gputracker/error.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Exit statuses that are not the tracked command's. */
enum {
    EXIT_USAGE = 2,
    EXIT_LIMIT_EXCEEDED = 124,
    EXIT_TRACKER_FAILED = 125,
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
};

/* The sentence of an error, a line of information, or `warning: …`; `gpu-tracker: ` before each
 * distinguishes it from the tracked command's output. */
enum message_kind {
    MESSAGE_ERROR,
    MESSAGE_NOTE,
    MESSAGE_WARNING,
};

#define MESSAGE_LINE_SIZE 1024

/* Prints `gpu-tracker: ` and the sentence of an error. */
void message_error(const struct gput_error *error);

/* The exit status of a command that gave `code`: EXIT_SUCCESS, or `failed` after the message. */
int message_exit_status(int code, const struct gput_error *error, int failed);

/* The same while a session is tracked: waits no longer than until `stop_fd` can be read; see
 * screen.h. */
void message_error_until(const struct gput_error *error, int stop_fd);
void message_note_until(const char *text, int stop_fd);
void message_warning_until(const char *text, int stop_fd);

/* Prints a line of information, not of an error, on standard error. */
void message_note(const char *text);

/* Prints `gpu-tracker: warning: …`, which distinguishes it from the tracked command's output. Has
 * the form of gput_session_options.warn; `user` is not used. May be called from any thread. */
void message_warning(void *user, const char *text);

/*
 * Sentences for the report, about what was recorded next to the samples.
 */

enum { NOTES_MAX = 16 };

/* An empty one is all zeroes. */
struct notes {
    char *lines[NOTES_MAX + 1]; /* owned; NULL at the end */
    size_t count;
};

/* Adds one; what is too much, or has no memory, is skipped. */
void notes_add(struct notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

void notes_finish(struct notes *notes);

/*
 * Messages on standard error that wait while it does not accept them, or while a view has the
 * terminal: sampling does not wait for a reader. Any thread.
 */

struct held_messages {
    _Atomic bool holds_lines; /* a view has the terminal */
    pthread_mutex_t lock;     /* of the members below */
    char lines[8192];
    size_t length;
    unsigned dropped; /* lines that did not fit here either */
};

void held_messages_init(struct held_messages *messages);
void held_messages_finish(struct held_messages *messages); /* after held_messages_print() */

/* Prints a message, or holds it. Never waits. */
void held_messages_say(struct held_messages *messages, enum message_kind kind, const char *text);

/* Prints the lines held back, when nothing is tracked any more; waits no longer than until
 * `stop_fd` can be read. */
void held_messages_print(struct held_messages *messages, int stop_fd);
