/*
 * The figures of an analysis described once, for tables and for every format.
 */
#pragma once

#include "base/column.h"
#include "base/table.h"

#include <gputracker/analysis.h>

#define STATISTICS_COLUMNS 4
#define PERCENTILES_COLUMNS 3
#define BLOCK_COLUMNS 4
#define LOST_COLUMNS 2

/* Of a struct gput_statistics: min, max, mean, std. */
extern const struct column statistics_columns[STATISTICS_COLUMNS];

/* Of a struct gput_percentiles: p50, p95, p99. */
extern const struct column percentiles_columns[PERCENTILES_COLUMNS];

/* Of a struct gput_code_block: how many samples and calls it has; num_outside_calls is the last. */
extern const struct column block_columns[BLOCK_COLUMNS];

/* Of a struct gput_analysis: the calls that its sub-tracking file lacks. */
extern const struct column lost_columns[LOST_COLUMNS];

/* The columns that say whose calls a part of a block has: process_id, thread_id, and where it is
 * split so rank and, where there are some, thread_name; and category, where blocks have some.
 * `block` NULL: the session. */
void analysis_add_part_columns(const struct gput_analysis *analysis, struct gput_table *table);
void analysis_put_part(const struct gput_analysis *analysis, struct gput_table *table,
    const struct gput_code_block *block);
