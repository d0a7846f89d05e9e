/*
 * The content of a power recording: a number for each moment and metric. Only the readers of its
 * files (energy_recording.h) fill it.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"

#include <gputracker/energy.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorded_metric {
    char *name;         /* for a single GPU with its index: "per_gpu_power_draw:0"; owned */
    const char *device; /* its index in `name`, "0"; NULL: not of a single GPU */
    const char *group;  /* "cpu", "gpu", "experiment", "wattmeter"; static text */
    double *values;     /* one for each moment of its series; NaN: missing; owned */
    size_t capacity;
};

/* Metrics with the same moments. */
struct recorded_series {
    int64_t *times_us;  /* as in files/power/recording_date.h */
    uint32_t *segments; /* 0, 1, …; the curve is interrupted between segments */
    size_t count, capacity;
    struct recorded_metric *metrics;
    size_t n_metrics;
    size_t n_implausible; /* number of powers that were skipped: below 0, or more than a computer
                             draws */
};

enum { RECORDED_POWER, RECORDED_EXPERIMENT, RECORDED_WATTMETER, RECORDED_SERIES };

struct energy_record {
    char *folder;
    struct recorded_series series[RECORDED_SERIES];
    struct doc *metadata;   /* NULL: no such file; owned, as are the two below */
    struct doc *model;      /* model_summary.json */
    struct doc *experiment; /* results_exp.json, even if it gave no series */
    char warnings[768];     /* a sentence for each part that was skipped; "": none */
    unsigned more_warnings; /* number of warnings that did not fit */
};

/* Creates an empty record of that folder. NULL without memory. */
struct energy_record *energy_record_create(const char *folder);
void energy_record_destroy(struct energy_record *record); /* NULL is fine */

/* Adds a warning, one sentence; those that do not fit are counted. */
void energy_record_warn(struct energy_record *record, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the number of warnings that did not fit. Call it after the last warning. */
void energy_record_end_warnings(struct energy_record *record);

/* ---- Metrics ---- */

/* Returns AIPowerMeter's metric for the power of a figure of energy, in watts: "intel_power" for
 * the packages. NULL: it has none. */
const char *recorded_metric_of_figure(enum gput_energy_figure figure);

/* Returns the current name of a metric that recordings of 2022 or 2023 call `name`, as
 * AIPowerMeter's own reader does; `name` if it has not changed. */
const char *recorded_current_name(const char *name);

/* Whether the metric is a power in watts, by its name. */
bool recorded_is_power(const char *group, const char *name);

/* Whether the first `length` bytes of `name` are the name of the metric, without its GPU. */
bool recorded_has_name(const struct recorded_metric *metric, const char *name, size_t length);

/* Adds a moment; its values are NaN until they are set. Errors: GPUT_ERROR_MEMORY. */
int recorded_series_add(
    struct recorded_series *series, int64_t time_us, uint32_t segment, struct gput_error *error);

/* Sets a metric at the last moment, adding it if it is new. NaN is ignored. A power that no
 * computer can draw is skipped and counted, except -1, which AIPowerMeter writes if the machine has
 * no such counter. */
int recorded_series_set(struct recorded_series *series, const char *group, const char *name,
    double value, struct gput_error *error);

/* The same for a metric of a GPU (NULL: of all), under its current name. */
int recorded_series_set_gpu(struct recorded_series *series, const char *name, const char *gpu,
    double value, struct gput_error *error);
