/*
 * Calls as segments: intervals of time, one after the other, in each of which the same code blocks
 * run. A set of blocks that run together is a leaf; each set has one number, however often it
 * occurs. So whichever sample lies in a segment lies in all blocks of its leaf, and nested,
 * overlapping and threaded calls need one lookup a sample.
 *
 * A segment begins at the first double, in seconds since the epoch, that a sample of it can have:
 * samples and segments that are compared as doubles give exactly what sweep.h finds. A call
 * includes its start and stop times.
 */
#pragma once

#include "analysis/analyze/call_table.h"

/* The blocks of a leaf are given when it occurs first, else NULL. Leaf 0 has none. Anything but
 * GPUT_OK ends the walk. */
typedef int call_segment_take(void *user, double start, uint32_t leaf, const uint32_t *blocks,
    size_t n_blocks, struct gput_error *error);

/*
 * Passes the segments of a table that is paired, in order. The first one begins at minus infinity,
 * with leaf 0. Memory grows with the leaves. Errors: those of `take`, GPUT_ERROR_MEMORY.
 */
int call_segments_walk(
    const struct call_table *table, call_segment_take *take, void *user, struct gput_error *error);

/* The first time of a sample that is not before, or is after, a time of that table. */
double call_segments_from(double origin, double time);
double call_segments_after(double origin, double time);
