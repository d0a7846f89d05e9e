#include "views/output/analysis_doc.h"

#include "analysis/analyze/analysis_columns.h"
#include "analysis/analyze/exact_figures.h"

#include <math.h>
#include <string.h>

static void add_statistics(struct doc *object, const struct gput_statistics *statistics)
{
    columns_add_to_doc(statistics_columns, STATISTICS_COLUMNS, statistics, object);
}

static void add_percentiles(struct doc *object, const struct gput_percentiles *percentiles)
{
    if (percentiles)
        columns_add_to_doc(percentiles_columns, PERCENTILES_COLUMNS, percentiles, object);
}

/* Adds an object of the figures of each measurement. `percentiles` NULL: not requested. */
static void add_usage(const struct gput_analysis *analysis, struct doc *parent, const char *key,
    const struct gput_statistics *statistics, const struct gput_percentiles *percentiles)
{
    struct doc *usage = doc_add_object(parent, key);
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        struct doc *measurement = doc_add_object(usage, analysis->measurements[i]);
        add_statistics(measurement, &statistics[i]);
        add_percentiles(measurement, percentiles ? &percentiles[i] : NULL);
    }
}

/* Adds "missing_timepoints" where samples of a block, or of the whole session, lack a measurement.
 * `parent` may be NULL in this and the next two functions: memory ran out. */
static void add_missing(const struct gput_analysis *analysis, struct doc *parent,
    const struct gput_statistics *statistics)
{
    if (!analysis_lacks_rows(analysis, statistics))
        return;
    struct doc *object = doc_add_object(parent, "missing_timepoints");
    for (size_t i = 0; i < analysis->n_measurements; i++)
        if (statistics[i].n_missing > 0)
            doc_add_int(object, analysis->measurements[i], (int64_t)statistics[i].n_missing);
}

/* Adds the joules of a block, or of the whole session, where the tracking file has any. */
static void add_energy(
    const struct gput_analysis *analysis, struct doc *parent, const double *energy)
{
    if (!analysis->has_energy)
        return;
    struct doc *object = doc_label(doc_add_object(parent, "energy"), "Energy (joules)");
    doc_add_string(object, "unit", gput_energy_unit_name(GPUT_ENERGY_UNIT_JOULES));
    for (enum gput_energy_figure i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        doc_add_double(object, gput_energy_figure_name(i), energy[i]);
}

/* Adds a block's exact figures: an object of unit, total and mean for each. */
static void add_exact(
    const struct gput_analysis *analysis, const struct gput_code_block *block, struct doc *parent)
{
    struct doc *exact = doc_add_object(parent, "exact");
    doc_label(exact, "Exact (counted at start and stop of each call)");
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++) {
        if (!analysis_shows_exact(analysis, i))
            continue;
        struct doc *figure = doc_add_object(exact, gput_exact_figure_name(i));
        const char *unit = gput_exact_figure_unit(i), *name = exact_figure_total_name(i);
        double total = block->exact[i];
        if (unit)
            doc_add_string(figure, "unit", unit);
        /* What the kernel counts is whole, and stays that; a file may have anything. */
        bool is_count = !unit || strcmp(unit, "bytes") == 0;
        if (is_count && fabs(total) < 0x1p53 && total == trunc(total))
            doc_add_int(figure, name, (int64_t)total);
        else
            doc_add_double(figure, name, total);
        if (!exact_figure_is_largest(i))
            doc_add_double(figure, "mean", analysis_exact_mean(block, i));
    }
}

/* Adds what says which block it is or, of a part, whose calls it has. */
static void add_identity(struct doc *object, const struct gput_code_block *block)
{
    bool is_part = code_block_is_part(block);
    if (!is_part)
        doc_add_string(object, "name", block->name);
    else if (block->rank >= 0)
        doc_add_int(object, "rank", block->rank);
    else if (block->process_id < 0)
        doc_add_null(object, "rank");
    else
        doc_label(doc_add_int(object, "process_id", block->process_id), "Process ID");
    if (block->category && !is_part)
        doc_add_string(object, "category", block->category);
    if (block->thread_id >= 0)
        doc_label(doc_add_int(object, "thread_id", block->thread_id), "Thread ID");
    if (block->thread_name)
        doc_add_string(object, "thread_name", block->thread_name);
}

/* Adds a block or a part with its figures, and its parts below it. */
static void add_block(
    const struct gput_analysis *analysis, struct doc *array, const struct gput_code_block *block)
{
    struct doc *object = doc_add_object(array, NULL);
    add_identity(object, block);
    columns_add_to_doc(block_columns, n_block_columns, block, object);
    struct doc *compute_time = doc_add_object(object, "compute_time");
    add_statistics(compute_time, &block->compute_time);
    doc_add_double(compute_time, "total", block->compute_time_total);
    add_percentiles(compute_time, block->percentiles ? &block->compute_time_percentiles : NULL);
    add_usage(analysis, object, "resource_usage", block->resource_usage, block->percentiles);
    add_missing(analysis, object, block->resource_usage);
    add_energy(analysis, object, block->energy);
    if (analysis->details) {
        doc_add_double(object, "self_time", block->self_time_total);
        doc_label(doc_add_double(object, "cpu_time", block->cpu_time_total), "CPU Time");
    }
    if (analysis->exact)
        add_exact(analysis, block, object);
    if (block->n_parts == 0)
        return;
    struct doc *parts = doc_add_array(object, analysis->split == GPUT_SPLIT_THREAD ? "threads"
                                              : analysis->split == GPUT_SPLIT_RANK ? "ranks"
                                                                                   : "processes");
    for (size_t i = 0; i < block->n_parts; i++)
        add_block(analysis, parts, &block->parts[i]);
}

static void add_one_block(const void *user, size_t index, struct doc *array)
{
    const struct gput_analysis *analysis = user;
    add_block(analysis, array, &analysis->blocks[index]);
}

struct doc_items analysis_block_items(const struct gput_analysis *analysis, struct doc *array)
{
    return (struct doc_items){array, analysis->n_blocks, add_one_block, analysis};
}

struct doc *analysis_create_doc(const struct gput_analysis *analysis, struct doc_items *blocks)
{
    struct doc *root = doc_create_object();
    add_usage(analysis, root, "overall", analysis->overall, analysis->overall_percentiles);
    doc_add_copy(root, "static_data", analysis->static_data);
    *blocks = analysis_block_items(analysis, doc_add_array(root, "code_block_results"));
    if (lost_calls_any(&analysis->lost))
        lost_calls_add_to_doc(&analysis->lost, false, root);
    add_missing(analysis, root, analysis->overall);
    add_energy(analysis, root, analysis->energy);
    if (analysis->details)
        doc_add_int(root, "num_timepoints", (int64_t)analysis->num_timepoints);
    return root;
}
