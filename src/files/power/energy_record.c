#include "files/power/energy_record.h"

#include "base/array.h"
#include "model/energy.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct energy_record *energy_record_create(const char *folder)
{
    struct energy_record *record = calloc(1, sizeof *record);
    if (record && !(record->folder = strdup(folder))) {
        free(record);
        return NULL;
    }
    return record;
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

/* Space for the number of further warnings. */
#define MORE_SIZE 40

void energy_record_warn(struct energy_record *record, const char *format, ...)
{
    char sentence[384];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    size_t length = strlen(record->warnings), size = sizeof record->warnings - length;
    if (record->more_warnings || strlen(sentence) + MORE_SIZE > size)
        record->more_warnings++;
    else
        snprintf(record->warnings + length, size, "%s%s", length ? " " : "", sentence);
}

void energy_record_end_warnings(struct energy_record *record)
{
    size_t length = strlen(record->warnings);
    if (record->more_warnings)
        snprintf(record->warnings + length, sizeof record->warnings - length,
            " And %u more warning%s of this kind.", record->more_warnings,
            record->more_warnings == 1 ? "" : "s");
}

int recorded_series_add(
    struct recorded_series *series, int64_t time_us, uint32_t segment, struct gput_error *error)
{
    if (series->count == series->capacity) {
        size_t capacity = series->capacity ? 2 * series->capacity : 256;
        if (!ARRAY_RESIZE(series->times_us, capacity) || !ARRAY_RESIZE(series->segments, capacity))
            return error_memory(error);
        series->capacity = capacity;
    }
    for (size_t i = 0; i < series->n_metrics; i++) {
        struct recorded_metric *metric = &series->metrics[i];
        if (metric->capacity < series->capacity) {
            if (!ARRAY_RESIZE(metric->values, series->capacity))
                return error_memory(error);
            metric->capacity = series->capacity;
        }
        metric->values[series->count] = NAN;
    }
    series->times_us[series->count] = time_us;
    series->segments[series->count++] = segment;
    return GPUT_OK;
}

static bool is_metric(const struct recorded_metric *metric, const char *name, const char *device)
{
    if (!device || !metric->device)
        return !device && !metric->device && strcmp(metric->name, name) == 0;
    size_t length = (size_t)(metric->device - 1 - metric->name);
    return strlen(name) == length && memcmp(metric->name, name, length) == 0 &&
           strcmp(metric->device, device) == 0;
}

/* "name", or "name:device"; NULL: no memory. */
static char *join_name(const char *name, const char *device)
{
    struct str joined = {0};
    str_append(&joined, name);
    if (device)
        str_printf(&joined, ":%s", device);
    return str_steal(&joined);
}

static struct recorded_metric *add_metric(
    struct recorded_series *series, const char *group, const char *name, const char *device)
{
    if (!ARRAY_EXTEND(series->metrics, series->n_metrics))
        return NULL;
    struct recorded_metric *metric = &series->metrics[series->n_metrics];
    *metric = (struct recorded_metric){.name = join_name(name, device),
        .group = group,
        .values = malloc(series->capacity * sizeof *metric->values),
        .capacity = series->capacity};
    if (!metric->name || !metric->values) {
        free(metric->name);
        free(metric->values);
        return NULL;
    }
    if (device)
        metric->device = metric->name + strlen(name) + 1;
    for (size_t i = 0; i < series->count; i++)
        metric->values[i] = NAN;
    series->n_metrics++;
    return metric;
}

bool recorded_is_power(const char *group, const char *name)
{
    return strcmp(group, "wattmeter") == 0 || strstr(name, "_power") || strstr(name, "nvidia_draw");
}

int recorded_series_set(struct recorded_series *series, const char *group, const char *name,
    const char *device, double value, struct gput_error *error)
{
    struct recorded_metric *metric = NULL;
    if (strcmp(group, "experiment") != 0 && recorded_is_power(group, name) &&
        !(value >= 0 && value <= ENERGY_MACHINE_MAX_WATTS)) {
        series->n_implausible += value != -1;
        return GPUT_OK;
    }
    for (size_t i = 0; i < series->n_metrics && !metric; i++) {
        if (is_metric(&series->metrics[i], name, device))
            metric = &series->metrics[i];
    }
    if (!metric)
        metric = add_metric(series, group, name, device);
    if (!metric)
        return error_memory(error);
    metric->values[series->count - 1] = value;
    return GPUT_OK;
}
