/*
 * The content of a power recording: a number for each moment and metric. Filled only by the readers
 * of its files (energy_recording.h).
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"

#include <gputracker/energy.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorded_metric {
    char *name;         /* with the GPU of a metric of one GPU: "per_gpu_power_draw:0"; owned */
    const char *device; /* in the name, "0"; NULL: not of one GPU */
    const char *group;  /* "cpu", "gpu", "experiment", "wattmeter"; static text */
    double *values;     /* one for each moment of its series; NaN: missing; owned */
    size_t capacity;
};

/* Metrics with the same moments. */
struct recorded_series {
    int64_t *times_us;  /* files/power/recording_date.h */
    uint32_t *segments; /* 0, 1, …; the curve has a gap between two of them */
    size_t count, capacity;
    struct recorded_metric *metrics;
    size_t n_metrics;
    size_t n_implausible; /* powers that were left out: below 0, or more than a computer draws */
};

enum { RECORDED_POWER, RECORDED_EXPERIMENT, RECORDED_WATTMETER, RECORDED_SERIES };

struct energy_record {
    char *folder;
    struct recorded_series series[RECORDED_SERIES];
    struct doc *metadata;   /* NULL: no such file; owned, as are the next two */
    struct doc *model;      /* model_summary.json */
    struct doc *experiment; /* results_exp.json, also where it gave no series */
    char warnings[768];     /* what was skipped, a sentence each; "" */
    unsigned more_warnings; /* that did not fit */
};

/* Creates an empty record of that folder. NULL without memory. */
struct energy_record *energy_record_create(const char *folder);
void energy_record_destroy(struct energy_record *record); /* NULL is fine */

/* Adds a warning, one sentence; those that do not fit are counted. */
void energy_record_warn(struct energy_record *record, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds how many did not fit. To be called after the last warning. */
void energy_record_end_warnings(struct energy_record *record);

/* ---- Metrics ---- */

/* AIPowerMeter's metric with the power of this figure of energy, in watts: "intel_power" of the
 * packages. NULL: it has none. */
const char *recorded_metric_of_figure(enum gput_energy_figure figure);

/* The current name of a metric that recordings of 2022 or 2023 call `name`, as in AIPowerMeter's
 * own reader; `name` where it is the same. */
const char *recorded_current_name(const char *name);

/* Whether the metric is a power in watts, by the names that recordings have. */
bool recorded_is_power(const char *group, const char *name);

/* Whether the metric is called so: its name without its GPU is the first `length` bytes of `name`.
 */
bool recorded_has_name(const struct recorded_metric *metric, const char *name, size_t length);

/* Adds a moment; its values are NaN until they are set. Errors: GPUT_ERROR_MEMORY. */
int recorded_series_add(
    struct recorded_series *series, int64_t time_us, uint32_t segment, struct gput_error *error);

/* Sets a metric at the last moment; the metric is made when it is new, and NaN is not set. What no
 * computer can draw is left out and counted, except -1, which AIPowerMeter writes where the machine
 * has no such counter. */
int recorded_series_set(struct recorded_series *series, const char *group, const char *name,
    double value, struct gput_error *error);

/* The same for a metric of a GPU (NULL: of all), by its current name. */
int recorded_series_set_gpu(struct recorded_series *series, const char *name, const char *gpu,
    double value, struct gput_error *error);
