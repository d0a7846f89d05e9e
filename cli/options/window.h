/*
 * The part of a trace or a training profile that a command reads: --start, --end, --steps.
 */
#pragma once

#include "options/arguments.h"

#include <gputracker/error.h>
#include <gputracker/timeline.h>

#include <stdbool.h>
#include <stdint.h>

struct window {
    enum gput_timeline_unit unit;
    int64_t start; /* microseconds since the epoch, or the first step; INT64_MIN: no bound */
    int64_t end;   /* as `start`; INT64_MAX: no bound */
};

/* Reads the options. With the older `--unit step`, --start and --end are steps. Errors:
 * GPUT_ERROR_INVALID. */
int window_read(const struct arguments *arguments, struct window *window, struct gput_error *error);

/* --steps alone, "10-12" or "10": sets unit, start and end if it was given. Errors:
 * GPUT_ERROR_INVALID, also where another option selects too. */
int window_read_steps(
    const struct arguments *arguments, struct window *window, struct gput_error *error);
