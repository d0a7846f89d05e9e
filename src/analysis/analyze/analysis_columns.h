/*
 * The figures of an analysis described once, for tables and for every format.
 */
#pragma once

#include "analysis/analyze/analysis.h"
#include "base/column.h"
#include "base/table.h"

#define STATISTICS_COLUMNS 4
#define PERCENTILES_COLUMNS 3
#define LOST_COLUMNS 2

/* Of a struct gput_statistics: min, max, mean, std. */
extern const struct column statistics_columns[STATISTICS_COLUMNS];

/* Of a struct gput_percentiles: p50, p95, p99. */
extern const struct column percentiles_columns[PERCENTILES_COLUMNS];

/* Of a struct gput_code_block: how many samples and calls it has. Each is in every table and
 * format; one that hides zero is not in the CSV, whose lines are of measurements. */
extern const struct column block_columns[];
extern const size_t n_block_columns;

/* Of a struct lost_calls. */
extern const struct column lost_columns[LOST_COLUMNS];

/* The same in a document, and out of one. `says_no`: also that there are no more than these. */
void lost_calls_add_to_doc(const struct lost_calls *lost, bool says_no, struct doc *object);
struct lost_calls lost_calls_of_doc(const struct doc *object);

/* The columns that say whose calls a part of a block has: process_id, thread_id, and where it is
 * split so rank and, where there are some, thread_name; and category, where blocks have some.
 * `block` NULL: the session. */
void analysis_add_part_columns(const struct gput_analysis *analysis, struct gput_table *table);
void analysis_put_part(const struct gput_analysis *analysis, struct gput_table *table,
    const struct gput_code_block *block);
