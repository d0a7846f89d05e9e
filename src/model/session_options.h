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
    size_t text_offset;  /* of NUMBER_OR_TEXT: where a text goes that is no number */
    bool is_not_in_file; /* config files do not have it */
    const char *option;  /* its shorter name on the command line, which config files do not have */
};

/* The table; its length goes to `*count`. */
const struct session_option *session_options_list(size_t *count);

/* The row of a name; NULL: there is none. */
const struct session_option *session_options_find(const char *name);

/* Sets an option from text, which is not copied. Errors: GPUT_ERROR_INVALID. */
int session_options_set(struct gput_session_options *options, const struct session_option *option,
    const char *text, struct gput_error *error);

/* Asks the caller whether the session goes on without the option at `offset`, a text, which cannot
 * be had. The option is NULL then. */
bool session_options_do_without(
    struct gput_session_options *options, size_t offset, const struct gput_error *reason);

/* Checks that each number is within its range, or is the default. Errors: GPUT_ERROR_INVALID. */
int session_options_check(const struct gput_session_options *options, struct gput_error *error);

/* Copies what a program gave into our own structs, of which `options` then points to `limits`.
 * Errors: those of sized_read(). */
int session_options_read(const struct gput_session_options *given,
    struct gput_session_options *options, struct gput_limits *limits, struct gput_error *error);
