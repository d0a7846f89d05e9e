/*
 * The code blocks of an analysis: those of the marks, or those of one source or domain together.
 */
#pragma once

#include "analysis/analyze/call_table.h"
#include "files/marks/sub_tracking_labels.h"

#include <gputracker/analysis.h>

/* All zero: none. */
struct block_groups {
    char **names;       /* sorted; owned, as each of them is */
    uint32_t *group_of; /* of each block of the table; owned */
    size_t count;
};

/* Groups the calls of a paired table; the labels say what is a category. The caller frees it by
 * block_groups_finish(), also on failure. Errors: GPUT_ERROR_MEMORY. */
int block_groups_init(struct block_groups *groups, const struct call_table *table,
    const struct sub_tracking_labels *labels, enum gput_grouping grouping,
    struct gput_error *error);
void block_groups_finish(struct block_groups *groups);
