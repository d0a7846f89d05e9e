#include "analysis/analyze/change_points.h"

#include "base/doubles.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Values in the running median, which leaves single peaks out. */
#define WINDOW 5

/* Minimum noise, as a share of the range and of the largest value. */
#define RANGE_SHARE 0.03
#define SIZE_SHARE 0.005

/* Times the usual penalty (BIC): neighbors are not independent, here and in what is measured. */
#define PENALTY_FACTOR 4

/* Sums over the first i values of a series that is in units of its least noise. */
struct sums {
    double value, squared, timed; /* x, x * x, i * x */
};

struct division {
    size_t n, n_series;
    struct sums *sums; /* of series s: from s * (n + 1) on */
    double *best;      /* the least cost of the first i values */
    size_t *last;      /* where the last segment of that begins */
    size_t *open;      /* beginnings that may still be the best */
    double *totals;    /* the cost with each of them, without the penalty */
};

/* ---- Noise ---- */

/* Returns the minimum noise; 0: the series never changes. */
static double least_noise(const struct change_series *series, size_t n)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, series->values[i]);
        high = fmax(high, series->values[i]);
    }
    double noise = fmax(RANGE_SHARE * (high - low), SIZE_SHARE * fmax(fabs(low), fabs(high)));
    return low == high ? 0 : fmax(noise, series->min_noise);
}

/* ---- Costs ---- */

/* Adds a series up, in units of its noise. */
static void add_up(struct sums *sums, const double *values, size_t n, double scale)
{
    double origin = values[0];
    sums[0] = (struct sums){0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        double x = (values[i] - origin) / scale;
        sums[i + 1].value = sums[i].value + x;
        sums[i + 1].squared = sums[i].squared + x * x;
        sums[i + 1].timed = sums[i].timed + (double)i * x;
    }
}

/* Squared residuals of a line through values from `begin` to before `end`, of one series. */
static double residuals(const struct sums *sums, size_t begin, size_t end)
{
    double n = (double)(end - begin), middle = ((double)begin + (double)end - 1) / 2;
    double value = sums[end].value - sums[begin].value;
    double squared = sums[end].squared - sums[begin].squared - value * value / n;
    double timed = sums[end].timed - sums[begin].timed - middle * value;
    double spread = n * (n * n - 1) / 12;
    return fmax(squared - timed * timed / spread, 0);
}

/* Twice the negative logarithm of how likely the values are, with a line and a noise of their own:
 * a busy stretch is noisier than an idle one. */
static double cost(const struct division *division, size_t begin, size_t end)
{
    double sum = 0, n = (double)(end - begin);
    for (size_t s = 0; s < division->n_series; s++) {
        double variance = residuals(&division->sums[s * (division->n + 1)], begin, end) / n;
        sum += n * log(fmax(variance, 1));
    }
    return sum;
}

/* ---- The best division ---- */

/* Finds the cheapest division of all values into segments: of the first ones, one value more at
 * a time. A beginning that cannot be the best any more is given up (PELT). */
static void divide(struct division *division, double penalty)
{
    size_t n_open = 0;
    division->best[0] = -penalty;
    for (size_t end = CHANGE_POINTS_MIN_LENGTH; end <= division->n; end++) {
        double best = INFINITY;
        size_t kept = 0;
        /* A beginning that has become possible: 0, or after a first segment. */
        size_t begin = end - CHANGE_POINTS_MIN_LENGTH;
        if (begin == 0 || begin >= CHANGE_POINTS_MIN_LENGTH)
            division->open[n_open++] = begin;
        for (size_t i = 0; i < n_open; i++) {
            begin = division->open[i];
            division->totals[i] = division->best[begin] + cost(division, begin, end);
            if (division->totals[i] + penalty < best) {
                best = division->totals[i] + penalty;
                division->last[end] = begin;
            }
        }
        division->best[end] = best;
        for (size_t i = 0; i < n_open; i++) {
            if (division->totals[i] <= best)
                division->open[kept++] = division->open[i];
        }
        n_open = kept;
    }
}

static size_t count_changes(const struct division *division)
{
    size_t count = 0;
    for (size_t end = division->n; division->last[end] > 0; end = division->last[end])
        count++;
    return count;
}

/* Divides, with a higher penalty as long as there are too many changes. */
static void find(struct division *division, size_t changes[CHANGE_POINTS_MAX], size_t *count)
{
    double penalty =
        PENALTY_FACTOR * (2 * (double)division->n_series + 1) * log((double)division->n);
    divide(division, penalty);
    while ((*count = count_changes(division)) > CHANGE_POINTS_MAX) {
        penalty *= 2;
        divide(division, penalty);
    }
    size_t at = *count;
    for (size_t end = division->n; division->last[end] > 0; end = division->last[end])
        changes[--at] = division->last[end];
}

int change_points_find(struct change_series *series, size_t n_series, size_t n,
    size_t changes[CHANGE_POINTS_MAX], size_t *count, struct gput_error *error)
{
    *count = 0;
    if (n < 2 * CHANGE_POINTS_MIN_LENGTH || n > CHANGE_POINTS_VALUES || n_series == 0)
        return GPUT_OK;
    double *scratch = malloc(n * sizeof *scratch);
    struct division division = {.n = n,
        .sums = malloc(n_series * (n + 1) * sizeof *division.sums),
        .best = malloc((n + 1) * sizeof *division.best),
        .last = calloc(n + 1, sizeof *division.last),
        .open = malloc((n + 1) * sizeof *division.open),
        .totals = malloc((n + 1) * sizeof *division.totals)};
    bool has_memory = scratch && division.sums && division.best && division.last && division.open &&
                      division.totals;
    for (size_t s = 0; has_memory && s < n_series; s++) {
        double scale = least_noise(&series[s], n);
        /* Make each value the median of those around it. */
        memcpy(scratch, series[s].values, n * sizeof *scratch);
        for (size_t i = WINDOW / 2; i + WINDOW / 2 < n; i++) {
            double window[WINDOW];
            memcpy(window, &scratch[i - WINDOW / 2], sizeof window);
            qsort(window, WINDOW, sizeof *window, doubles_compare);
            series[s].values[i] = window[WINDOW / 2];
        }
        if (scale > 0)
            add_up(&division.sums[division.n_series++ * (n + 1)], series[s].values, n, scale);
    }
    if (has_memory && division.n_series > 0)
        find(&division, changes, count);
    free(scratch);
    free(division.sums);
    free(division.best);
    free(division.last);
    free(division.open);
    free(division.totals);
    return has_memory ? GPUT_OK : error_memory(error);
}
