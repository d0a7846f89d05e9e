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

/* Ends a segment of power_metrics.json, as a JSON string on its own line. */
#define ENERGY_RECORDING_SEGMENT_END "END OF RECORDING SEGMENT"

#define ENERGY_RECORDING_JSON "power_metrics.json"

/*
 * The table power_metrics of this database has a row for each number, with the columns
 *
 *     date     as in power_metrics.json
 *     segment  0, 1, …; the curve has a gap between two of them
 *     device   "cpu" or "gpu"
 *     name     the metric
 *     key      the process or GPU that the number is of; NULL where the metric is one number
 *     value
 *
 * The rows of a moment are written in one transaction.
 */
#define ENERGY_RECORDING_SQLITE "power_metrics.sqlite"

/*
 * Reads a folder. On success the caller calls energy_record_destroy(); on failure *record is NULL.
 * Errors: GPUT_ERROR_NOT_FOUND (no folder, or nothing recorded in it), GPUT_ERROR_FORMAT (a line,
 * not the last, that is not JSON), GPUT_ERROR_PERMISSION, GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
int energy_recording_read(
    const char *folder, struct energy_record **record, struct gput_error *error);
