/*
 * Joules of code blocks: the energy of the session is a curve over time, of which each block gets
 * the intervals in which some call of it ran.
 *
 * Curve and calls are walked together in the order of time, so memory grows with the calls (16
 * bytes each) and the blocks, not with the curve. Between two points the curve is a straight line;
 * before its first and after its last point it is constant. The curve of a figure has a gap while
 * the figure is lost. Before it is first known it is 0, unless that is later than a session's first
 * answers: then what ended before is unknown.
 */
#pragma once

#include "analysis/analyze/sweep.h"

#include <gputracker/energy.h>

struct energy_points {
    /* Reads the next point: `*time` on the clock of the calls, joules since the start (NaN:
     * unknown). */
    int (*next)(void *user, double *time, double joules[GPUT_ENERGY_FIGURE_COUNT], bool *end,
        struct gput_error *error);
    void *user;
};

struct session_energy {
    double seconds;                                   /* from its first to its last point */
    double unknown_seconds[GPUT_ENERGY_FIGURE_COUNT]; /* of these seconds; all when it was never
                                                         known */
    double joules[GPUT_ENERGY_FIGURE_COUNT];          /* NaN: unknown for more than 2 % of them */
};

/*
 * Writes joules of the session, and for each target (sweep_lane has those of a call) the joules of
 * the time in which at least one of its calls ran. They are NaN when the curve is unknown at any
 * moment of a call, or all calls lie outside of it. Totals and shares are unknown while a part of
 * them is unknown that is known at other times. Errors: those of `points`, GPUT_ERROR_MEMORY.
 */
int block_energy_compute(const struct sweep_input *input, const struct energy_points *points,
    struct session_energy *session, double (*targets)[GPUT_ENERGY_FIGURE_COUNT],
    struct gput_error *error);
