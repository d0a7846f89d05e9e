/*
 * Percentiles of a stream in bounded memory. Up to QUANTILE_EXACT values are kept as they are and
 * give exact percentiles. Of more, only counts are kept, in buckets whose bounds grow by 1 %: a
 * percentile is then within 0.5 % of the value of that rank (DDSketch). Figures between -1e-12 and
 * 1e-12 count as zero, and those beyond 1e18 as 1e18. So no stream needs more than 120 KB, and
 * usual figures need 1 to 4 KB.
 */
#pragma once

#include "base/error.h"

#include <gputracker/analysis.h>

#include <stdint.h>

/* Percentiles of a measurement; NaN as in the statistics. */
struct gput_percentiles {
    double p50;
    double p95;
    double p99;
};

#define QUANTILE_EXACT 256

/* All zeroes is empty. */
struct quantile_sketch {
    uint64_t count;
    double min;
    double max;
    double *values;    /* while there are at most QUANTILE_EXACT; owned */
    uint64_t *buckets; /* afterwards: counts of the keys from first_key on; owned */
    int first_key;
    int n_buckets;
    double last_value; /* the bucket of a repeated value is not computed again */
    int last_key;
};

void quantile_sketch_finish(struct quantile_sketch *sketch);

/* Adds a value; NaN is skipped. Errors: GPUT_ERROR_MEMORY. */
int quantile_sketch_add(struct quantile_sketch *sketch, double value, struct gput_error *error);

/* The quantile `q` (0 to 1), interpolated while exact. NaN without values. Sorts the kept values.
 */
double quantile_sketch_get(struct quantile_sketch *sketch, double q);

/* The percentiles that reports show. */
struct gput_percentiles quantile_sketch_percentiles(struct quantile_sketch *sketch);

/*
 * Statistics of the durations of calls, in one pass, like row_statistics.h for rows.
 */

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
