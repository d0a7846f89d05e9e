/*
 * One line on a terminal that says what a command uses while it runs, drawn anew every second. It
 * has the last row for itself: what the command prints scrolls above it. A guard gives that row
 * back when gpu-tracker is killed.
 */
#pragma once

#include "live/guard.h"
#include "track/display.h"

#include <gputracker/session.h>

#include <stdbool.h>
#include <stdint.h>

/* All zeroes: no progress is shown. */
struct progress {
    struct gput_session *session; /* borrowed; NULL: nothing is shown */
    int64_t next_ms;              /* monotonic clock: when the line is due again */
    int rows, columns;            /* of the terminal when the line was drawn; 0: none is shown */
    struct guard guard;
};

/* Where `wanted` and the standard error is a terminal. To be called while there is one thread. */
void progress_open(struct progress *progress, bool wanted);

/* From now on shows what `session` measures. */
void progress_begin(struct progress *progress, struct gput_session *session);

/* Draws the line when it is due. */
struct display progress_display(struct progress *progress);

/* Removes the line, and waits for the terminal no longer than until `stop_fd` can be read (see
 * screen.h). */
void progress_end(struct progress *progress, int stop_fd);
