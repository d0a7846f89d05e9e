#include "analysis/analyze/analysis_read_doc.h"

#include "analysis/analyze/analysis_columns.h"
#include "analysis/analyze/analysis_load.h"
#include "analysis/analyze/exact_figures.h"

#include <gputracker/comparison.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

int analysis_reader_refuse(const struct analysis_reader *reader, const char *what)
{
    return error_set(reader->error, GPUT_ERROR_FORMAT,
        "File %s does not hold results of an analysis: %s.", reader->name, what);
}

static bool count_at(const struct doc *object, const char *key, uint64_t *count)
{
    const struct doc *value = doc_get(object, key);
    bool whole = value && value->kind == DOC_INT && value->integer >= 0;
    *count = whole ? (uint64_t)value->integer : 0;
    return whole;
}

static struct gput_statistics statistics_at(const struct doc *object)
{
    struct gput_statistics statistics = {0};
    columns_read_doc(statistics_columns, STATISTICS_COLUMNS, object, &statistics);
    return statistics;
}

/* Joules; true when the analysis had such figures at all, known or not. */
static bool read_energy(const struct doc *object, double *energy)
{
    const struct doc *figures = doc_get(object, "energy");
    for (int i = 0; figures && i < GPUT_ENERGY_FIGURE_COUNT; i++)
        energy[i] = doc_get_number(figures, gput_energy_figure_name((enum gput_energy_figure)i));
    return figures != NULL;
}

/* The same for the exact figures; those that it has, known or not, as bits. */
static unsigned read_exact(const struct doc *object, double *exact)
{
    unsigned have = 0;
    const struct doc *figures = doc_get(object, "exact");
    for (enum gput_exact_figure i = 0; figures && i < GPUT_EXACT_FIGURE_COUNT; i++) {
        const struct doc *figure = doc_get(figures, gput_exact_figure_name(i));
        exact[i] = doc_get_number(figure, exact_figure_total_name(i));
        have |= (figure != NULL) * (1u << i);
    }
    return have;
}

static void read_missing(const struct gput_analysis *analysis, const struct doc *object,
    struct gput_statistics *statistics)
{
    const struct doc *missing = doc_get(object, "missing_timepoints");
    for (size_t i = 0; missing && i < analysis->n_measurements; i++)
        count_at(missing, analysis->measurements[i], &statistics[i].n_missing);
}

static bool is_object(const struct doc *value)
{
    return value && value->kind == DOC_OBJECT;
}

/* Older versions of the Python tool store and show the extremes of thread counts as integers. */
static int mark_integers(struct analysis_reader *reader, const struct doc *overall)
{
    unsigned char *integers = calloc(overall->count, 1);
    if (!integers)
        return error_memory(reader->error);
    reader->analysis->overall_integers = integers;
    for (const struct doc *row = overall->first; row; row = row->next, integers++) {
        for (int i = GPUT_STATISTIC_MIN; i <= GPUT_STATISTIC_STD; i++) {
            const struct doc *cell = doc_get(row, gput_statistic_name((enum gput_statistic)i));
            if (cell && cell->kind == DOC_INT && fabs((double)cell->integer) < 0x1p53)
                *integers |= (unsigned char)(1u << i);
        }
    }
    return GPUT_OK;
}

static int read_overall(struct analysis_reader *reader, const struct doc *root)
{
    const struct doc *overall = doc_get(root, "overall");
    if (!is_object(overall) || overall->count == 0)
        return analysis_reader_refuse(reader, "it has no \"overall\"");
    if (overall->count > ANALYSIS_MEASUREMENTS_MAX)
        return analysis_reader_refuse(reader, "it has too many measurements");
    const char **names = malloc(overall->count * sizeof *names);
    if (!names)
        return error_memory(reader->error);
    size_t count = 0;
    for (const struct doc *child = overall->first; child; child = child->next)
        names[count++] = child->key;
    reader->analysis = analysis_create(names, count);
    free(names);
    if (!reader->analysis)
        return error_memory(reader->error);
    size_t i = 0;
    for (const struct doc *child = overall->first; child; child = child->next)
        reader->analysis->overall[i++] = statistics_at(child);
    read_missing(reader->analysis, root, reader->analysis->overall);
    return mark_integers(reader, overall);
}

static int read_static_data(struct analysis_reader *reader, const struct doc *root)
{
    const struct doc *data = doc_get(root, "static_data");
    struct doc *copy = reader->analysis->static_data;
    if (!is_object(data))
        return analysis_reader_refuse(reader, "it has no \"static_data\"");
    for (const struct doc *cell = data->first; cell; cell = cell->next) {
        if (!isnan(doc_number(cell)) || doc_string(cell))
            doc_add_copy(copy, cell->key, cell);
        else
            doc_add_null(copy, cell->key);
    }
    return doc_failed(copy) ? error_memory(reader->error) : GPUT_OK;
}

int analysis_read_block_doc(
    struct analysis_reader *reader, const struct doc *object, struct gput_code_block *block)
{
    const struct doc *name = doc_get(object, "name");
    const struct doc *compute_time = doc_get(object, "compute_time");
    const struct doc *usage = doc_get(object, "resource_usage");
    if (!name || name->kind != DOC_STRING)
        return analysis_reader_refuse(reader, "a code block has no name");
    if (!is_object(compute_time) || !is_object(usage))
        return analysis_reader_refuse(
            reader, "a code block has no \"compute_time\" or no \"resource_usage\"");
    if (columns_read_doc(block_columns, n_block_columns, object, block))
        return analysis_reader_refuse(reader, "the counts of a code block are missing");
    const char *category = doc_get_string(object, "category");
    TRY(analysis_name_block(block, name->string, reader->error));
    if (category)
        TRY(analysis_set_category(
            reader->analysis, block, category, strlen(category), reader->error));
    block->compute_time = statistics_at(compute_time);
    block->compute_time_total = doc_get_number(compute_time, "total");
    read_energy(object, block->energy);
    reader->analysis->exact |= read_exact(object, block->exact);
    for (const struct doc *child = usage->first; child; child = child->next) {
        size_t i = analysis_find_measurement(reader->analysis, child->key);
        if (i < reader->analysis->n_measurements)
            block->resource_usage[i] = statistics_at(child);
    }
    read_missing(reader->analysis, object, block->resource_usage);
    return GPUT_OK;
}

int analysis_reader_make_blocks(struct analysis_reader *reader, size_t count)
{
    struct gput_analysis *analysis = reader->analysis;
    analysis->blocks = analysis_create_blocks(analysis, count, false);
    if (!analysis->blocks)
        return error_memory(reader->error);
    analysis->n_blocks = count;
    return GPUT_OK;
}

int analysis_read_doc(struct analysis_reader *reader, const struct doc *root)
{
    TRY(read_overall(reader, root));
    TRY(read_static_data(reader, root));
    count_at(root, "num_timepoints", &reader->analysis->num_timepoints);
    reader->analysis->lost = lost_calls_of_doc(root);
    reader->analysis->has_energy = read_energy(root, reader->analysis->energy);
    return GPUT_OK;
}
