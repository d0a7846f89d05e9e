/*
 * Joules of code blocks: the energy of the session as a curve over time, and of it the stretches in
 * which some call of a block ran.
 *
 * Curve and calls are walked together in the order of time, so memory grows with the calls (16
 * bytes each) and the blocks, not with the curve. Between two points the curve is a straight line;
 * before its first and after its last point it is level. The curve of a figure has a gap where it
 * is not known any more, up to where it may be back. Up to where it is first known it is none so
 * far, unless that comes later than a session's first answers do; what ended before is unknown.
 */
#ifndef ANALYZE_BLOCK_ENERGY_H
#define ANALYZE_BLOCK_ENERGY_H

#include "analyze/sweep.h"

#include <gputracker/energy.h>

/* Where the points of the curve come from. */
struct energy_points {
    /* The next one: `*time` on the clock of the calls, joules since the start (NaN: unknown). */
    int (*next)(void *user, double *time, double joules[GPUT_ENERGY_FIGURE_COUNT], bool *end,
        struct gput_error *error);
    void *user;
};

/* What the curve says of the session as a whole. */
struct session_energy {
    double seconds;                                   /* from its first to its last point */
    double unknown_seconds[GPUT_ENERGY_FIGURE_COUNT]; /* of these; all where it was never known */
    double joules[GPUT_ENERGY_FIGURE_COUNT];          /* NaN: not known for more than 2 % of them */
};

/*
 * Writes joules of the session, and for each target (sweep_lane tells which a call has) those of
 * the time in which at least one of its calls ran: NaN where the curve does not tell, at any moment
 * of a call, or where all of its calls began and ended outside of it. Totals and shares are not
 * known where a part of them is not that is at other times. `calls` are sorted by start. Errors:
 * those of `points`, GPUT_ERROR_MEMORY.
 */
int block_energy_compute(const struct call *calls, size_t n_calls, const struct sweep_lane *lanes,
    size_t n_targets, const struct energy_points *points, struct session_energy *session,
    double (*targets)[GPUT_ENERGY_FIGURE_COUNT], struct gput_error *error);

#endif
