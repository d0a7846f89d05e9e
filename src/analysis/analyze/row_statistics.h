/*
 * Minimum, maximum, mean and standard deviation of all columns of many rows at once, in one pass
 * and exact to the last digits.
 *
 * Rows are first added to a run; a finished run is merged into any number of totals. So a row in
 * ten code blocks is added once, not ten times. Both keep figures relative to their first row and
 * update the mean and the squared distances from it (Welford; Chan for the merge), so that a small
 * spread around a large mean keeps its digits; sums over runs are compensated.
 *
 * Of fewer than 8 rows, as many code blocks have, the rows themselves are kept. Their figures are
 * computed as pandas computes them, bit for bit. So the text agrees with that of the Python tool
 * also where the last shown digit is a tie. (For more rows numpy uses another order of additions.)
 *
 * NaN is a missing value and is skipped. When all other values are 0, as unseen use would be, the
 * figures are unknown.
 */
#pragma once

#include "model/measurement_list.h"

#include <gputracker/analysis.h>

#include <stdbool.h>
#include <stdint.h>

/* The measurements of a tracking file, filled up to a whole number of SIMD registers. */
#define ROW_COLUMNS ((TRACKED_MEASUREMENTS + 1) / 2 * 2)

/* The number of rows that are kept. */
#define ROW_KEPT_MAX 7

/* Longer runs are merged, so that rounding in their means cannot add up. */
#define ROW_RUN_MAX 1024

/* Consecutive rows that belong to the same code blocks. */
struct row_run {
    double rows;
    bool uniform; /* no value was missing: every count is `rows` */
    double count[ROW_COLUMNS];
    double origin[ROW_COLUMNS]; /* the first value; the means are relative to it */
    double mean[ROW_COLUMNS];
    double squares[ROW_COLUMNS]; /* sum of squared distances from the mean */
    double sum[ROW_COLUMNS]; /* of the values themselves, for the last digit of the total mean */
    double min[ROW_COLUMNS];
    double max[ROW_COLUMNS];
    double kept[ROW_KEPT_MAX][ROW_COLUMNS]; /* the first rows */
};

/* The sum of merged runs. All zeroes is empty. */
struct row_total {
    uint64_t rows;
    bool missing; /* some run was not uniform */
    double count[ROW_COLUMNS];
    double origin[ROW_COLUMNS];
    double offsets[ROW_COLUMNS]; /* sum of value - origin */
    double sum[ROW_COLUMNS];     /* of the values themselves */
    double sum_error[ROW_COLUMNS];
    double squares[ROW_COLUMNS];
    double min[ROW_COLUMNS];
    double max[ROW_COLUMNS];
    double kept[ROW_KEPT_MAX][ROW_COLUMNS]; /* all rows, while there are few enough */
};

/* Makes the run empty. */
void row_run_clear(struct row_run *run);

/* Adds a row of ROW_COLUMNS values; unused columns may have any number. */
void row_run_add(struct row_run *run, const double *values);

/* Adds all rows of a run; an empty run changes nothing. */
void row_total_merge(struct row_total *total, const struct row_run *run);

/* The figures of one column over `rows` rows; all NaN when no row has a value, or when all values
 * are 0 and some are missing. */
struct gput_statistics row_total_statistics(
    const struct row_total *total, unsigned column, uint64_t rows);
