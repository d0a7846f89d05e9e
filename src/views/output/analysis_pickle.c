#include "analysis/analyze/analysis_columns.h"
#include "views/output/analysis_doc.h"
#include "views/output/analysis_render.h"
#include "views/output/pickle_writer.h"

#define MODULE "gpu_tracker.sub_tracker"

static void write_usage(const struct gput_analysis *analysis,
    const struct gput_statistics *statistics, struct str *text)
{
    pickle_call_begin(text, "pandas", "DataFrame");
    pickle_list_begin(text);
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        pickle_list_begin(text);
        for (size_t column = 0; column < STATISTICS_COLUMNS; column++)
            pickle_float(text, column_number(&statistics_columns[column], &statistics[i]));
        pickle_list_end(text);
    }
    pickle_list_end(text);
    pickle_list_begin(text);
    for (size_t i = 0; i < analysis->n_measurements; i++)
        pickle_text(text, analysis->measurements[i]);
    pickle_list_end(text);
    pickle_list_begin(text);
    for (size_t column = 0; column < STATISTICS_COLUMNS; column++)
        pickle_text(text, statistics_columns[column].name);
    pickle_list_end(text);
    pickle_call_end(text);
}

static void write_count(const char *name, uint64_t count, struct str *text)
{
    pickle_text(text, name);
    pickle_int(text, (int64_t)count);
}

static void write_static_data(const struct doc *data, struct str *text)
{
    pickle_call_begin(text, "pandas", "Series");
    pickle_list_begin(text);
    for (const struct doc *cell = data->first; cell; cell = cell->next)
        pickle_doc(text, cell);
    pickle_list_end(text);
    pickle_list_begin(text);
    for (const struct doc *cell = data->first; cell; cell = cell->next)
        pickle_text(text, cell->key);
    pickle_list_end(text);
    pickle_text(text, "object");
    pickle_int(text, 0); /* the name that pandas gives to a file's first row */
    pickle_call_end(text);
}

/* What the Python tool's classes do not know, and keep as plain attributes. `block`: NULL for the
 * whole session. */
static void write_more(const struct gput_analysis *analysis,
    const struct gput_statistics *statistics, const double *energy,
    const struct gput_code_block *block, struct str *text)
{
    struct doc *more = doc_create_object();
    analysis_add_missing(analysis, more, statistics);
    analysis_add_energy(analysis, more, energy);
    if (block && analysis->exact)
        analysis_add_exact(analysis, block, more);
    if (more && !doc_failed(more))
        pickle_members(text, more);
    else
        text->failed = true;
    doc_destroy(more);
}

static void write_compute_time(const struct gput_code_block *block, struct str *text)
{
    const char *names[STATISTICS_COLUMNS + 1];
    double values[STATISTICS_COLUMNS + 1];
    for (size_t i = 0; i < STATISTICS_COLUMNS; i++) {
        names[i] = statistics_columns[i].name;
        values[i] = column_number(&statistics_columns[i], &block->compute_time);
    }
    names[STATISTICS_COLUMNS] = "total";
    values[STATISTICS_COLUMNS] = block->compute_time_total;
    pickle_text(text, "compute_time");
    pickle_series(text, names, values, STATISTICS_COLUMNS + 1, false);
}

static void write_block(
    const struct gput_analysis *analysis, const struct gput_code_block *block, struct str *text)
{
    pickle_object_begin(text, MODULE, "CodeBlockResults");
    pickle_text(text, "name");
    pickle_text(text, block->name);
    for (size_t i = 0; i < n_block_columns; i++)
        if (!block_columns[i].hides_zero)
            write_count(
                block_columns[i].name, (uint64_t)column_number(&block_columns[i], block), text);
    write_compute_time(block, text);
    pickle_text(text, "resource_usage");
    write_usage(analysis, block->resource_usage, text);
    write_more(analysis, block->resource_usage, block->energy, block, text);
    if (block->num_outside_calls > 0)
        write_count("num_outside_calls", block->num_outside_calls, text);
    pickle_object_end(text);
}

void analysis_write_pickle(const struct gput_analysis *analysis, struct str *text)
{
    pickle_begin(text);
    pickle_object_begin(text, MODULE, "SubTrackingResults");
    pickle_text(text, "overall");
    write_usage(analysis, analysis->overall, text);
    pickle_text(text, "static_data");
    write_static_data(analysis->static_data, text);
    pickle_text(text, "code_block_results");
    pickle_list_begin(text);
    for (size_t i = 0; i < analysis->n_blocks; i++)
        write_block(analysis, &analysis->blocks[i], text);
    pickle_list_end(text);
    if (lost_calls_any(&analysis->lost))
        write_count("num_lost_calls", analysis->lost.count, text);
    if (analysis->lost.at_least) {
        pickle_text(text, "lost_calls_at_least");
        pickle_bool(text, true);
    }
    write_more(analysis, analysis->overall, analysis->energy, NULL, text);
    pickle_object_end(text);
    pickle_end(text);
}
