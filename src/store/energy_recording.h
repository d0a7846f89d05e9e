/*
 * A folder of a power recording, AIPowerMeter's and ours: power_metrics.json (JSON lines) or
 * power_metrics.sqlite, results_exp.json, model_summary.json, metadata.json, omegawatt.csv. Every
 * file but the first may be missing, and the first too when there is a wattmeter's.
 *
 * Lines are read one at a time; what stays in memory is a number for each line and metric. A metric
 * that is an object of pids (or a list) counts as its sum; one that is absent, null or, for power,
 * -1 is missing.
 */
#ifndef STORE_ENERGY_RECORDING_H
#define STORE_ENERGY_RECORDING_H

#include "base/doc.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* What closes a segment of power_metrics.json, as a JSON string on a line of its own. */
#define ENERGY_RECORDING_SEGMENT_END "END OF RECORDING SEGMENT"

struct recorded_metric {
    char *name;        /* owned */
    const char *group; /* "cpu", "gpu", "experiment", "wattmeter"; static text */
    double *values;    /* one for each moment of its series; NaN: missing; owned */
    size_t capacity;
};

/* Metrics that share their moments. */
struct recorded_series {
    int64_t *times_us;  /* store/recording_date.h */
    uint32_t *segments; /* 0, 1, … : nothing is known between two of them */
    size_t count, capacity;
    struct recorded_metric *metrics;
    size_t n_metrics;
};

enum { RECORDED_POWER, RECORDED_EXPERIMENT, RECORDED_WATTMETER, RECORDED_SERIES };

struct energy_record {
    char *folder;
    struct recorded_series series[RECORDED_SERIES];
    struct doc *metadata; /* NULL: no such file; owned, as are the next two */
    struct doc *model;    /* model_summary.json */
    struct doc
        *experiment;   /* results_exp.json as it is, also where no series could be made of it */
    char warning[256]; /* what was left out; "" */
};

/*
 * Reads a folder. On success the caller calls energy_record_destroy(); on failure *record is NULL.
 * Errors: GPUT_ERROR_NOT_FOUND (no folder, or nothing recorded in it), GPUT_ERROR_FORMAT (a line in
 * the middle that is no JSON), GPUT_ERROR_PERMISSION, GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
int energy_record_read(const char *folder, struct energy_record **record, struct gput_error *error);
void energy_record_destroy(struct energy_record *record); /* NULL is fine */

/* ---- For the readers of single files ---- */

/* Adds a moment; its values are NaN until they are set. Errors: GPUT_ERROR_MEMORY. */
int recorded_series_add(
    struct recorded_series *series, int64_t time_us, uint32_t segment, struct gput_error *error);

/* Sets a metric at the last moment; the metric is made when it is new. */
int recorded_series_set(struct recorded_series *series, const char *group, const char *name,
    double value, struct gput_error *error);

/* Keeps the first thing that is worth a warning. */
void energy_record_warn(struct energy_record *record, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* energy_recording_power.c, …_sqlite.c, …_experiment.c, …_wattmeter.c: read one file into the
 * record; *found tells whether it is there. */
int energy_record_read_power(struct energy_record *record, bool *found, struct gput_error *error);
int energy_record_read_sqlite(struct energy_record *record, bool *found, struct gput_error *error);
int energy_record_read_experiment(struct energy_record *record, struct gput_error *error);
int energy_record_read_wattmeter(
    struct energy_record *record, bool *found, struct gput_error *error);

#endif
