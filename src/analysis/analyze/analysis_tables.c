#include "analysis/analyze/analysis.h"
#include "base/table.h"

#include <math.h>
#include <stdio.h>

static const struct gput_percentiles no_percentiles = {NAN, NAN, NAN};

/* Adds a table of one row: what the session says of itself, each value by its type. */
static void add_static_data(struct gput_tables *tables, const struct doc *data)
{
    struct gput_table *table = tables_add_record(tables, "static_data");
    for (const struct doc *value = data->first; value; value = value->next)
        table_add_column(table, value->key,
            value->kind == DOC_INT      ? GPUT_COLUMN_INT
            : value->kind == DOC_DOUBLE ? GPUT_COLUMN_DOUBLE
                                        : GPUT_COLUMN_TEXT);
    for (const struct doc *value = data->first; value; value = value->next) {
        if (value->kind == DOC_INT)
            table_put_int(table, value->integer);
        else if (value->kind == DOC_DOUBLE)
            table_put_double(table, value->number);
        else
            table_put_text(table, doc_string(value));
    }
}

/* ---- Figures ---- */

/* Adds a column of a number whose name begins with `prefix`. */
static void add_number(
    struct gput_table *table, const char *prefix, const char *name, const char *unit)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s", prefix, name);
    table_add_column(table, text, GPUT_COLUMN_DOUBLE);
    if (unit)
        table_set_unit(table, unit);
}

static void add_statistics(
    struct gput_table *table, const char *prefix, const char *unit, bool percentiles)
{
    table_add_columns(table, prefix, unit, statistics_columns, STATISTICS_COLUMNS);
    if (percentiles)
        table_add_columns(table, prefix, unit, percentiles_columns, PERCENTILES_COLUMNS);
}

static void put_statistics(struct gput_table *table, const struct gput_statistics *statistics,
    const struct gput_percentiles *percentiles, bool details)
{
    table_put_columns(table, statistics_columns, STATISTICS_COLUMNS, statistics);
    if (details)
        table_put_columns(table, percentiles_columns, PERCENTILES_COLUMNS, percentiles);
}

/* Adds the columns of a table of measurements, before which those may be that identify a block. */
static void add_usage_columns(struct gput_table *table, bool percentiles)
{
    table_add_columns_of(table, GPUT_COLUMN_TEXT, "measurement", "unit", NULL);
    add_statistics(table, "", NULL, percentiles);
    table_add_column(table, "missing_timepoints", GPUT_COLUMN_INT);
}

/* Puts a row a measurement, of a block or, where that is NULL, of the session as a whole. */
static void put_usage(const struct gput_analysis *analysis, struct gput_table *table,
    const struct gput_code_block *block)
{
    const struct gput_statistics *usage = block ? block->resource_usage : analysis->overall;
    const struct gput_percentiles *percentiles =
        block ? block->percentiles : analysis->overall_percentiles;
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        if (block) {
            table_put_text(table, block->name);
            analysis_put_part(analysis, table, block);
        }
        table_put_text(table, analysis->measurements[i]);
        table_put_text(table, analysis_unit(analysis, analysis->measurements[i]));
        put_statistics(
            table, &usage[i], percentiles ? &percentiles[i] : &no_percentiles, analysis->details);
        table_put_int(table, (int64_t)usage[i].n_missing);
    }
}

/* ---- Code blocks ---- */

/* Puts the row of a block or a part, in the order of add_block_columns(). */
static void put_block(const struct gput_analysis *analysis, struct gput_table *table,
    const struct gput_code_block *block)
{
    table_put_text(table, block->name);
    analysis_put_part(analysis, table, block);
    table_put_columns(table, block_columns, n_block_columns, block);
    put_statistics(
        table, &block->compute_time, &block->compute_time_percentiles, analysis->details);
    table_put_double(table, block->compute_time_total);
    if (analysis->details) {
        table_put_double(table, block->self_time_total);
        table_put_double(table, block->cpu_time_total);
    }
    for (int i = 0; analysis->has_energy && i < GPUT_ENERGY_FIGURE_COUNT; i++)
        table_put_double(table, block->energy[i]);
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        if (analysis_shows_exact(analysis, i))
            table_put_double(table, block->exact[i]);
}

/* Puts the rows of all blocks, each before those of its parts. */
static void put_blocks(const struct gput_analysis *analysis, struct gput_table *table,
    void (*put)(const struct gput_analysis *analysis, struct gput_table *table,
        const struct gput_code_block *block))
{
    for (size_t i = 0; i < analysis->n_blocks; i++) {
        const struct gput_code_block *block = &analysis->blocks[i];
        put(analysis, table, block);
        for (size_t part = 0; part < block->n_parts; part++)
            put(analysis, table, &block->parts[part]);
    }
}

int gput_analysis_tables(
    const struct gput_analysis *analysis, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    *tables = NULL;
    if (!building)
        return error_memory(error);
    add_static_data(building, analysis->static_data);

    struct gput_table *table = tables_add(building, "overall");
    add_usage_columns(table, analysis->details);
    put_usage(analysis, table, NULL);

    table = tables_add(building, "code_blocks");
    table_add_column(table, "code_block_name", GPUT_COLUMN_TEXT);
    analysis_add_part_columns(analysis, table);
    table_add_columns(table, "", NULL, block_columns, n_block_columns);
    add_statistics(table, "compute_time_", "seconds", analysis->details);
    add_number(table, "compute_time_", "total", "seconds");
    if (analysis->details) {
        add_number(table, "self_time_", "total", "seconds");
        add_number(table, "cpu_time_", "total", "seconds");
    }
    for (enum gput_energy_figure i = 0; analysis->has_energy && i < GPUT_ENERGY_FIGURE_COUNT; i++)
        add_number(table, "energy_", gput_energy_figure_name(i), "joules");
    for (enum gput_exact_figure i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        if (analysis_shows_exact(analysis, i))
            add_number(table, "exact_", gput_exact_figure_name(i), gput_exact_figure_unit(i));
    put_blocks(analysis, table, put_block);

    table = tables_add(building, "code_block_usage");
    table_add_column(table, "code_block_name", GPUT_COLUMN_TEXT);
    analysis_add_part_columns(analysis, table);
    add_usage_columns(table, analysis->details);
    put_blocks(analysis, table, put_usage);

    table = tables_add_record(building, "lost_calls");
    table_add_columns(table, "", NULL, lost_columns, LOST_COLUMNS);
    table_put_columns(table, lost_columns, LOST_COLUMNS, &analysis->lost);

    table = analysis->has_energy ? tables_add_record(building, "energy") : NULL;
    for (enum gput_energy_figure i = 0; table && i < GPUT_ENERGY_FIGURE_COUNT; i++)
        add_number(table, "", gput_energy_figure_name(i), "joules");
    for (enum gput_energy_figure i = 0; table && i < GPUT_ENERGY_FIGURE_COUNT; i++)
        table_put_double(table, analysis->energy[i]);
    return tables_finish_building(building, tables, error);
}
