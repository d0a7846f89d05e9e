#include "analysis/analyze/row_statistics.h"

#include <math.h>
#include <string.h>

void row_run_clear(struct row_run *run)
{
    run->rows = 0;
    run->uniform = true;
}

/* The sum of all values is NaN when one is; two sums in parallel are faster. Infinities of both
 * signs also give NaN: then each value is checked. */
static bool any_missing(const double *values)
{
    double even = 0, odd = 0;
    for (int c = 0; c < ROW_COLUMNS; c += 2) {
        even += values[c];
        odd += values[c + 1];
    }
    if (!isnan(even + odd))
        return false;
    for (int c = 0; c < ROW_COLUMNS; c++) {
        if (isnan(values[c]))
            return true;
    }
    return false;
}

void row_run_add(struct row_run *restrict run, const double *restrict values)
{
    if (run->uniform && any_missing(values)) {
        /* From here on each column has its own count. */
        for (int c = 0; c < ROW_COLUMNS; c++)
            run->count[c] = run->rows;
        run->uniform = false;
    }
    if (run->rows < ROW_KEPT_MAX)
        memcpy(run->kept[(size_t)run->rows], values, sizeof run->kept[0]);
    run->rows += 1;
    if (!run->uniform) {
        for (int c = 0; c < ROW_COLUMNS; c++) {
            if (!isnan(values[c])) {
                /* Add a value to a column that has a count of its own (Welford, relative to its
                 * first value). */
                double value = values[c];
                if (run->count[c] == 0) {
                    run->origin[c] = run->min[c] = run->max[c] = value;
                    run->mean[c] = run->squares[c] = run->sum[c] = 0;
                }
                run->count[c] += 1;
                run->sum[c] += value;
                double x = value - run->origin[c];
                double before = x - run->mean[c];
                run->mean[c] += before / run->count[c];
                run->squares[c] += before * (x - run->mean[c]);
                run->min[c] = value < run->min[c] ? value : run->min[c];
                run->max[c] = value > run->max[c] ? value : run->max[c];
            }
        }
    } else if (run->rows == 1) {
        /* Begin all columns with the first row. */
        memcpy(run->origin, values, sizeof run->origin);
        memcpy(run->sum, values, sizeof run->sum);
        memcpy(run->min, values, sizeof run->min);
        memcpy(run->max, values, sizeof run->max);
        memset(run->mean, 0, sizeof run->mean);
        memset(run->squares, 0, sizeof run->squares);
    } else {
        /* The fast path of rows: no branches, one division a row. */
        double share = 1.0 / run->rows;
        for (int c = 0; c < ROW_COLUMNS; c++) {
            double value = values[c];
            double x = value - run->origin[c];
            double before = x - run->mean[c];
            double mean = run->mean[c] + before * share;
            run->mean[c] = mean;
            run->squares[c] += before * (x - mean);
            run->sum[c] += value;
            run->min[c] = value < run->min[c] ? value : run->min[c];
            run->max[c] = value > run->max[c] ? value : run->max[c];
        }
    }
}

/* Adds `value` to a sum and its rounding error to `*error` (Neumaier). */
static inline double compensated_add(double sum, double value, double *error)
{
    double result = sum + value;
    double other = result - sum;
    *error += (sum - (result - other)) + (value - other);
    return result;
}

/* Merges a column of a run into the total (Chan). */
static void total_merge_column(struct row_total *total, const struct row_run *run, int c, double n)
{
    if (n == 0)
        return;
    if (total->count[c] == 0) {
        total->origin[c] = run->origin[c];
        total->min[c] = run->min[c];
        total->max[c] = run->max[c];
    }
    double before = total->count[c];
    double offset = (run->origin[c] - total->origin[c]) + run->mean[c];
    double distance = before > 0 ? offset - total->offsets[c] / before : 0;
    total->count[c] = before + n;
    total->squares[c] += run->squares[c] + distance * distance * (before * n / total->count[c]);
    total->offsets[c] += offset * n;
    total->sum[c] = compensated_add(total->sum[c], run->sum[c], &total->sum_error[c]);
    total->min[c] = run->min[c] < total->min[c] ? run->min[c] : total->min[c];
    total->max[c] = run->max[c] > total->max[c] ? run->max[c] : total->max[c];
}

void row_total_merge(struct row_total *restrict total, const struct row_run *restrict run)
{
    if (run->rows == 0)
        return;
    if (run->uniform && !total->missing && total->rows > 0) {
        /* Merge all columns at once: no value is missing on either side. */
        double before = (double)total->rows;
        double n = run->rows;
        double share = 1.0 / before;
        double weight = before * n / (before + n);
        for (int c = 0; c < ROW_COLUMNS; c++) {
            double offset = (run->origin[c] - total->origin[c]) + run->mean[c];
            double distance = offset - total->offsets[c] * share;
            total->squares[c] += run->squares[c] + distance * distance * weight;
            total->offsets[c] += offset * n;
            total->sum[c] = compensated_add(total->sum[c], run->sum[c], &total->sum_error[c]);
            total->min[c] = run->min[c] < total->min[c] ? run->min[c] : total->min[c];
            total->max[c] = run->max[c] > total->max[c] ? run->max[c] : total->max[c];
            total->count[c] += n;
        }
    } else {
        for (int c = 0; c < ROW_COLUMNS; c++)
            total_merge_column(total, run, c, run->uniform ? run->rows : run->count[c]);
        total->missing = total->missing || !run->uniform;
    }
    size_t n = (size_t)run->rows;
    if (total->rows + n <= ROW_KEPT_MAX)
        memcpy(total->kept[total->rows], run->kept, n * sizeof run->kept[0]);
    total->rows += n;
}

/* Mean and standard deviation of the kept rows, in numpy's order of additions: fewer than 8 values
 * are added one after the other. */
static void compute_kept(
    const struct row_total *total, unsigned column, struct gput_statistics *statistics)
{
    double count = total->count[column], sum = 0, squares = 0;
    for (size_t i = 0; i < total->rows; i++) {
        if (!isnan(total->kept[i][column]))
            sum += total->kept[i][column];
    }
    statistics->mean = sum / count;
    for (size_t i = 0; i < total->rows; i++) {
        double distance = total->kept[i][column] - statistics->mean;
        if (!isnan(total->kept[i][column]))
            squares += distance * distance;
    }
    statistics->std = sqrt(squares / count);
}

struct gput_statistics row_total_statistics(
    const struct row_total *total, unsigned column, uint64_t rows)
{
    double count = total->count[column];
    uint64_t n_missing = rows - (uint64_t)count;
    bool may_be_more = n_missing > 0 && total->min[column] == 0 && total->max[column] == 0;
    if (count == 0 || may_be_more)
        return (struct gput_statistics){NAN, NAN, NAN, NAN, n_missing};
    double sum = total->sum[column] + total->sum_error[column];
    struct gput_statistics statistics = {
        .min = total->min[column],
        .max = total->max[column],
        .mean = sum / count,
        .std = sqrt(total->squares[column] / count),
        .n_missing = n_missing,
    };
    if (total->rows <= ROW_KEPT_MAX)
        compute_kept(total, column, &statistics);
    return statistics;
}
