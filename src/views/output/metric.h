/*
 * Metrics: figures of results under the names that stores of metrics know. Two tables of them:
 * Prometheus' names, and those of OpenTelemetry's semantic conventions. Pages and what is sent to
 * receivers walk over them.
 */
#pragma once

#include "model/results.h"
#include "model/results_columns.h"

#include <stdbool.h>
#include <stddef.h>

enum metric_kind {
    METRIC_GAUGE,
    METRIC_COUNTER, /* only grows, from 0 at the start of the session */
    METRIC_SUM,     /* goes up and down, and those of parts add up: OpenTelemetry's UpDownCounter */
};

struct metric {
    /* Prometheus': that of a counter without its _total; it ends with the unit, if it has one. */
    const char *name;
    enum metric_kind kind;
    const char *column; /* of the results, or of a GPU (model/results_columns.h) */
    const char *help;
    bool (*applies)(const struct gput_results *results); /* NULL: always */
    const char *unit;                                    /* OpenTelemetry's, of UCUM */
    const char *attribute, *word; /* label that distinguishes rows of one name; NULL: nothing */
    const char *hw_id, *hw_type;  /* OpenTelemetry's, of the part of the machine; NULL: none, or a
                                     GPU */
};

struct metric_table {
    const struct metric *rows;
    size_t count;
    const struct metric *gpu_rows; /* of each GPU */
    size_t gpu_count;
};

/* Rows with the same name follow each other. */
const struct metric_table *metrics_of_prometheus(void);

/* Rows with the same name follow each other. What the conventions have no name for is not in it. */
const struct metric_table *metrics_of_opentelemetry(void);

/* The unit that the name ends with; NULL: none. */
const char *metric_unit_of_name(const struct metric *metric);

/* In the unit of the metric: percents become ratios. NaN: not known, or does not apply. */
double metric_value(const struct metric *metric, const struct gput_results *results);
double metric_gpu_value(const struct metric *metric, const struct gput_gpu *gpu);
