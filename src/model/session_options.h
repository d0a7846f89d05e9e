/*
 * The options of a session: the defaults, the table of those that have a name, and what a program
 * gave. The command line, config files and Python's Tracker set options by these names.
 */
#pragma once

#include <gputracker/session.h>

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct session_option {
    struct gput_session_option what;
    size_t offset;   /* in struct gput_session_options */
    double min, max; /* of a number */
    /* Reads a word of a list into the member at `to`. */
    int (*parse)(const char *word, void *to, struct gput_error *error);
    size_t text_offset;  /* for NUMBER_OR_TEXT: the member for a text that is no number */
    bool is_not_in_file; /* not allowed in config files */
    const char *option;  /* a shorter name, on the command line only */
};

/* Returns the table, and its length in `*count`. */
const struct session_option *session_options_list(size_t *count);

/* Returns the row of a name, or NULL. */
const struct session_option *session_options_find(const char *name);

/* Sets an option from text, which is not copied. Errors: GPUT_ERROR_INVALID. */
int session_options_set(struct gput_session_options *options, const struct session_option *option,
    const char *text, struct gput_error *error);

/* Asks the caller whether to continue without the option at `offset`, a text that cannot be
 * honoured. If so, sets the option to NULL and returns true. */
bool session_options_do_without(
    struct gput_session_options *options, size_t offset, const struct gput_error *reason);

/* Checks that each number is within its range, or is the default. Errors: GPUT_ERROR_INVALID. */
int session_options_check(const struct gput_session_options *options, struct gput_error *error);

/* Copies what a program gave into our own structs, of which `options` then points to `limits`.
 * Errors: those of sized_read(). */
int session_options_read(const struct gput_session_options *given,
    struct gput_session_options *options, struct gput_limits *limits, struct gput_error *error);
