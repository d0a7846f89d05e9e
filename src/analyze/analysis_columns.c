#include "analyze/analysis_columns.h"

#include "analyze/analysis.h"
#include "analyze/code_block.h"

static double timepoints(const void *block)
{
    return (double)((const struct gput_code_block *)block)->num_timepoints;
}

static double calls(const void *block)
{
    return (double)((const struct gput_code_block *)block)->num_calls;
}

static double non_empty_calls(const void *block)
{
    return (double)((const struct gput_code_block *)block)->num_non_empty_calls;
}

static double outside_calls(const void *block)
{
    return (double)((const struct gput_code_block *)block)->num_outside_calls;
}

static double lost_calls(const void *analysis)
{
    return (double)((const struct gput_analysis *)analysis)->num_lost_calls;
}

static double lost_at_least(const void *analysis)
{
    return ((const struct gput_analysis *)analysis)->lost_calls_at_least;
}

/* clang-format off */
#define FIGURE(name, type, meaning) {#name, NULL, meaning, GPUT_COLUMN_DOUBLE, COLUMN_OF(struct type, name)}
#define COUNT(name, function, meaning) {name, NULL, meaning, GPUT_COLUMN_INT, .number = function}

const struct column statistics_columns[STATISTICS_COLUMNS] = {
    FIGURE(min, gput_statistics, "minimum"),
    FIGURE(max, gput_statistics, "maximum"),
    FIGURE(mean, gput_statistics, "mean"),
    FIGURE(std, gput_statistics, "standard deviation of the population"),
};

const struct column percentiles_columns[PERCENTILES_COLUMNS] = {
    FIGURE(p50, gput_percentiles, "median"),
    FIGURE(p95, gput_percentiles, "95th percentile"),
    FIGURE(p99, gput_percentiles, "99th percentile"),
};

const struct column block_columns[BLOCK_COLUMNS] = {
    COUNT("num_timepoints", timepoints, "samples inside at least one call"),
    COUNT("num_calls", calls, "calls that were started and stopped"),
    COUNT("num_non_empty_calls", non_empty_calls, "calls with at least one sample"),
    COUNT("num_outside_calls", outside_calls, "calls before the first or after the last sample"),
};

const struct column lost_columns[LOST_COLUMNS] = {
    COUNT("num_lost_calls", lost_calls, "calls that are not in the sub-tracking file: its disk was full, or it had reached a limit"),
    COUNT("at_least", lost_at_least, "1: there may be more, as the file was truncated; 0: that is their number"),
};
/* clang-format on */

void analysis_add_part_columns(const struct gput_analysis *analysis, struct gput_table *table)
{
    table_add_column(table, "process_id", GPUT_COLUMN_INT);
    table_add_column(table, "thread_id", GPUT_COLUMN_INT);
    if (analysis->split == GPUT_SPLIT_RANK)
        table_add_column(table, "rank", GPUT_COLUMN_INT);
    if (analysis->has_thread_names)
        table_add_column(table, "thread_name", GPUT_COLUMN_TEXT);
    if (analysis->has_categories)
        table_add_column(table, "category", GPUT_COLUMN_TEXT);
}

void analysis_put_part(const struct gput_analysis *analysis, struct gput_table *table,
    const struct gput_code_block *block)
{
    table_put_known(table, block ? block->process_id : -1);
    table_put_known(table, block ? block->thread_id : -1);
    if (analysis->split == GPUT_SPLIT_RANK)
        table_put_known(table, block ? block->rank : -1);
    if (analysis->has_thread_names)
        table_put_text(table, block ? block->thread_name : NULL);
    if (analysis->has_categories)
        table_put_text(table, block ? block->category : NULL);
}
