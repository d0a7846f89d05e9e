/*
 * The options of a session, as a program gave them.
 */
#pragma once

#include "base/error.h"

#include <gputracker/session.h>

/* Reads what a program gave (NULL: the defaults) to our own structs; `options->limits` is `limits`,
 * which are copied. Strings stay the program's. Errors: those of sized_read(). */
int session_options_read(const struct gput_session_options *given,
    struct gput_session_options *options, struct gput_limits *limits, struct gput_error *error);
