/*
 * One line a measurement, so that every tool that reads tables can group by any column. The session
 * as a whole has no code block; compute_time is a measurement of its own.
 */
#include "analysis/analyze/analysis_columns.h"
#include "analysis/analyze/exact_figures.h"
#include "base/table.h"
#include "views/output/analysis_render.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct gput_statistics no_statistics = {NAN, NAN, NAN, NAN, 0};
static const struct gput_percentiles no_percentiles = {NAN, NAN, NAN};

/* The lines being written: of a block or, where that is NULL, of the session. */
struct lines {
    const struct gput_analysis *analysis;
    struct gput_table *table;
    const struct gput_code_block *block;
};

static void add_columns(const struct lines *lines)
{
    struct gput_table *table = lines->table;
    table_add_column(table, "code_block", GPUT_COLUMN_TEXT);
    analysis_add_part_columns(lines->analysis, table);
    table_add_columns(table, "", NULL, block_columns, BLOCK_COLUMNS - 1);
    table_add_column(table, "measurement", GPUT_COLUMN_TEXT);
    table_add_columns(table, "", NULL, statistics_columns, STATISTICS_COLUMNS);
    table_add_column(table, "total", GPUT_COLUMN_DOUBLE);
    if (lines->analysis->details)
        table_add_columns(table, "", NULL, percentiles_columns, PERCENTILES_COLUMNS);
    table_add_column(table, "missing_timepoints", GPUT_COLUMN_INT);
}

/* What stands before the figures in every line. */
static void put_head(const struct lines *lines, const char *measurement)
{
    struct gput_table *table = lines->table;
    const struct gput_code_block *block = lines->block;
    table_put_text(table, block ? block->name : NULL);
    analysis_put_part(lines->analysis, table, block);
    if (block) {
        table_put_columns(table, block_columns, BLOCK_COLUMNS - 1, block);
    } else {
        table_put_int(table, (int64_t)lines->analysis->num_timepoints);
        table_put_missing(table);
        table_put_missing(table);
    }
    table_put_text(table, measurement);
}

static void put_figures(const struct lines *lines, const struct gput_statistics *statistics,
    const struct gput_percentiles *percentiles, double total)
{
    table_put_columns(lines->table, statistics_columns, STATISTICS_COLUMNS, statistics);
    table_put_double(lines->table, total);
    if (lines->analysis->details)
        table_put_columns(lines->table, percentiles_columns, PERCENTILES_COLUMNS,
            percentiles ? percentiles : &no_percentiles);
}

/* A line of what is not a measurement of the samples. */
static void put_line(const struct lines *lines, const char *name,
    const struct gput_statistics *statistics, double total)
{
    put_head(lines, name);
    put_figures(lines, statistics, NULL, total);
    table_put_missing(lines->table);
}

/* One that has a total, and perhaps a mean. */
static void put_total(const struct lines *lines, const char *name, double mean, double total)
{
    struct gput_statistics statistics = no_statistics;
    statistics.mean = mean;
    put_line(lines, name, &statistics, total);
}

static void put_exact(const struct lines *lines, enum gput_exact_figure figure)
{
    char name[64];
    double value = lines->block->exact[figure];
    struct gput_statistics largest = no_statistics;
    largest.max = value;
    snprintf(name, sizeof name, "exact_%s", gput_exact_figure_name(figure));
    if (exact_figure_is_largest(figure))
        put_line(lines, name, &largest, NAN);
    else
        put_total(lines, name, analysis_exact_mean(lines->block, figure), value);
}

static void put_usage(const struct lines *lines, const struct gput_statistics *usage,
    const struct gput_percentiles *percentiles)
{
    for (size_t i = 0; i < lines->analysis->n_measurements; i++) {
        put_head(lines, lines->analysis->measurements[i]);
        put_figures(lines, &usage[i], percentiles ? &percentiles[i] : NULL, NAN);
        table_put_int(lines->table, (int64_t)usage[i].n_missing);
    }
}

static void put_energy(const struct lines *lines, const double *joules)
{
    for (enum gput_energy_figure i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof name, "energy_%s", gput_energy_figure_name(i));
        if (analysis_shows_energy(lines->analysis, i))
            put_total(lines, name, NAN, joules[i]);
    }
}

/* In a line of its own name where there may be more. */
static void put_lost_calls(const struct lines *lines)
{
    const struct gput_analysis *analysis = lines->analysis;
    if (analysis_lacks_calls(analysis))
        put_total(lines, analysis->lost_calls_at_least ? "lost_calls_at_least" : "lost_calls", NAN,
            (double)analysis->num_lost_calls);
}

static void put_block(struct lines *lines, const struct gput_code_block *block)
{
    lines->block = block;
    put_head(lines, "compute_time");
    put_figures(lines, &block->compute_time,
        block->percentiles ? &block->compute_time_percentiles : NULL, block->compute_time_total);
    table_put_missing(lines->table);
    if (lines->analysis->details) {
        put_total(lines, "self_time", NAN, block->self_time_total);
        put_total(lines, "cpu_time", NAN, block->cpu_time_total);
    }
    put_usage(lines, block->resource_usage, block->percentiles);
    put_energy(lines, block->energy);
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        if (analysis_shows_exact(lines->analysis, i))
            put_exact(lines, i);
    for (size_t i = 0; i < block->n_parts; i++)
        put_block(lines, &block->parts[i]);
}

void analysis_write_csv(const struct gput_analysis *analysis, struct str *text)
{
    struct gput_tables *tables = tables_create();
    char *csv = NULL;
    if (tables) {
        struct lines lines = {analysis, tables_add(tables, "analysis"), NULL};
        add_columns(&lines);
        put_usage(&lines, analysis->overall, analysis->overall_percentiles);
        put_energy(&lines, analysis->energy);
        put_lost_calls(&lines);
        for (size_t i = 0; i < analysis->n_blocks; i++)
            put_block(&lines, &analysis->blocks[i]);
    }
    if (tables_finish_building(tables, &tables, NULL) == GPUT_OK) {
        gput_tables_render(tables, GPUT_FORMAT_CSV, &csv, NULL, NULL);
        gput_tables_destroy(tables);
    }
    if (csv)
        str_append(text, csv);
    else
        text->failed = true;
    free(csv);
}
