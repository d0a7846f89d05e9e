/*
 * The implementation of <gputracker/energy_recording.h>.
 */
#pragma once

#include "base/column.h"
#include "files/power/energy_record.h"

#include <gputracker/energy_recording.h>

#include <stddef.h>
#include <stdint.h>

struct gput_energy_recording {
    struct energy_record *record; /* owned */
};

/* Columns of a struct gput_energy_metric: all but its name. */
#define ENERGY_METRIC_COLUMNS 9
extern const struct column energy_metric_columns[ENERGY_METRIC_COLUMNS];

/* Columns of a struct energy_total: the recording as a whole. */
#define ENERGY_TOTAL_COLUMNS 2
extern const struct column energy_total_columns[ENERGY_TOTAL_COLUMNS];

struct energy_total {
    double joules; /* of CPU packages and GPUs alone: AIPowerMeter's total_power_draw */
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

/* The joules of the window as a row of energy_data has them (see sink_tracking.c): NaN for what was
 * not recorded. Shares of the command are not among them, and the platform is in no total. */
void energy_recording_figures(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, double joules[GPUT_ENERGY_FIGURE_COUNT]);

/* A metric in a window with its points; owned. */
struct energy_curve {
    struct gput_energy_metric metric;
    struct gput_energy_point *points;
    size_t count;
};

/* Fills a curve, whose points the caller frees, also on failure. Errors: GPUT_ERROR_NOT_FOUND (the
 * name), GPUT_ERROR_MEMORY. */
int energy_recording_points(const struct gput_energy_recording *recording, const char *name,
    const struct gput_energy_window *window, struct energy_curve *curve, struct gput_error *error);

/*
 * The integral of a curve over time, by trapezoids, segment by segment.
 */

struct energy_integral {
    double total; /* NaN without a curve, or for a single moment */
    double max;
    double seconds; /* of the curve, segment by segment */
    double single;  /* the value of the last point */
    size_t points;  /* between the bounds */
    size_t segments;
};
