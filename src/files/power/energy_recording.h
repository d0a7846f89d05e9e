/*
 * Reads the folder of a power recording, AIPowerMeter's or ours: power_metrics.json (JSON lines) or
 * power_metrics.sqlite, results_exp.json, model_summary.json, metadata.json, omegawatt.csv. All
 * files but the first may be missing; the first may be missing if there is a wattmeter's.
 *
 * Lines are read one at a time; a number for each line and metric is kept in memory. A CPU metric
 * that is an object of pids (or a list) counts as the sum. A GPU metric that is an object becomes
 * one metric for each GPU. A metric is missing if it is absent, null or, for power, -1.
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
 *     segment  0, 1, …; the curve is interrupted between segments
 *     device   "cpu" or "gpu"
 *     name     the metric
 *     key      process or GPU of the number; NULL if the metric has only one
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
