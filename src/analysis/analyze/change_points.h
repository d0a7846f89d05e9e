/*
 * Change points of several series at once: where a piecewise linear curve has to begin anew. The
 * method is PELT (Killick, Fearnhead and Eckley, 2012): the best division by the likelihood of the
 * values, with a line and a variance of its own for each segment, and a penalty for each change. It
 * is exact, where binary segmentation misses changes that come in pairs, and it prunes what cannot
 * be the best any more. Lines, not constants: memory that grows steadily is one phase, not a
 * staircase.
 *
 * The same values always give the same changes. Time is bounded by the square of
 * CHANGE_POINTS_VALUES, which callers reduce longer series to.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* The most values of a series. */
#define CHANGE_POINTS_VALUES 2048

/* Between two changes; what is shorter is noise. */
#define CHANGE_POINTS_MIN_LENGTH 8

/* The most changes: with more, the penalty is raised until there are no more. */
#define CHANGE_POINTS_MAX 64

struct change_series {
    double *values;   /* which are smoothed here */
    double min_noise; /* the standard deviation that is noise at least */
};

/*
 * Finds the changes of `n_series` series of `n` values, none of them NaN: `changes[i]` is the first
 * value after a change. Errors: GPUT_ERROR_MEMORY.
 */
int change_points_find(struct change_series *series, size_t n_series, size_t n,
    size_t changes[CHANGE_POINTS_MAX], size_t *count, struct gput_error *error);
