#include "analyze/comparison.h"
#include "base/table.h"

#include <stdlib.h>

/* The table being written. `values` has space for one value a session. */
struct writer {
    const struct gput_comparison *comparison;
    enum gput_statistic statistic;
    struct comparison_value *values;
    struct gput_table *table;
};

static void add_columns(struct gput_table *table)
{
    table_add_column(table, "code_block", GPUT_COLUMN_TEXT);
    table_add_column(table, "measurement", GPUT_COLUMN_TEXT);
    table_add_column(table, "statistic", GPUT_COLUMN_TEXT);
    table_add_column(table, "session", GPUT_COLUMN_TEXT);
    table_add_column(table, "value", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "percent_change", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "runs", GPUT_COLUMN_INT);
    table_add_column(table, "low", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "high", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "within_noise", GPUT_COLUMN_INT);
}

/* A row a session. `measurement` NULL: compute time. */
static void put_figure(const struct writer *writer, const char *measurement, size_t block)
{
    const struct gput_comparison *comparison = writer->comparison;
    const struct comparison_figure figure = {measurement, block, writer->statistic};
    struct gput_table *table = writer->table;
    comparison_sorted_values(comparison, &figure, writer->values);
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_value *value = &writer->values[i];
        const struct comparison_session *session = &comparison->sessions[value->session];
        table_put_text(table, block == COMPARISON_OVERALL ? NULL : comparison->block_names[block]);
        table_put_text(table, measurement ? measurement : "compute_time");
        table_put_text(table, gput_statistic_name(writer->statistic));
        table_put_text(table, session->name);
        table_put_double(table, value->value);
        table_put_double(table, value->change);
        table_put_int(table, (int64_t)session->n_runs);
        table_put_double(table, value->low);
        table_put_double(table, value->high);
        table_put_int(table, value->noise);
    }
}

static void put_part(const struct writer *writer, size_t block)
{
    const struct gput_analysis *first = writer->comparison->first;
    if (block != COMPARISON_OVERALL)
        put_figure(writer, NULL, block);
    for (size_t i = 0; i < first->n_measurements; i++)
        put_figure(writer, first->measurements[i], block);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        if (comparison_has_energy(writer->comparison, (enum gput_energy_figure)i))
            put_figure(writer, comparison_energy_measurements[i], block);
}

int gput_comparison_tables(const struct gput_comparison *comparison,
    const struct gput_comparison_options *options, struct gput_tables **tables,
    struct gput_error *error)
{
    *tables = NULL;
    struct gput_tables *building = tables_create();
    struct writer writer = {.comparison = comparison,
        .statistic = options->statistic,
        .values = calloc(comparison->n_sessions, sizeof *writer.values)};
    if (!building || !writer.values) {
        gput_tables_destroy(building);
        free(writer.values);
        return error_memory(error);
    }
    writer.table = tables_add(building, "comparison");
    add_columns(writer.table);
    put_part(&writer, COMPARISON_OVERALL);
    for (size_t block = 0; block < comparison->n_blocks; block++)
        put_part(&writer, block);
    free(writer.values);
    return tables_finish_building(building, tables, error);
}
