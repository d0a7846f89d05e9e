/*
 * Finds, among intervals in order of their starts, the last one that ends at a moment or later. It
 * takes logarithmic time, however many intervals overlap.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef int64_t interval_end(const void *intervals, size_t place);

/* 16 to the power of this is more intervals than memory can hold. */
#define END_INDEX_LEVELS 16

struct end_index {
    const void *intervals;
    interval_end *end_of;
    size_t top;                        /* the highest level, which has at most 16 blocks */
    size_t counts[END_INDEX_LEVELS];   /* number of blocks of each level; level 0: of intervals */
    int64_t *latest[END_INDEX_LEVELS]; /* latest end in each block; NULL for level 0 */
};

/* An empty index is all zeroes. */

/* Makes the index. The intervals belong to the caller and must stay in place as long as the index
 * exists. Call end_index_finish() also after a failure. */
int end_index_make(struct end_index *index, const void *intervals, size_t count,
    interval_end *end_of, struct gput_error *error);

/* Returns the last place from `first` up to, but without, `before` whose interval ends at `end_us`
 * or later; `before`: none. */
size_t end_index_find(const struct end_index *index, size_t first, size_t before, int64_t end_us);

void end_index_finish(struct end_index *index);
