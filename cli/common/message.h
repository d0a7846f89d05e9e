/*
 * Messages for people, each one line written at once to standard error.
 */
#pragma once

#include <gputracker/error.h>

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

/* Composes a line with its newline, cut where it is too long; returns its length. */
size_t message_compose(enum message_kind kind, const char *text, char line[MESSAGE_LINE_SIZE]);

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
