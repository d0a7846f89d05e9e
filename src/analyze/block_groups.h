/*
 * The code blocks of an analysis: those of the marks, or those of one source or domain together.
 */
#pragma once

#include "analyze/call_table.h"

#include <gputracker/analysis.h>

/* The category in the name of a block of NVTX, "phase" of "nvtx:train/step [phase]", which ends
 * before the last character of the name; NULL: it has none. */
const char *block_category(const char *name);

/* All zero: none. */
struct block_groups {
    char **names;       /* sorted; owned, as each of them is */
    uint32_t *group_of; /* of each block of the table; owned */
    size_t count;
};

/* Of a table that is paired. To be freed by block_groups_finish(), also on failure. Errors:
 * GPUT_ERROR_MEMORY. */
int block_groups_init(struct block_groups *groups, const struct call_table *table,
    enum gput_grouping grouping, struct gput_error *error);
void block_groups_finish(struct block_groups *groups);
