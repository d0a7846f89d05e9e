#include "output/analysis_render.h"
#include "output/pickle_writer.h"

#include <math.h>

#define MODULE "gpu_tracker.sub_tracker"

static const char *const compute_time_names[] = {"min", "max", "mean", "std", "total"};

static void write_usage(const struct gput_analysis *analysis,
    const struct gput_statistics *statistics, struct str *text)
{
    pickle_call_begin(text, "pandas", "DataFrame");
    pickle_list_begin(text);
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        pickle_list_begin(text);
        pickle_float(text, statistics[i].min);
        pickle_float(text, statistics[i].max);
        pickle_float(text, statistics[i].mean);
        pickle_float(text, statistics[i].std);
        pickle_list_end(text);
    }
    pickle_list_end(text);
    pickle_list_begin(text);
    for (size_t i = 0; i < analysis->n_measurements; i++)
        pickle_text(text, analysis->measurements[i]);
    pickle_list_end(text);
    pickle_list_begin(text);
    for (size_t i = 0; i < 4; i++)
        pickle_text(text, compute_time_names[i]);
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

/* The Python tool's classes do not know it, and keep it as a plain attribute. */
static void write_energy(
    const struct gput_analysis *analysis, const double *energy, struct str *text)
{
    if (!analysis->has_energy)
        return;
    pickle_text(text, "energy");
    pickle_dict_begin(text);
    pickle_text(text, "unit");
    pickle_text(text, gput_energy_unit_name(GPUT_JOULES));
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        pickle_text(text, gput_energy_figure_name((enum gput_energy_figure)i));
        if (isnan(energy[i]))
            pickle_none(text);
        else
            pickle_float(text, energy[i]);
    }
    pickle_dict_end(text);
}

/* The same. */
static void write_missing(const struct gput_analysis *analysis,
    const struct gput_statistics *statistics, struct str *text)
{
    if (!analysis_lacks_rows(analysis, statistics))
        return;
    pickle_text(text, "missing_timepoints");
    pickle_dict_begin(text);
    for (size_t i = 0; i < analysis->n_measurements; i++)
        if (statistics[i].n_missing > 0)
            write_count(analysis->measurements[i], statistics[i].n_missing, text);
    pickle_dict_end(text);
}

/* The same. */
static void write_exact(
    const struct gput_analysis *analysis, const struct gput_code_block *block, struct str *text)
{
    if (!analysis->has_exact)
        return;
    struct doc *parent = doc_create_object();
    if (parent)
        analysis_add_exact(block, parent);
    if (parent && !doc_failed(parent)) {
        pickle_text(text, "exact");
        pickle_doc(text, parent->first);
    } else {
        text->failed = true;
    }
    doc_destroy(parent);
}

static void write_block(
    const struct gput_analysis *analysis, const struct gput_code_block *block, struct str *text)
{
    const struct gput_statistics *time = &block->compute_time;
    const double compute_time[] = {
        time->min, time->max, time->mean, time->std, block->compute_time_total};
    pickle_object_begin(text, MODULE, "CodeBlockResults");
    pickle_text(text, "name");
    pickle_text(text, block->name);
    write_count("num_timepoints", block->num_timepoints, text);
    write_count("num_calls", block->num_calls, text);
    write_count("num_non_empty_calls", block->num_non_empty_calls, text);
    pickle_text(text, "compute_time");
    pickle_series(text, compute_time_names, compute_time, 5, false);
    pickle_text(text, "resource_usage");
    write_usage(analysis, block->resource_usage, text);
    write_missing(analysis, block->resource_usage, text);
    write_energy(analysis, block->energy, text);
    write_exact(analysis, block, text);
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
    write_missing(analysis, analysis->overall, text);
    write_energy(analysis, analysis->energy, text);
    pickle_object_end(text);
    pickle_end(text);
}
