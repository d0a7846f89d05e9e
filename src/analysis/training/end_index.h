/*
 * Of intervals in order of their begins, the latest one that lasts until a moment: found in the
 * logarithm of their number, however many of them overlap.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef int64_t interval_end(const void *intervals, size_t place);

/* 16 to the power of this: more than there can be. */
#define END_INDEX_LEVELS 16

struct end_index {
    const void *intervals;
    interval_end *end_of;
    size_t top;                        /* the level of a few blocks */
    size_t counts[END_INDEX_LEVELS];   /* blocks of each level; of level 0 the intervals */
    int64_t *latest[END_INDEX_LEVELS]; /* end of each block; nothing for level 0 */
};

/* An empty index is all zeroes. */

/* The intervals stay the caller's, and where they are, as long as the index. The index is to be
 * finished, also after a failure. */
int end_index_make(struct end_index *index, const void *intervals, size_t count,
    interval_end *end_of, struct gput_error *error);

/* Of the places `first` up to, without, `before`: the last one whose interval ends at a moment or
 * after it. `before`: none. */
size_t end_index_find(const struct end_index *index, size_t first, size_t before, int64_t end_us);

void end_index_finish(struct end_index *index);
