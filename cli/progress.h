/*
 * One line on a terminal that says what a command uses while it runs, drawn anew every second.
 */
#pragma once

#include "display.h"

#include <gputracker/session.h>

#include <stdbool.h>
#include <stdint.h>

/* All zeroes: no progress is shown. */
struct progress {
    struct gput_session *session; /* borrowed; NULL: nothing is shown */
    int64_t next_ms;              /* monotonic clock: when the line is due again */
    bool is_shown;
};

/* Shows progress of `session` where `wanted` and the standard error is a terminal. */
void progress_begin(struct progress *progress, struct gput_session *session, bool wanted);

/* Draws the line when it is due. */
struct display progress_display(struct progress *progress);

/* Removes the line. */
void progress_end(struct progress *progress);
