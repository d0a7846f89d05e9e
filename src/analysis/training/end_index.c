#include "analysis/training/end_index.h"

#include <stdlib.h>

/* Number of intervals, or of blocks of the level below, that make a block. */
#define BLOCK 16

/* Returns the latest end of a block, or the end of an interval on level 0. */
static int64_t latest_end(const struct end_index *index, size_t level, size_t place)
{
    return level == 0 ? index->end_of(index->intervals, place) : index->latest[level][place];
}

int end_index_make(struct end_index *index, const void *intervals, size_t count,
    interval_end *end_of, struct gput_error *error)
{
    *index = (struct end_index){.intervals = intervals, .end_of = end_of, .counts = {count}};
    for (size_t level = 1; index->counts[level - 1] > BLOCK; level++) {
        /* Add a level with the latest end of each block of the level below. */
        size_t below = index->counts[level - 1], n_blocks = (below + BLOCK - 1) / BLOCK;
        int64_t *latest = malloc(n_blocks * sizeof *latest);
        if (!latest)
            return error_memory(error);
        index->latest[level] = latest;
        index->counts[level] = n_blocks;
        index->top = level;
        for (size_t place = 0; place < below; place++) {
            int64_t end_us = latest_end(index, level - 1, place);
            if (place % BLOCK == 0 || end_us > latest[place / BLOCK])
                latest[place / BLOCK] = end_us;
        }
    }

    return GPUT_OK;
}

/* Returns the last interval of a block that ends at `end_us` or later. There must be one. */
static size_t last_of_block(
    const struct end_index *index, size_t level, size_t place, int64_t end_us)
{
    while (level-- > 0) {
        place = (place + 1) * BLOCK;
        if (place > index->counts[level])
            place = index->counts[level];
        do
            place--;
        while (latest_end(index, level, place) < end_us);
    }
    return place;
}

size_t end_index_find(const struct end_index *index, size_t first, size_t before, int64_t end_us)
{
    size_t level = 0, place = before;
    while (place > 0) {
        if (place % BLOCK == 0 && level < index->top) { /* all that is left is whole blocks */
            place /= BLOCK;
            level++;
        } else if (latest_end(index, level, --place) >= end_us) {
            place = last_of_block(index, level, place, end_us);
            return place >= first ? place : before;
        }
    }
    return before;
}

void end_index_finish(struct end_index *index)
{
    for (size_t level = 1; level <= index->top; level++)
        free(index->latest[level]);
    *index = (struct end_index){0};
}
