/*
 * Statistics of the durations of calls, in one pass, like row_statistics.h for rows.
 */
#pragma once

#include "analysis/analyze/quantile_sketch.h"

#include <gputracker/analysis.h>

/* All zeroes is empty. */
struct duration_statistics {
    uint64_t count;
    double origin; /* the first duration; the mean is relative to it */
    double mean;
    double squares; /* sum of squared distances from the mean */
    double min;
    double max;
    double total;
    double total_error; /* the rounding error of the total */
    struct quantile_sketch sketch;
};

void duration_statistics_finish(struct duration_statistics *statistics);

/* Adds a duration; `quantiles`: also for duration_statistics_percentiles(). Errors:
 * GPUT_ERROR_MEMORY. */
int duration_statistics_add(struct duration_statistics *statistics, double seconds, bool quantiles,
    struct gput_error *error);

/* All NaN when there was no call. */
struct gput_statistics duration_statistics_get(const struct duration_statistics *statistics);

/* The sum of all durations in seconds. */
double duration_statistics_total(const struct duration_statistics *statistics);
