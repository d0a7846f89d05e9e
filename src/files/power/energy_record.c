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

void energy_record_destroy(struct energy_record *record)
{
    if (!record)
        return;
    for (int i = 0; i < RECORDED_SERIES; i++) {
        struct recorded_series *series = &record->series[i];
        for (size_t k = 0; k < series->n_metrics; k++) {
            free(series->metrics[k].name);
            free(series->metrics[k].values);
        }
        free(series->metrics);
        free(series->times_us);
        free(series->segments);
    }
    doc_destroy(record->metadata);
    doc_destroy(record->model);
    doc_destroy(record->experiment);
    free(record->folder);
    free(record);
}

/* Space for the sentence with the number of further warnings. */
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

/* ---- Names ---- */

const char *recorded_metric_of_figure(enum gput_energy_figure figure)
{
    static const char *const names[GPUT_ENERGY_FIGURE_COUNT] = {
        [GPUT_ENERGY_PACKAGE] = "intel_power",
        [GPUT_ENERGY_CORE] = "total_cpu_power",
        [GPUT_ENERGY_UNCORE] = "uncore_power",
        [GPUT_ENERGY_DRAM] = "total_dram_power",
        [GPUT_ENERGY_PSYS] = "psys_power",
        [GPUT_ENERGY_GPU] = "nvidia_power",
    };
    return names[figure];
}

const char *recorded_current_name(const char *name)
{
    static const char *const names[][2] = {
        {"per_gpu_attributable_mem_use", "nvidia_mem_use"},
        {"per_gpu_absolute_percent_usage", "nvidia_sm_use"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i][0], name) == 0)
            return names[i][1];
    }
    return name;
}

bool recorded_is_power(const char *group, const char *name)
{
    return strcmp(group, "wattmeter") == 0 || strstr(name, "_power") || strstr(name, "nvidia_draw");
}

bool recorded_has_name(const struct recorded_metric *metric, const char *name, size_t length)
{
    size_t own =
        metric->device ? (size_t)(metric->device - 1 - metric->name) : strlen(metric->name);
    return own == length && memcmp(metric->name, name, length) == 0;
}

/* ---- Values ---- */

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

/* Adds a metric "name", or "name:device", without values so far. Returns NULL without memory. */
static struct recorded_metric *add_metric(
    struct recorded_series *series, const char *group, const char *name, const char *device)
{
    if (!ARRAY_EXTEND(series->metrics, series->n_metrics))
        return NULL;
    struct str full = {0};
    str_append(&full, name);
    if (device)
        str_printf(&full, ":%s", device);
    struct recorded_metric *metric = &series->metrics[series->n_metrics];
    *metric = (struct recorded_metric){.name = str_steal(&full),
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

/* Sets a metric at the last moment. */
static int set(struct recorded_series *series, const char *group, const char *name,
    const char *device, double value, struct gput_error *error)
{
    /* "nan" of a wattmeter is a failed reading. */
    if (isnan(value) && strcmp(group, "wattmeter") != 0)
        return GPUT_OK;
    if (strcmp(group, "experiment") != 0 && recorded_is_power(group, name) &&
        !(value >= 0 && value <= ENERGY_MACHINE_MAX_WATTS)) {
        series->n_implausible += value != -1;
        return GPUT_OK;
    }

    struct recorded_metric *metric = NULL;
    size_t length = strlen(name);
    for (size_t i = 0; i < series->n_metrics && !metric; i++) {
        struct recorded_metric *known = &series->metrics[i];
        bool is_same_device = device && known->device ? strcmp(device, known->device) == 0
                                                      : !device && !known->device;
        if (is_same_device && recorded_has_name(known, name, length))
            metric = known;
    }
    if (!metric)
        metric = add_metric(series, group, name, device);
    if (!metric)
        return error_memory(error);
    metric->values[series->count - 1] = value;
    return GPUT_OK;
}

int recorded_series_set(struct recorded_series *series, const char *group, const char *name,
    double value, struct gput_error *error)
{
    return set(series, group, name, NULL, value, error);
}

int recorded_series_set_gpu(struct recorded_series *series, const char *name, const char *gpu,
    double value, struct gput_error *error)
{
    if (!gpu || strcmp(gpu, "all") != 0)
        return set(series, "gpu", recorded_current_name(name), gpu, value, error);
    /* the sum of all GPUs, which must not be added to theirs */
    if (strcmp(name, "per_gpu_attributable_power") == 0)
        return set(series, "gpu", "nvidia_attributable_power", NULL, value, error);
    return GPUT_OK;
}
