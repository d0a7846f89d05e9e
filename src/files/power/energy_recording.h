/*
 * Reads the folder of a power recording, AIPowerMeter's or ours: power_metrics.json (JSON lines) or
 * power_metrics.sqlite, results_exp.json, model_summary.json, metadata.json, omegawatt.csv. Every
 * file but the first may be missing, and the first too when there is a wattmeter's.
 *
 * Lines are read one at a time; in memory is a number for each line and metric. A metric of the CPU
 * that is an object of pids (or a list) counts as its sum; one of GPUs that is an object is a
 * metric for each GPU. One that is absent, null or, for power, -1 is missing.
 */
#pragma once

#include "files/power/energy_record.h"

#include <stdbool.h>

/* Ends a segment of power_metrics.json, as a JSON string on its own line. */
#define ENERGY_RECORDING_SEGMENT_END "END OF RECORDING SEGMENT"

/*
 * Reads a folder. On success the caller calls energy_record_destroy(); on failure *record is NULL.
 * Errors: GPUT_ERROR_NOT_FOUND (no folder, or nothing recorded in it), GPUT_ERROR_FORMAT (a line,
 * not the last, that is not JSON), GPUT_ERROR_PERMISSION, GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
int energy_recording_read(
    const char *folder, struct energy_record **record, struct gput_error *error);

/* The current name of a metric that recordings of 2022 or 2023 call `name`, as in AIPowerMeter's
 * own reader; `name` where it is the same. */
const char *energy_recording_gpu_name(const char *name);

/* Sets a metric of a GPU (NULL: of all) at the last moment; NaN: missing. */
int energy_recording_add_gpu(struct recorded_series *series, const char *name, const char *gpu,
    double value, struct gput_error *error);

/* energy_recording_power.c, …_sqlite.c, …_experiment.c, …_wattmeter.c: read one file into the
 * record; *found: whether it exists. */
int energy_recording_read_power(
    struct energy_record *record, bool *found, struct gput_error *error);
int energy_recording_read_sqlite(
    struct energy_record *record, bool *found, struct gput_error *error);
int energy_recording_read_experiment(struct energy_record *record, struct gput_error *error);
int energy_recording_read_wattmeter(
    struct energy_record *record, bool *found, struct gput_error *error);
