/*
 * The options of a session, as a program gave them.
 */
#pragma once

#include "base/error.h"

#include <gputracker/session.h>

#include <stddef.h>

/* An option that is a number, and what it may be. Sessions, and with them programs in C and Python,
 * and config files walk the same table. */
struct session_number {
    const char *name; /* in config files and Python */
    size_t offset;    /* in struct gput_session_options */
    double min, max;
    const char *wanted; /* "a number of seconds, 0.5 or more" */
};

/* NULL: there is none of that name. */
const struct session_number *session_number_find(const char *name);

/* Whether each is what it may be, or was not given. Errors: GPUT_ERROR_INVALID. */
int session_numbers_check(const struct gput_session_options *options, struct gput_error *error);

/* Reads what a program gave (NULL: the defaults) to our own structs; `options->limits` is `limits`,
 * which are copied. Strings stay the program's. Errors: those of sized_read(). */
int session_options_read(const struct gput_session_options *given,
    struct gput_session_options *options, struct gput_limits *limits, struct gput_error *error);
