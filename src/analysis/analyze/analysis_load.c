#include "analysis/analyze/analysis_load.h"

#include "analysis/analyze/analysis.h"
#include "analysis/analyze/exact_figures.h"
#include "base/cleanup.h"
#include "base/file.h"

#include <gputracker/comparison.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An analysis of 10,000 code blocks has less. */
#define MAX_BYTES ((size_t)256 << 20)

/* A pickle of protocol 2 and later begins with this byte. */
#define PICKLE_START '\x80'

/* An analysis that is being read out of a document. */
struct analysis_reader {
    const char *name;               /* of the file, for messages */
    struct gput_analysis *analysis; /* NULL before its measurements are known; owned */
    struct gput_error *error;
};

static void reader_finish(struct analysis_reader *reader)
{
    gput_analysis_destroy(reader->analysis);
}

static int refuse(const struct analysis_reader *reader, const char *what)
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

/* Reads the figures of the session, whose measurements are those of all blocks. */
static int read_overall(struct analysis_reader *reader, const struct doc *root)
{
    const struct doc *overall = doc_get(root, "overall");
    if (!is_object(overall) || overall->count == 0)
        return refuse(reader, "it has no \"overall\"");
    if (overall->count > ANALYSIS_MEASUREMENTS_MAX)
        return refuse(reader, "it has too many measurements");
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
    /* Older versions of the Python tool store and show the extremes of thread counts as integers.
     */
    unsigned char *integers = calloc(overall->count, 1);
    if (!integers)
        return error_memory(reader->error);
    reader->analysis->overall_integers = integers;
    for (const struct doc *row = overall->first; row; row = row->next, integers++) {
        for (int k = GPUT_STATISTIC_MIN; k <= GPUT_STATISTIC_STD; k++) {
            const struct doc *cell = doc_get(row, gput_statistic_name((enum gput_statistic)k));
            if (cell && cell->kind == DOC_INT && fabs((double)cell->integer) < 0x1p53)
                *integers |= (unsigned char)(1u << k);
        }
    }
    return GPUT_OK;
}

/* Copies what the session says of itself; what is neither a number nor a text is null. */
static int read_static_data(struct analysis_reader *reader, const struct doc *root)
{
    const struct doc *data = doc_get(root, "static_data");
    struct doc *copy = reader->analysis->static_data;
    if (!is_object(data))
        return refuse(reader, "it has no \"static_data\"");
    for (const struct doc *cell = data->first; cell; cell = cell->next) {
        if (!isnan(doc_number(cell)) || doc_string(cell))
            doc_add_copy(copy, cell->key, cell);
        else
            doc_add_null(copy, cell->key);
    }
    return doc_failed(copy) ? error_memory(reader->error) : GPUT_OK;
}

/* Reads a code block. */
static int read_block(
    struct analysis_reader *reader, const struct doc *object, struct gput_code_block *block)
{
    const struct doc *name = doc_get(object, "name");
    const struct doc *compute_time = doc_get(object, "compute_time");
    const struct doc *usage = doc_get(object, "resource_usage");
    if (!name || name->kind != DOC_STRING)
        return refuse(reader, "a code block has no name");
    if (!is_object(compute_time) || !is_object(usage))
        return refuse(reader, "a code block has no \"compute_time\" or no \"resource_usage\"");
    if (columns_read_doc(block_columns, n_block_columns, object, block))
        return refuse(reader, "the counts of a code block are missing");
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

/* Reads the whole of a document. */
static int read_root(struct analysis_reader *reader, const struct doc *root)
{
    TRY(read_overall(reader, root));
    TRY(read_static_data(reader, root));
    struct gput_analysis *analysis = reader->analysis;
    count_at(root, "num_timepoints", &analysis->num_timepoints);
    analysis->lost = lost_calls_of_doc(root);
    analysis->has_energy = read_energy(root, analysis->energy);
    const struct doc *blocks = doc_get(root, "code_block_results");
    if (!blocks || blocks->kind != DOC_ARRAY)
        return refuse(reader, "it has no \"code_block_results\"");
    analysis->blocks = analysis_create_blocks(analysis, blocks->count, false);
    if (!analysis->blocks)
        return error_memory(reader->error);
    analysis->n_blocks = blocks->count;
    size_t i = 0;
    for (const struct doc *block = blocks->first; block; block = block->next)
        TRY(read_block(reader, block, &analysis->blocks[i++]));
    return GPUT_OK;
}

int analysis_read_json(const char *bytes, size_t length, const char *name,
    struct gput_analysis **analysis, struct gput_error *error)
{
    CLEANUP(reader_finish) struct analysis_reader reader = {.name = name, .error = error};
    CLEANUP(doc_destroy_pointer) struct doc *root = NULL;
    *analysis = NULL;
    TRY(doc_read_python_json(bytes, length, name, &root, error));
    TRY(read_root(&reader, root));
    *analysis = STEAL(reader.analysis);
    return GPUT_OK;
}

int gput_analysis_load(const char *path, struct gput_analysis **analysis, struct gput_error *error)
{
    CLEANUP_STR struct str content = {0};
    *analysis = NULL;
    TRY(file_read_bounded(path, MAX_BYTES, &content, error));
    return analysis_read(str_text(&content), content.length, path, analysis, error);
}

int analysis_read(const char *bytes, size_t length, const char *name,
    struct gput_analysis **analysis, struct gput_error *error)
{
    *analysis = NULL;
    size_t blanks = strspn(bytes, " \t\r\n");
    if (length > 0 && *bytes == PICKLE_START)
        return error_set(error, GPUT_ERROR_FORMAT,
            "File %s is a pickle, which the Python package reads: "
            "gpu_tracker.SubTrackingResults.load().",
            name);
    if (blanks < length && bytes[blanks] == '{')
        return analysis_read_json(bytes, length, name, analysis, error);
    return error_set(error, GPUT_ERROR_FORMAT,
        "File %s holds neither results in JSON nor a pickle of protocol 2 to 5.", name);
}
