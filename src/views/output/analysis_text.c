#include "analysis/analyze/analysis_columns.h"
#include "analysis/analyze/exact_figures.h"
#include "views/output/analysis_render.h"
#include "views/output/pandas_table.h"

#include "base/number.h"

#include <stdio.h>
#include <string.h>

/* As long as the longest key, "Num Non Empty Calls:". */
#define KEY_WIDTH 20

/* Sets cells of a row from `column` on; returns the column after them. */
static size_t set_figures(struct pandas_table *table, size_t row, size_t column,
    const struct column *figures, size_t count, const void *item)
{
    for (size_t i = 0; i < count; i++)
        pandas_table_set_number(table, row, column++, column_number(&figures[i], item));
    return column;
}

/* Puts statistics, and percentiles unless NULL, into a row; returns the number of columns. */
static size_t set_row(struct pandas_table *table, size_t row,
    const struct gput_statistics *statistics, const struct gput_percentiles *percentiles)
{
    size_t column = set_figures(table, row, 0, statistics_columns, STATISTICS_COLUMNS, statistics);
    if (!percentiles)
        return column;
    return set_figures(table, row, column, percentiles_columns, PERCENTILES_COLUMNS, percentiles);
}

static struct pandas_table *create_figures(size_t n_rows, bool percentiles, size_t more)
{
    size_t count = STATISTICS_COLUMNS + (percentiles ? PERCENTILES_COLUMNS : 0);
    struct pandas_table *table = pandas_table_create(n_rows, count + more);
    for (size_t i = 0; i < count; i++)
        pandas_table_set_number_column_name(table, i,
            i < STATISTICS_COLUMNS ? statistics_columns[i].name
                                   : percentiles_columns[i - STATISTICS_COLUMNS].name);
    return table;
}

static void write_key(const char *key, int indent, struct str *text)
{
    str_append_repeated(text, '\t', (size_t)indent);
    str_append(text, key);
}

static void write_usage(const struct gput_analysis *analysis,
    const struct gput_statistics *statistics, const struct gput_percentiles *percentiles,
    int indent, struct str *text)
{
    struct pandas_table *table = create_figures(analysis->n_measurements, percentiles != NULL, 0);
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        pandas_table_set_row_name(table, i, analysis->measurements[i]);
        set_row(table, i, &statistics[i], percentiles ? &percentiles[i] : NULL);
    }
    pandas_table_write(table, indent, text);
    pandas_table_destroy(table);
}

static void write_compute_time(const struct gput_code_block *block, int indent, struct str *text)
{
    struct pandas_table *table = create_figures(1, block->percentiles != NULL, 1);
    size_t column = set_row(table, 0, &block->compute_time,
        block->percentiles ? &block->compute_time_percentiles : NULL);
    pandas_table_set_number_column_name(table, column, "total");
    pandas_table_set_number(table, 0, column, block->compute_time_total);
    pandas_table_write(table, indent, text);
    pandas_table_destroy(table);
}

/* How many rows lack which measurement, where some do. */
static void write_missing(const struct gput_analysis *analysis,
    const struct gput_statistics *statistics, int indent, struct str *text)
{
    size_t count = 0;
    for (size_t i = 0; i < analysis->n_measurements; i++)
        count += statistics[i].n_missing > 0;
    if (count == 0)
        return;
    write_key("Missing Timepoints:\n", indent, text);
    struct pandas_table *table = pandas_table_create(1, count);
    size_t column = 0;
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        char number[NUMBER_TEXT_SIZE + 1] = " ";
        if (statistics[i].n_missing == 0)
            continue;
        pandas_table_set_column_name(table, column, analysis->measurements[i]);
        number_format_int64((int64_t)statistics[i].n_missing, number + 1);
        pandas_table_set(table, 0, column++, number);
    }
    pandas_table_write(table, indent + 1, text);
    pandas_table_destroy(table);
}

