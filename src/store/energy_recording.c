#include "store/energy_recording.h"

#include "base/file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- series ---- */

int recorded_series_add(
    struct recorded_series *series, int64_t time_us, uint32_t segment, struct gput_error *error)
{
    if (series->count == series->capacity) {
        size_t capacity = series->capacity ? 2 * series->capacity : 256;
        int64_t *times = realloc(series->times_us, capacity * sizeof *times);
        if (times)
            series->times_us = times;
        uint32_t *segments = realloc(series->segments, capacity * sizeof *segments);
        if (segments)
            series->segments = segments;
        if (!times || !segments)
            return error_memory(error);
        series->capacity = capacity;
    }
    for (size_t i = 0; i < series->n_metrics; i++) {
        struct recorded_metric *metric = &series->metrics[i];
        if (metric->capacity < series->capacity) {
            double *values = realloc(metric->values, series->capacity * sizeof *values);
            if (!values)
                return error_memory(error);
            metric->values = values;
            metric->capacity = series->capacity;
        }
        metric->values[series->count] = NAN;
    }
    series->times_us[series->count] = time_us;
    series->segments[series->count++] = segment;
    return GPUT_OK;
}

static struct recorded_metric *add_metric(
    struct recorded_series *series, const char *group, const char *name)
{
    struct recorded_metric *metrics =
        realloc(series->metrics, (series->n_metrics + 1) * sizeof *metrics);
    if (!metrics)
        return NULL;
    series->metrics = metrics;
    struct recorded_metric *metric = &metrics[series->n_metrics];
    *metric = (struct recorded_metric){.name = strdup(name),
        .group = group,
        .values = malloc(series->capacity * sizeof *metric->values),
        .capacity = series->capacity};
    if (!metric->name || !metric->values) {
        free(metric->name);
        free(metric->values);
        return NULL;
    }
    for (size_t i = 0; i < series->count; i++)
        metric->values[i] = NAN;
    series->n_metrics++;
    return metric;
}

int recorded_series_set(struct recorded_series *series, const char *group, const char *name,
    double value, struct gput_error *error)
{
    struct recorded_metric *metric = NULL;
    for (size_t i = 0; i < series->n_metrics && !metric; i++) {
        if (strcmp(series->metrics[i].name, name) == 0)
            metric = &series->metrics[i];
    }
    if (!metric)
        metric = add_metric(series, group, name);
    if (!metric)
        return error_memory(error);
    metric->values[series->count - 1] = value;
    return GPUT_OK;
}

/* ---- the folder ---- */

void energy_record_warn(struct energy_record *record, const char *format, ...)
{
    va_list arguments;
    if (record->warning[0])
        return;
    va_start(arguments, format);
    vsnprintf(record->warning, sizeof record->warning, format, arguments);
    va_end(arguments);
}

/* A small file that holds one JSON value. *doc stays NULL when there is none. */
static int read_doc(const struct energy_record *record, const char *file, struct doc **doc,
    struct gput_error *error)
{
    struct str path = {0}, content = {0};
    str_printf(&path, "%s/%s", record->folder, file);
    int code = file_read(str_text(&path), &content, error);
    if (code == GPUT_OK)
        code = doc_read_json(content.data, content.length, str_text(&path), doc, error);
    str_finish(&content);
    str_finish(&path);
    return code == GPUT_ERROR_NOT_FOUND ? GPUT_OK : code;
}

/* The same where the rest is worth reading without it. */
static void try_doc(struct energy_record *record, const char *file, struct doc **doc)
{
    struct gput_error error;
    if (read_doc(record, file, doc, &error) != GPUT_OK)
        energy_record_warn(record, "%.200s", error.message);
}

static int read_folder(struct energy_record *record, struct gput_error *error)
{
    bool has_power, has_sqlite, has_wattmeter;
    struct stat status;
    if (stat(record->folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return error_set(error, GPUT_ERROR_NOT_FOUND, "There is no folder %s.", record->folder);
    TRY(energy_record_read_power(record, &has_power, error));
    TRY(energy_record_read_sqlite(record, &has_sqlite, error));
    TRY(energy_record_read_wattmeter(record, &has_wattmeter, error));
    if (!has_power && !has_sqlite && !has_wattmeter)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "There is no recording of power in %s: no power_metrics.json or .sqlite, and no "
            "omegawatt.csv.",
            record->folder);
    try_doc(record, "metadata.json", &record->metadata);
    try_doc(record, "model_summary.json", &record->model);
    try_doc(record, "results_exp.json", &record->experiment);
    return record->experiment ? energy_record_read_experiment(record, error) : GPUT_OK;
}

int energy_record_read(const char *folder, struct energy_record **result, struct gput_error *error)
{
    *result = NULL;
    struct energy_record *record = calloc(1, sizeof *record);
    if (!record || !(record->folder = strdup(folder))) {
        free(record);
        return error_memory(error);
    }
    int code = read_folder(record, error);
    if (code == GPUT_OK)
        *result = record;
    else
        energy_record_destroy(record);
    return code;
}

static void series_finish(struct recorded_series *series)
{
    for (size_t i = 0; i < series->n_metrics; i++) {
        free(series->metrics[i].name);
        free(series->metrics[i].values);
    }
    free(series->metrics);
    free(series->times_us);
    free(series->segments);
}

void energy_record_destroy(struct energy_record *record)
{
    if (!record)
        return;
    for (int i = 0; i < RECORDED_SERIES; i++)
        series_finish(&record->series[i]);
    doc_destroy(record->metadata);
    doc_destroy(record->model);
    doc_destroy(record->experiment);
    free(record->folder);
    free(record);
}
