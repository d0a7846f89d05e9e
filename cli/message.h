/*
 * What the command says to people, always one line at once on the standard error, and its own
 * failures in the form that the library has for them.
 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <gputracker/error.h>

/* Exit statuses that are not the tracked command's. */
enum {
    EXIT_USAGE = 2,
    EXIT_LIMIT_PASSED = 124,
    EXIT_TRACKER_FAILED = 125,
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
};

/* Fills `error` and returns the code. */
int fail(struct gput_error *error, enum gput_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints the sentence of an error. */
void message_error(const struct gput_error *error);

/* Prints a line of information, not of trouble, on the standard error. */
void message_note(const char *text);

/* Prints `gpu-tracker: warning: …`, so that it can be told from what the tracked command prints.
 * Has the form of gput_options.warn; `user` is not used. May be called from any thread. */
void message_warning(void *user, const char *text);

#endif
