/* A recording of power as tables: its curves and its summary. */
#include "analysis/analyze/energy_recording.h"
#include "base/table.h"

#include <stdlib.h>

/* ---- Curves ---- */

static struct gput_table *add_table(
    struct gput_tables *tables, const struct gput_energy_metric *metric)
{
    struct gput_table *table = tables_add(tables, metric->name);
    table_add_column(table, "date", GPUT_COLUMN_TEXT);
    table_add_column(table, "seconds", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "segment", GPUT_COLUMN_INT);
    table_add_column(table, "value", GPUT_COLUMN_DOUBLE);
    if (metric->unit)
        table_set_unit(table, metric->unit);
    return table;
}

static void put_points(struct gput_table *table, int64_t start_us,
    const struct gput_energy_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char date[32];
        gput_energy_recording_date(points[i].time_us, date, sizeof date);
        table_put_text(table, date);
        table_put_double(table, (double)(points[i].time_us - start_us) / 1e6);
        table_put_int(table, points[i].segment);
        table_put_double(table, points[i].value);
    }
}

static int add_curve(const struct gput_energy_recording *recording, const char *name,
    const struct gput_energy_window *window, struct gput_tables *tables, struct gput_error *error)
{
    struct gput_energy_metric metric = gput_energy_metric_default();
    TRY(gput_energy_recording_metric(recording, name, window, &metric, error));
    struct gput_energy_point *points = malloc((metric.points + 1) * sizeof *points);
    if (!points)
        return error_memory(error);
    size_t count = gput_energy_recording_curve(recording, name, window, points, metric.points);
    put_points(add_table(tables, &metric), energy_recording_start_us(recording), points, count);
    free(points);
    return GPUT_OK;
}

int gput_energy_recording_tables(const struct gput_energy_recording *recording,
    const char *const *names, size_t n_names, const struct gput_energy_window *window,
    struct gput_tables **tables, struct gput_error *error)
{
    const char **selected;
    size_t count;
    *tables = NULL;
    TRY(energy_recording_select(recording, names, n_names, &selected, &count, error));
    struct gput_tables *building = tables_create();
    int code = building ? GPUT_OK : error_memory(error);
    for (size_t i = 0; i < count && code == GPUT_OK; i++)
        code = add_curve(recording, selected[i], window, building, error);
    free(selected);
    if (code == GPUT_OK)
        return tables_finish_building(building, tables, error);
    gput_tables_destroy(building);
    return code;
}

/* ---- Summary ---- */

/* clang-format off */
#define METRIC(name, type, unit, meaning) {#name, unit, meaning, GPUT_COLUMN_##type, COLUMN_OF(struct gput_energy_metric, name)}

const struct column energy_metric_columns[ENERGY_METRIC_COLUMNS] = {
    METRIC(group, TEXT, NULL, "cpu, gpu, experiment or wattmeter"),
    METRIC(device, TEXT, NULL, "the GPU that it is of; missing: not of a single GPU"),
    METRIC(unit, TEXT, NULL, "of its values; missing: another, or none"),
    METRIC(total, DOUBLE, NULL, "integral over seconds, segment by segment: joules of watts"),
    METRIC(average, DOUBLE, NULL, "over the time recorded, in its unit"),
    METRIC(max, DOUBLE, NULL, "highest value, in its unit"),
    METRIC(seconds, DOUBLE, "seconds", "recorded, segment by segment"),
    METRIC(points, INT, NULL, "how many there are of the curve"),
    METRIC(segments, INT, NULL, "how many there are of the curve"),
};

const struct column energy_total_columns[ENERGY_TOTAL_COLUMNS] = {
    {"total_power_draw", "joules", "of CPU packages and GPUs", GPUT_COLUMN_DOUBLE, COLUMN_OF(struct energy_total, joules)},
    {"exp_duration", "seconds", "recorded, segment by segment", GPUT_COLUMN_DOUBLE, COLUMN_OF(struct energy_total, seconds)},
};
/* clang-format on */

struct energy_total energy_recording_total_of(
    const struct gput_energy_recording *recording, const struct gput_energy_window *window)
{
    return (struct energy_total){energy_recording_total_without_dram(recording, window),
        gput_energy_recording_seconds(recording, window)};
}

static void add_metrics(struct gput_tables *tables, const struct gput_energy_recording *recording,
    const struct gput_energy_window *window)
{
    struct gput_table *table = tables_add(tables, "metrics");
    size_t count = gput_energy_recording_metric_count(recording);
    table_add_column(table, "name", GPUT_COLUMN_TEXT);
    table_add_columns(table, "", NULL, energy_metric_columns, ENERGY_METRIC_COLUMNS);
    for (size_t i = 0; i < count; i++) {
        struct gput_energy_metric metric = gput_energy_metric_default();
        const char *name = gput_energy_recording_metric_name(recording, i);
        if (gput_energy_recording_metric(recording, name, window, &metric, NULL) != GPUT_OK)
            continue;
        table_put_text(table, name);
        table_put_columns(table, energy_metric_columns, ENERGY_METRIC_COLUMNS, &metric);
    }
}

int gput_energy_recording_summary_tables(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    *tables = NULL;
    if (building) {
        const struct energy_total total = energy_recording_total_of(recording, window);
        struct gput_table *record = tables_add_record(building, "total");
        table_add_columns(record, "", NULL, energy_total_columns, ENERGY_TOTAL_COLUMNS);
        table_put_columns(record, energy_total_columns, ENERGY_TOTAL_COLUMNS, &total);
        add_metrics(building, recording, window);
    }
    return tables_finish_building(building, tables, error);
}
