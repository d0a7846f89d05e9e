/*
 * Assigns rows of a tracking file to the calls of code blocks: which rows lie in which blocks, and
 * which calls have a row.
 *
 * Rows and calls are walked together in the order of time. Between two moments at which some block
 * is entered or left, rows are only added to a run; the run is then merged into the session and
 * every block that was running. A row in several calls of a block counts once in it; a call
 * includes its start and stop times. A row that goes back in time costs a search, and the walk
 * continues there.
 *
 * A call has a row when the first row at or after its start is not after its stop. So each call
 * stores the earliest row between its start and the next start: 8 bytes a call, independent of the
 * number of rows.
 */
#pragma once

#include "analysis/analyze/call_table.h"
#include "analysis/analyze/quantile_sketch.h"
#include "analysis/analyze/row_statistics.h"

#include <gputracker/measurement.h>

/* A block, or a part of one. */
struct sweep_target {
    struct row_total *total;          /* NULL until there is a row; owned */
    struct quantile_sketch *sketches; /* one a column, with quantiles only; NULL until there is a
                                         row; owned */
    double latest_stop;               /* of the calls that have started */
    bool running;
    uint64_t n_non_empty_calls; /* after sweep_end() */
};

/* The targets of a lane's calls. */
struct sweep_lane {
    uint32_t block;
    uint32_t part; /* SWEEP_NO_PART: none */
};

#define SWEEP_NO_PART UINT32_MAX

/* The columns of a row that have sketches. */
#define SWEEP_QUANTILE_COLUMNS TRACKED_MEASUREMENTS

/* Calls, and to which targets they belong. */
struct sweep_input {
    const struct call *calls; /* sorted by start; borrowed */
    size_t n_calls;
    const struct sweep_lane *lanes; /* of the calls; borrowed */
    size_t n_targets;
};

struct sweep;

/*
 * Creates a walk over calls. What the input borrows must outlive it. `quantiles`: also keep
 * sketches.
 */
int sweep_create(const struct sweep_input *input, bool quantiles, struct sweep **sweep,
    struct gput_error *error);
void sweep_destroy(struct sweep *sweep); /* NULL is fine */

/*
 * Adds a row of ROW_COLUMNS values at `time` (on the clock of the calls). A row whose time is NaN
 * counts only for the session. Errors: GPUT_ERROR_MEMORY.
 */
int sweep_add_row(struct sweep *sweep, double time, const double *values, struct gput_error *error);

/* Completes all figures after the last row. */
int sweep_end(struct sweep *sweep, struct gput_error *error);

/* After sweep_end(). Valid as long as the sweep. */
const struct sweep_target *sweep_session(const struct sweep *sweep);
const struct sweep_target *sweep_target(const struct sweep *sweep, size_t target);
