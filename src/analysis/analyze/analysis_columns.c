#include "analysis/analyze/analysis_columns.h"

/* clang-format off */
#define FIGURE(name, type, meaning) {#name, NULL, meaning, GPUT_COLUMN_DOUBLE, COLUMN_OF(struct type, name)}
#define COUNT(count, text) .name = #count, .meaning = text, .type = GPUT_COLUMN_INT, COLUMN_OF(struct gput_code_block, count)

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

const struct column block_columns[] = {
    {COUNT(num_timepoints, "samples inside at least one call"), .is_required = true},
    {COUNT(num_calls, "calls that were started and stopped"), .is_required = true},
    {COUNT(num_non_empty_calls, "calls with at least one sample"), .is_required = true},
    {COUNT(num_outside_calls, "calls before the first or after the last sample"), .hides_zero = true},
};

const struct column lost_columns[LOST_COLUMNS] = {
    {"num_lost_calls", NULL, "calls that are not in the sub-tracking file: its disk was full, or it had reached a limit", GPUT_COLUMN_INT, COLUMN_OF(struct lost_calls, count)},
    {"at_least", NULL, "1: there may be more, as the file was truncated; 0: that is their number", GPUT_COLUMN_INT, COLUMN_OF(struct lost_calls, at_least)},
};
/* clang-format on */

const size_t n_block_columns = COLUMN_COUNT(block_columns);

void lost_calls_add_to_doc(const struct lost_calls *lost, bool says_no, struct doc *object)
{
    doc_add_int(object, "num_lost_calls", (int64_t)lost->count);
    if (lost->at_least || says_no)
        doc_add_bool(object, "lost_calls_at_least", lost->at_least);
}

struct lost_calls lost_calls_of_doc(const struct doc *object)
{
    int64_t count = doc_get_int(object, "num_lost_calls");
    const struct doc *at_least = doc_get(object, "lost_calls_at_least");
    return (struct lost_calls){count > 0 ? (uint64_t)count : 0,
        at_least && at_least->kind == DOC_BOOL && at_least->boolean};
}

void analysis_add_part_columns(const struct gput_analysis *analysis, struct gput_table *table)
{
    table_add_columns_of(table, GPUT_COLUMN_INT, "process_id", "thread_id", NULL);
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
