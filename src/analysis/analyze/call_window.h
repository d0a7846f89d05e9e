/*
 * The time of a session, outside of which its sub-tracking file may have calls of other runs: files
 * of an earlier run stay in a folder, and several runs can write into one.
 */
#pragma once

#include "analysis/analyze/call_table.h"

/* Seconds since the epoch; infinite where there is no bound. */
struct call_window {
    double from, to;
    int64_t pid; /* its calls that have no stop may start before; SUB_TRACKING_UNKNOWN: none */
};

/* What was skipped. */
struct call_window_rest {
    size_t before, after;
    double farthest; /* seconds from the window to the call that is farthest from it */
};

/* After call_table_pair(): skips the calls that lie wholly outside. An open call from before
 * is inside if its process is. Exact figures of a lane of which some are skipped are unknown.
 * Errors: GPUT_ERROR_MEMORY. */
int call_window_apply(const struct call_window *window, struct call_table *table,
    struct call_window_rest *rest, struct gput_error *error);
