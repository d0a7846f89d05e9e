#include "analysis/analyze/analysis.h"

#include "analysis/analyze/exact_figures.h"

#include <gputracker/measurement.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gput_statistics no_statistics = {NAN, NAN, NAN, NAN, 0};
static const struct gput_percentiles no_percentiles = {NAN, NAN, NAN};

static struct gput_statistics *create_statistics(size_t count)
{
    struct gput_statistics *list = malloc((count + 1) * sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        list[i] = no_statistics;
    return list;
}

struct gput_percentiles *analysis_create_percentiles(size_t count)
{
    struct gput_percentiles *list = malloc((count + 1) * sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        list[i] = no_percentiles;
    return list;
}

static void forget(double *figures, int count)
{
    for (int i = 0; i < count; i++)
        figures[i] = NAN;
}

struct gput_analysis *analysis_create(const char *const *measurements, size_t count)
{
    struct gput_analysis *analysis = calloc(1, sizeof *analysis);
    if (!analysis)
        return NULL;
    forget(analysis->energy, GPUT_ENERGY_FIGURE_COUNT);
    analysis->measurements = calloc(count + 1, sizeof *analysis->measurements);
    analysis->overall = create_statistics(count);
    analysis->static_data = doc_create_object();
    bool whole = analysis->measurements && analysis->overall && analysis->static_data;
    for (size_t i = 0; whole && i < count; i++) {
        analysis->measurements[i] = strdup(measurements[i]);
        whole = analysis->measurements[i] != NULL;
        analysis->n_measurements++;
    }
    if (!whole) {
        gput_analysis_destroy(analysis);
        return NULL;
    }
    return analysis;
}

struct gput_code_block *analysis_create_blocks(
    const struct gput_analysis *analysis, size_t n, bool percentiles)
{
    struct gput_code_block *blocks = calloc(n + 1, sizeof *blocks);
    for (size_t i = 0; blocks && i < n; i++) {
        struct gput_code_block *block = &blocks[i];
        block->process_id = block->thread_id = -1;
        block->rank = CODE_BLOCK_NO_RANK;
        block->compute_time = no_statistics;
        block->compute_time_percentiles = no_percentiles;
        block->self_time_total = block->cpu_time_total = NAN;
        forget(block->energy, GPUT_ENERGY_FIGURE_COUNT);
        forget(block->exact, GPUT_EXACT_FIGURE_COUNT);
        block->n_measurements = analysis->n_measurements;
        block->resource_usage = create_statistics(analysis->n_measurements);
        if (percentiles)
            block->percentiles = analysis_create_percentiles(analysis->n_measurements);
        if (!block->resource_usage || (percentiles && !block->percentiles)) {
            analysis_destroy_blocks(blocks, i + 1);
            return NULL;
        }
    }
    return blocks;
}

void analysis_destroy_blocks(struct gput_code_block *blocks, size_t n)
{
    for (size_t i = 0; blocks && i < n; i++) {
        free((char *)blocks[i].name);
        free(blocks[i].category);
        free(blocks[i].thread_name);
        free(blocks[i].resource_usage);
        free(blocks[i].percentiles);
        analysis_destroy_blocks(blocks[i].parts, blocks[i].n_parts); /* parts have no parts */
    }
    free(blocks);
}

int analysis_name_block(struct gput_code_block *block, const char *name, struct gput_error *error)
{
    free((char *)block->name);
    block->name = strdup(name);
    return block->name ? GPUT_OK : error_memory(error);
}

int analysis_set_category(struct gput_analysis *analysis, struct gput_code_block *block,
    const char *category, size_t length, struct gput_error *error)
{
    free(block->category);
    block->category = strndup(category, length);
    analysis->has_categories = true;
    return block->category ? GPUT_OK : error_memory(error);
}

double analysis_exact_mean(const struct gput_code_block *block, enum gput_exact_figure figure)
{
    bool is_sum = block->num_calls > 0 && !exact_figure_is_largest(figure);
    return is_sum ? block->exact[figure] / (double)block->num_calls : NAN;
}

/* Whether some block or part of one has that figure of energy. */
static bool any_has_energy(
    const struct gput_code_block *blocks, size_t n, enum gput_energy_figure figure)
{
    for (size_t i = 0; i < n; i++) {
        const struct gput_code_block *block = &blocks[i];
        if (!isnan(block->energy[figure]) || any_has_energy(block->parts, block->n_parts, figure))
            return true;
    }
    return false;
}

bool analysis_lacks_rows(
    const struct gput_analysis *analysis, const struct gput_statistics *statistics)
{
    for (size_t i = 0; i < analysis->n_measurements; i++)
        if (statistics[i].n_missing > 0)
            return true;
    return false;
}

bool analysis_shows_energy(const struct gput_analysis *analysis, enum gput_energy_figure figure)
{
    return analysis->has_energy &&
           (figure == GPUT_ENERGY_TOTAL || !isnan(analysis->energy[figure]) ||
               any_has_energy(analysis->blocks, analysis->n_blocks, figure));
}

const char *lost_calls_text(const struct lost_calls *lost, char text[LOST_CALLS_TEXT_SIZE])
{
    if (lost->count == 0 && lost->at_least)
        return "not known";
    snprintf(text, LOST_CALLS_TEXT_SIZE, "%s%llu", lost->at_least ? "at least " : "",
        (unsigned long long)lost->count);
    return text;
}

size_t analysis_find_measurement(const struct gput_analysis *analysis, const char *name)
{
    size_t i = 0;
    while (i < analysis->n_measurements && strcmp(analysis->measurements[i], name) != 0)
        i++;
    return i;
}

const char *analysis_unit(const struct gput_analysis *analysis, const char *name)
{
    const struct gput_measurement *measurement = gput_measurement_find(name);
    const struct doc *unit = NULL;
    if (measurement && measurement->quantity == GPUT_QUANTITY_PERCENT)
        return "percent";
    if (measurement && measurement->quantity == GPUT_QUANTITY_RAM)
        unit = doc_get(analysis->static_data, "ram_unit");
    if (measurement && measurement->quantity == GPUT_QUANTITY_GPU_RAM)
        unit = doc_get(analysis->static_data, "gpu_ram_unit");
    return doc_string(unit);
}

void gput_analysis_destroy(struct gput_analysis *analysis)
{
    if (!analysis)
        return;
    for (size_t i = 0; i < analysis->n_measurements; i++)
        free(analysis->measurements[i]);
    free(analysis->measurements);
    free(analysis->overall);
    free(analysis->overall_integers);
    free(analysis->overall_percentiles);
    doc_destroy(analysis->static_data);
    analysis_destroy_blocks(analysis->blocks, analysis->n_blocks);
    free(analysis);
}

size_t gput_analysis_measurement_count(const struct gput_analysis *analysis)
{
    return analysis->n_measurements;
}

const char *gput_analysis_measurement_name(const struct gput_analysis *analysis, size_t index)
{
    return index < analysis->n_measurements ? analysis->measurements[index] : NULL;
}

const struct gput_statistics *gput_analysis_overall(
    const struct gput_analysis *analysis, size_t measurement)
{
    return measurement < analysis->n_measurements ? &analysis->overall[measurement] : NULL;
}

double gput_analysis_energy(const struct gput_analysis *analysis, enum gput_energy_figure figure)
{
    if (!analysis->has_energy || (size_t)figure >= GPUT_ENERGY_FIGURE_COUNT)
        return NAN;
    return analysis->energy[figure];
}

size_t gput_analysis_block_count(const struct gput_analysis *analysis)
{
    return analysis->n_blocks;
}

const struct gput_code_block *gput_analysis_block(
    const struct gput_analysis *analysis, size_t index)
{
    return index < analysis->n_blocks ? &analysis->blocks[index] : NULL;
}

/* ---- Columns ---- */

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

const char *gput_code_block_name(const struct gput_code_block *block)
{
    return block->name;
}

uint64_t gput_code_block_calls(const struct gput_code_block *block)
{
    return block->num_calls;
}

uint64_t gput_code_block_timepoints(const struct gput_code_block *block)
{
    return block->num_timepoints;
}

const struct gput_statistics *gput_code_block_compute_time(const struct gput_code_block *block)
{
    return &block->compute_time;
}

double gput_code_block_compute_time_total(const struct gput_code_block *block)
{
    return block->compute_time_total;
}

const struct gput_statistics *gput_code_block_usage(
    const struct gput_code_block *block, size_t measurement)
{
    return measurement < block->n_measurements ? &block->resource_usage[measurement] : NULL;
}

double gput_code_block_energy(const struct gput_code_block *block, enum gput_energy_figure figure)
{
    return (size_t)figure < GPUT_ENERGY_FIGURE_COUNT ? block->energy[figure] : NAN;
}

double gput_code_block_exact_figure(
    const struct gput_code_block *block, enum gput_exact_figure figure)
{
    return (size_t)figure < GPUT_EXACT_FIGURE_COUNT ? block->exact[figure] : NAN;
}

double gput_code_block_self_time(const struct gput_code_block *block)
{
    return block->self_time_total;
}
