/*
 * Values that each hold for a span of time, as what one of several processes used while it ran.
 */
#pragma once

#include <stddef.h>

/* From `start` to `end`, which may be infinite. A value that is NaN is not known. */
struct span {
    double start, end, value;
};

/* All of them reorder the array. */

/* The highest sum of those that hold at one moment; NaN where none is known. The array has space
 * for as many again. */
double spans_highest_at_once(struct span *spans, size_t count);

/* The sum of what several read of one counter: of each, the part of its time counts in which those
 * before it did not read. NaN where none is known. */
double spans_sum_covered_once(struct span *spans, size_t count);

/* For how long at least one of them lasted. */
double spans_covered_seconds(struct span *spans, size_t count);