/* A row of those figures that the session or some block has, and of the total. */
static void write_energy(
    const struct gput_analysis *analysis, const double *energy, int indent, struct str *text)
{
    size_t count = 0;
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        count += analysis_shows_energy(analysis, (enum gput_energy_figure)i);
    struct pandas_table *table = pandas_table_create(1, count);
    size_t column = 0;
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (!analysis_shows_energy(analysis, (enum gput_energy_figure)i))
            continue;
        pandas_table_set_number_column_name(
            table, column, gput_energy_figure_name((enum gput_energy_figure)i));
        pandas_table_set_number(table, 0, column++, energy[i]);
    }
    pandas_table_write(table, indent, text);
    pandas_table_destroy(table);
}

/* A row of one object: words and whole numbers get a blank before them, as pandas has it. */
static void write_static_data(const struct doc *data, struct str *text)
{
    struct pandas_table *table = pandas_table_create(1, data->count);
    size_t column = 0;
    for (const struct doc *cell = data->first; cell; cell = cell->next, column++) {
        struct str value = {0};
        char number[NUMBER_TEXT_SIZE];
        pandas_table_set_column_name(table, column, cell->key);
        if (cell->kind == DOC_DOUBLE) {
            pandas_table_set_number(table, 0, column, cell->number);
            continue;
        }
        str_append_char(&value, ' ');
        if (cell->kind == DOC_INT) {
            number_format_int64(cell->integer, number);
            str_append(&value, number);
        } else {
            str_append(&value, cell->kind == DOC_STRING ? cell->string : "None");
        }
        pandas_table_set(table, 0, column, str_text(&value));
        text->failed = text->failed || value.failed;
        str_finish(&value);
    }
    pandas_table_write(table, 1, text);
    pandas_table_destroy(table);
}

static void write_value(const char *key, const char *value, int indent, struct str *text)
{
    write_key(key, indent, text);
    str_append_repeated(text, ' ', KEY_WIDTH - strlen(key) + 1);
    str_append(text, value);
    str_append_char(text, '\n');
}

static void write_count(const char *key, int64_t count, int indent, struct str *text)
{
    char number[NUMBER_TEXT_SIZE];
    number_format_int64(count, number);
    write_value(key, number, indent, text);
}

static void write_seconds(const char *key, double seconds, int indent, struct str *text)
{
    char number[NUMBER_TEXT_SIZE];
    number_format_rounded(seconds, 8, number);
    write_value(key, seconds == seconds ? number : "n/a", indent, text);
}

static void write_bytes(const char *key, double bytes, int indent, struct str *text)
{
    char number[NUMBER_TEXT_SIZE];
    number_format_double(bytes, number);
    write_value(key, bytes == bytes ? number : "n/a", indent, text);
}

/* Sums have a column each; what is the largest of the calls has a line of its own. */
static bool has_column(const struct gput_analysis *analysis, enum gput_exact_figure figure)
{
    return analysis_shows_exact(analysis, figure) && !exact_figure_is_largest(figure);
}

/* A column a figure, named with its unit. */
static void write_exact(const struct gput_analysis *analysis, const struct gput_code_block *block,
    int indent, struct str *text)
{
    size_t columns = 0, column = 0;
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        columns += has_column(analysis, i);
    struct pandas_table *table = pandas_table_create(2, columns);
    pandas_table_set_row_name(table, 0, "total");
    pandas_table_set_row_name(table, 1, "mean");
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++) {
        char name[64];
        const char *unit = gput_exact_figure_unit(i);
        if (!has_column(analysis, i))
            continue;
        snprintf(name, sizeof name, unit ? "%s_%s" : "%s", gput_exact_figure_name(i), unit);
        pandas_table_set_number_column_name(table, column, name);
        pandas_table_set_number(table, 0, column, block->exact[i]);
        pandas_table_set_number(table, 1, column++, analysis_exact_mean(block, i));
    }
    pandas_table_write(table, indent, text);
    pandas_table_destroy(table);
}

static void write_identity(const struct gput_code_block *block, int indent, struct str *text)
{
    if (!code_block_is_part(block))
        write_value("Name:", block->name, indent, text);
    else if (block->rank >= 0)
        write_count("Rank:", block->rank, indent, text);
    else if (block->process_id < 0)
        write_value("Rank:", "none", indent, text);
    else
        write_count("Process ID:", block->process_id, indent, text);
    if (block->category && !code_block_is_part(block))
        write_value("Category:", block->category, indent, text);
    if (block->thread_id >= 0)
        write_count("Thread ID:", block->thread_id, indent, text);
    if (block->thread_name)
        write_value("Thread Name:", block->thread_name, indent, text);
}

