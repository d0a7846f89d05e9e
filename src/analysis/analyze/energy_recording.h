/*
 * The implementation of <gputracker/energy_recording.h>.
 */
#pragma once

#include "base/column.h"
#include "files/power/energy_recording.h"

#include <gputracker/energy_recording.h>

struct gput_energy_recording {
    struct energy_record *record; /* owned */
};

/* Of a struct gput_energy_metric: all but its name. */
#define ENERGY_METRIC_COLUMNS 9
extern const struct column energy_metric_columns[ENERGY_METRIC_COLUMNS];

/* Of a struct energy_total: the recording as a whole. */
#define ENERGY_TOTAL_COLUMNS 2
extern const struct column energy_total_columns[ENERGY_TOTAL_COLUMNS];

struct energy_total {
    double joules; /* energy_recording_total_without_dram() */
    double seconds;
};

/* Over a window. */
struct energy_total energy_recording_total_of(
    const struct gput_energy_recording *recording, const struct gput_energy_window *window);

/*
 * The metrics of these names: the name of a metric with one value for each GPU selects all of them.
 * On success the caller frees *selected; the names belong to the recording. Errors:
 * GPUT_ERROR_NOT_FOUND (a name), GPUT_ERROR_MEMORY.
 */
int energy_recording_select(const struct gput_energy_recording *recording, const char *const *names,
    size_t n_names, const char ***selected, size_t *count, struct gput_error *error);

/* Whether a value of a metric is that of the time since the one before: what a counter grew by. */
bool energy_metric_is_of_interval(const char *name);

/* The moment at which the seconds of a recording start; 0 when it is empty. */
int64_t energy_recording_start_us(const struct gput_energy_recording *recording);

/* Joules in the window of what was recorded, NaN for the rest. The platform is in no total. */
struct energy_recording_parts {
    double packages, dram, gpus, platform;
};

struct energy_recording_parts energy_recording_parts(
    const struct gput_energy_recording *recording, const struct gput_energy_window *window);

/* As gput_energy_recording_total, of CPU packages and GPUs alone: AIPowerMeter's total_power_draw.
 */
double energy_recording_total_without_dram(
    const struct gput_energy_recording *recording, const struct gput_energy_window *window);
