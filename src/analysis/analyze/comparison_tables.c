#include "analysis/analyze/comparison.h"
#include "base/table.h"

#include <math.h>
#include <stdlib.h>

/* A row: a figure of a session. */
struct row {
    const char *code_block, *measurement, *statistic, *session;
    double runs;
    double within_noise;
    struct comparison_value value;
};

/* clang-format off */
#define TEXT(name, meaning) {#name, NULL, meaning, GPUT_COLUMN_TEXT, COLUMN_OF(struct row, name)}
#define COUNT(name, meaning) {#name, NULL, meaning, GPUT_COLUMN_INT, COLUMN_OF(struct row, name)}
#define NUMBER(name, member, meaning) {name, NULL, meaning, GPUT_COLUMN_DOUBLE, COLUMN_OF(struct row, value.member)}

static const struct column columns[] = {
    TEXT(code_block, "its name; missing: the whole session"),
    TEXT(measurement, "of the samples, of energy, or compute_time"),
    TEXT(statistic, "which one of the measurement is compared"),
    TEXT(session, "its name"),
    NUMBER("value", value, "the mean over the runs of the session"),
    NUMBER("percent_change", change, "from the first session"),
    COUNT(runs, "how many there are of the session"),
    NUMBER("low", low, "of the 95 % interval of several runs"),
    NUMBER("high", high, "of the 95 % interval of several runs"),
    COUNT(within_noise, "1: the spread of the runs explains the difference"),
};
/* clang-format on */

/* The table being written. `values` has space for one value a session. */
struct writer {
    const struct gput_comparison *comparison;
    enum gput_statistic statistic;
    struct comparison_value *values;
    struct gput_table *table;
};

/* Puts a row a session. `measurement` NULL: compute time. */
static void put_figure(const struct writer *writer, const char *measurement, size_t block)
{
    const struct gput_comparison *comparison = writer->comparison;
    const struct comparison_figure figure = {measurement, block, writer->statistic};
    comparison_sorted_values(comparison, &figure, writer->values);
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_value *value = &writer->values[i];
        const struct comparison_session *session = &comparison->sessions[value->session];
        const struct row row = {
            .code_block = block == COMPARISON_OVERALL ? NULL : comparison->block_names[block],
            .measurement = measurement ? measurement : "compute_time",
            .statistic = gput_statistic_name(writer->statistic),
            .session = session->name,
            .runs = (double)session->n_runs,
            .within_noise = value->noise,
            .value = *value,
        };
        table_put_columns(writer->table, columns, COLUMN_COUNT(columns), &row);
    }
}

/* Puts the figures of the session as a whole, or of a block. */
static void put_part(const struct writer *writer, size_t block)
{
    const struct gput_comparison *comparison = writer->comparison;
    if (block != COMPARISON_OVERALL)
        put_figure(writer, NULL, block);
    for (size_t i = 0; i < comparison->n_measurements; i++)
        put_figure(writer, comparison->measurements[i], block);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        if (comparison_has_energy(comparison, (enum gput_energy_figure)i))
            put_figure(writer, comparison_energy_measurements[i], block);
}

int gput_comparison_tables(const struct gput_comparison *comparison,
    const struct gput_comparison_options *given, struct gput_tables **tables,
    struct gput_error *error)
{
    struct gput_comparison_options options;
    *tables = NULL;
    TRY(comparison_options_read(given, &options, error));
    CLEANUP_FREE struct comparison_value *values = calloc(comparison->n_sessions, sizeof *values);
    struct gput_tables *building = values ? tables_create() : NULL;
    if (!building)
        return error_memory(error);
    struct writer writer = {.comparison = comparison,
        .statistic = options.statistic,
        .values = values,
        .table = tables_add(building, "comparison")};
    table_add_columns(writer.table, "", NULL, columns, COLUMN_COUNT(columns));
    put_part(&writer, COMPARISON_OVERALL);
    for (size_t block = 0; block < comparison->n_blocks; block++)
        put_part(&writer, block);
    /* Put a row for each session that lost calls; "at least" where there may be more. */
    for (size_t i = 0; i < writer.comparison->n_sessions; i++) {
        const struct comparison_session *session = &writer.comparison->sessions[i];
        struct lost_calls lost = comparison_lost_calls(session);
        const struct row row = {
            .measurement = lost.at_least ? "lost_calls_at_least" : "lost_calls",
            .statistic = "total",
            .session = session->name,
            .runs = (double)session->n_runs,
            .within_noise = NAN,
            .value = {.value = (double)lost.count, .low = NAN, .high = NAN, .change = NAN},
        };
        if (lost_calls_any(&lost))
            table_put_columns(writer.table, columns, COLUMN_COUNT(columns), &row);
    }

    /* Thread counts of the older gpu_tracker's results: integers there, they are shown as such. */
    struct gput_table *whole = tables_add(building, "whole_numbers");
    table_add_column(whole, "measurement", GPUT_COLUMN_TEXT);
    for (size_t i = 0; i < comparison->n_measurements; i++) {
        const struct comparison_figure figure = {
            comparison->measurements[i], COMPARISON_OVERALL, writer.statistic};
        comparison_values(comparison, &figure, values);
        if (comparison_are_integers(values, comparison->n_sessions))
            table_put_text(whole, comparison->measurements[i]);
    }
    return tables_finish_building(building, tables, error);
}