static void write_columns(const struct gput_code_block *block, int indent, struct str *text)
{
    for (size_t i = 0; i < BLOCK_COLUMNS - (block->num_outside_calls == 0); i++) {
        struct str title = {0};
        pandas_table_append_title(&title, block_columns[i].name);
        str_append_char(&title, ':');
        write_count(
            str_text(&title), (int64_t)column_number(&block_columns[i], block), indent, text);
        str_finish(&title);
    }
}

static void write_block(const struct gput_analysis *analysis, const struct gput_code_block *block,
    int indent, struct str *text)
{
    write_identity(block, indent, text);
    write_columns(block, indent, text);
    if (analysis->details) {
        write_seconds("Self Time:", block->self_time_total, indent, text);
        write_seconds("CPU Time:", block->cpu_time_total, indent, text);
    }
    write_key("Compute Time:\n", indent, text);
    write_compute_time(block, indent + 1, text);
    if (analysis->details && analysis->exact) {
        write_key("Exact (counted at start and stop of each call):\n", indent, text);
        write_exact(analysis, block, indent + 1, text);
    }
    if (analysis->details && analysis_shows_exact(analysis, GPUT_EXACT_BLOCK_PEAK_RSS))
        write_bytes("Peak RSS (bytes):", block->exact[GPUT_EXACT_BLOCK_PEAK_RSS], indent, text);
    write_key("Resource Usage:\n", indent, text);
    write_usage(analysis, block->resource_usage, block->percentiles, indent + 1, text);
    write_missing(analysis, block->resource_usage, indent, text);
    if (analysis->has_energy) {
        write_key("Energy (joules):\n", indent, text);
        write_energy(analysis, block->energy, indent + 1, text);
    }
    if (block->n_parts == 0)
        return;
    write_key(analysis->split == GPUT_SPLIT_THREAD ? "Threads:\n"
              : analysis->split == GPUT_SPLIT_RANK ? "Ranks:\n"
                                                   : "Processes:\n",
        indent, text);
    for (size_t i = 0; i < block->n_parts; i++) {
        write_block(analysis, &block->parts[i], indent + 1, text);
        str_append_char(text, '\n');
    }
}

/* Calls without a sample have figures of their own only where marks count exactly. */
static void write_hint(const struct gput_analysis *analysis, struct str *text)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < analysis->n_blocks; i++)
        calls += analysis->blocks[i].num_calls - analysis->blocks[i].num_non_empty_calls;
    if (!analysis->details || analysis->exact || calls == 0)
        return;
    str_printf(text,
        "Calls without a sample: %llu. With GPUT_BLOCK_EXACT=1 in the environment of the marked "
        "program, its marks count CPU time, faults and RAM of every call.\n",
        (unsigned long long)calls);
}

static void write_lost_calls(const struct gput_analysis *analysis, struct str *text)
{
    if (analysis->num_lost_calls > 0)
        str_printf(text, "Lost Calls: %s%llu\n", analysis->lost_calls_at_least ? "at least " : "",
            (unsigned long long)analysis->num_lost_calls);
    else if (analysis->lost_calls_at_least)
        str_append(text, "Lost Calls: not known\n");
}

void analysis_write_text(const struct gput_analysis *analysis, struct str *text)
{
    str_append(text, "Overall:\n");
    write_usage(analysis, analysis->overall, analysis->overall_percentiles, 1, text);
    write_missing(analysis, analysis->overall, 0, text);
    if (analysis->has_energy) {
        str_append(text, "Energy (joules):\n");
        write_energy(analysis, analysis->energy, 1, text);
    }
    str_append(text, "Static Data:\n");
    write_static_data(analysis->static_data, text);
    str_append(text, "Code Block Results:\n");
    for (size_t i = 0; i < analysis->n_blocks; i++) {
        write_block(analysis, &analysis->blocks[i], 1, text);
        str_append_char(text, '\n');
    }
    write_lost_calls(analysis, text);
    write_hint(analysis, text);
}
