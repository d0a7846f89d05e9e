#include "analysis/size/size_bound.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The spread of the logarithm that is assumed for one or two runs, and its degrees of freedom.
 * It is typical of programs that do the same in each run. */
#define ASSUMED_SPREAD 0.1
#define ASSUMED_FREEDOM 2

/* With fewer than FEW_RUNS runs the spread is so uncertain that the bound is limited to
 * MAX_OF_FEW times the highest value. */
#define FEW_RUNS 5
#define MAX_OF_FEW 3

/* A killed run wanted at least this many times what it had, as in VPA. */
#define MIN_AFTER_KILL 1.2

/* Values grow with a covariate if it explains this part of their variance, and runs have at
 * least this many different covariates, the largest this many times the smallest. */
#define MIN_EXPLAINED 0.5
#define MIN_COVARIATES 4
#define MIN_COVARIATE_RATIO 1.5

/* ---- Distributions ---- */

/* Returns the quantile of the normal distribution (Acklam, with one step of Halley's method). */
static double normal_quantile(double p)
{
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,
        -2.759285104469687e+02, 1.383577518672690e+02, -3.066479806614716e+01,
        2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,
        -1.556989798598866e+02, 6.680131188771972e+01, -1.328068155288572e+01};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01,
        -2.400758277161838e+00, -2.549732539343734e+00, 4.374664141464968e+00,
        2.938163982698783e+00};
    static const double d[] = {
        7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
    double x, q, r;
    if (p < 0.02425 || p > 1 - 0.02425) {
        q = sqrt(-2 * log(p < 0.5 ? p : 1 - p));
        x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
            ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
        x = p < 0.5 ? x : -x;
    } else {
        q = p - 0.5;
        r = q * q;
        x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
            (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
    }
    double e = 0.5 * erfc(-x / M_SQRT2) - p, u = e * sqrt(2 * M_PI) * exp(x * x / 2);
    return x - u / (1 + x * u / 2);
}

/* Hill's algorithm 396; one and two degrees of freedom have closed forms. */
double size_student_quantile(double probability, double freedom)
{
    double p = 2 * (1 - probability);
    if (freedom <= 1)
        return 1 / tan(p * M_PI / 2);
    if (freedom <= 2)
        return sqrt(2 / (p * (2 - p)) - 2);
    double a = 1 / (freedom - 0.5), b = 48 / (a * a);
    double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
    double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * M_PI / 2) * freedom;
    double y = pow(d * p, 2 / freedom);
    if (y > 0.05 + a) {
        double x = normal_quantile(p / 2);
        y = x * x;
        if (freedom < 5)
            c += 0.3 * (freedom - 4.5) * (x + 0.6);
        c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
        y = expm1(a * y * y);
    } else {
        y = ((1 / (((freedom + 6) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2) * 3) +
                 0.5 / (freedom + 4)) *
                    y -
                1) *
                (freedom + 1) / (freedom + 2) +
            1 / y;
    }
    return sqrt(freedom * y);
}

/* Returns the mean of the part of a standard normal distribution above `z` (the inverse of
 * Mills' ratio). */
static double mean_above(double z)
{
    if (z > 30)
        return z + 1 / z;
    return exp(-z * z / 2) / sqrt(2 * M_PI) / (0.5 * erfc(z / M_SQRT2));
}

/* ---- Bounds of values that are alike ---- */

/* Returns how many values a bound without assumptions needs. */
static size_t n_needed(double share)
{
    return (size_t)ceil(share / (1 - share) - 1e-9);
}

static int by_value(const void *left, const void *right)
{
    const struct size_value *a = left, *b = right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (int)a->is_censored - (int)b->is_censored; /* a censored value is above an equal one */
}

/*
 * The bound by order alone, of sorted values; NaN where there are too few. The next value is as
 * likely to be in any of the count + 1 intervals between the values. What is known of a censored
 * one is that it is in an interval above: its share goes to these (Kaplan and Meier).
 */
static double bound_by_order(const struct size_value *sorted, size_t count, double share)
{
    double each = 1.0 / (double)(count + 1), sum = 0, before = NAN, sum_before = 0;
    for (size_t i = 0; i < count; i++) {
        if (sorted[i].is_censored) {
            each += each / (double)(count - i); /* the values above, and the interval above all */
            continue;
        }
        sum += each;
        if (sum >= share - 1e-9) {
            double part = sum > sum_before ? (share - sum_before) / (sum - sum_before) : 1;
            if (isnan(before) || part >= 1)
                return sorted[i].value;
            return before * pow(sorted[i].value / before, part);
        }
        before = sorted[i].value;
        sum_before = sum;
    }
    return NAN;
}

/* Computes the unbiased mean and standard deviation of the logarithms, by maximum likelihood
 * (expectation-maximization) where some values are censored. */
static void fit_logarithms(
    const struct size_value *values, size_t count, double *mean, double *deviation)
{
    size_t n_censored = 0;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += log(values[i].value);
        n_censored += values[i].is_censored;
    }
    double m = sum / (double)count, s;
    for (size_t i = 0; i < count; i++)
        squares += pow(log(values[i].value) - m, 2);
    s = count > 1 ? sqrt(squares / (double)count) : 0;
    for (int step = 0; n_censored > 0 && s > 0 && step < 500; step++) {
        double new_sum = 0, new_squares = 0;
        for (size_t i = 0; i < count; i++) {
            double y = log(values[i].value), z = (y - m) / s;
            double above = values[i].is_censored ? mean_above(z) : 0;
            double expected = values[i].is_censored ? m + s * above : y;
            double variance = values[i].is_censored ? s * s * (1 + z * above - above * above) : 0;
            new_sum += expected;
            new_squares += expected * expected + variance;
        }
        double new_m = new_sum / (double)count;
        double new_s = sqrt(fmax(new_squares / (double)count - new_m * new_m, 0));
        bool is_done = fabs(new_m - m) + fabs(new_s - s) < 1e-9 * (1 + fabs(m));
        m = new_m;
        s = new_s;
        if (is_done)
            break;
    }
    *mean = m;
    *deviation = count > 1 ? s * sqrt((double)count / (double)(count - 1)) : 0;
}

/* Returns the bound that assumes a log-normal spread. Censored values tell less, so only the
 * others count for the degrees of freedom. */
static double bound_by_lognormal(const struct size_value *values, size_t count, double share)
{
    double mean, deviation, n_known = 0;
    for (size_t i = 0; i < count; i++)
        n_known += !values[i].is_censored;
    fit_logarithms(values, count, &mean, &deviation);
    double n = fmax(n_known, 1), freedom = n - 1;
    double pooled =
        sqrt((freedom * deviation * deviation + ASSUMED_FREEDOM * ASSUMED_SPREAD * ASSUMED_SPREAD) /
             (freedom + ASSUMED_FREEDOM));
    double width = sqrt(1 + 1 / n);
    double margin = size_student_quantile(share, freedom + ASSUMED_FREEDOM) * pooled * width;
    if (n_known >= 3)
        margin = fmax(margin, size_student_quantile(share, freedom) * deviation * width);
    return exp(mean + margin);
}

/* Computes the bound of sorted values that are alike, and what it rests on. */
static double bound_of_alike(
    const struct size_value *sorted, size_t count, double share, enum size_basis *basis)
{
    double bound = bound_by_order(sorted, count, share);
    *basis = SIZE_BASIS_ORDER;
    if (!isnan(bound))
        return bound;
    size_t n_known = 0;
    for (size_t i = 0; i < count; i++)
        n_known += !sorted[i].is_censored;
    *basis = count < 3 || n_known == 0 ? SIZE_BASIS_GUESS : SIZE_BASIS_LOGNORMAL;
    bound = bound_by_lognormal(sorted, count, share);
    if (count < FEW_RUNS)
        bound = fmin(bound, MAX_OF_FEW * sorted[count - 1].value);
    for (size_t i = 0; i < count; i++)
        bound = fmax(bound, sorted[i].value * (sorted[i].is_censored ? MIN_AFTER_KILL : 1));
    return bound;
}

/* ---- Growth ---- */

struct line {
    double intercept, slope;
};

static double line_at(struct line line, double covariate)
{
    return line.intercept + line.slope * covariate;
}

/* Fits a line to the values whose deviations are in proportion to them, neither part of it below 0.
 * `without` is left out; `count` leaves none out. So are censored ones, which may have been cut
 * anywhere. */
static struct line fit_line(const struct size_value *values, size_t count, size_t without)
{
    struct line line = {NAN, NAN};
    for (int step = 0; step < 20; step++) {
        double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
        for (size_t i = 0; i < count; i++) {
            double x = values[i].covariate, y = values[i].value;
            double middle = step == 0 ? y : line_at(line, x);
            if (i == without || values[i].is_censored || !(middle > 0))
                continue;
            double weight = 1 / (middle * middle);
            w += weight;
            wx += weight * x;
            wy += weight * y;
            wxx += weight * x * x;
            wxy += weight * x * y;
        }
        double divisor = w * wxx - wx * wx;
        struct line next = {wy / w, 0};
        if (divisor > 1e-12 * w * wxx) {
            next.slope = (w * wxy - wx * wy) / divisor;
            next.intercept = (wy - next.slope * wx) / w;
        }
        if (next.intercept < 0)
            next = (struct line){0, wxy / wxx};
        if (next.slope < 0)
            next = (struct line){wy / w, 0};
        bool is_done = fabs(next.slope - line.slope) <= 1e-9 * fabs(line.slope) &&
                       fabs(next.intercept - line.intercept) <= 1e-9 * fabs(line.intercept);
        line = next;
        if (is_done)
            break;
    }
    return line;
}

/* True where the values grow with the covariate: it takes enough different values, and a line
 * explains at least half of the variance of the logarithms. */
static bool is_growing(const struct size_value *values, size_t count, struct line *line)
{
    double lowest = INFINITY, highest = 0, mean = 0, all = 0, rest = 0;
    size_t n_different = 0, n_known = 0;
    for (size_t i = 0; i < count; i++)
        n_known += !values[i].is_censored;
    for (size_t i = 0; i < count; i++) {
        bool is_new = true;
        if (!(values[i].covariate > 0))
            return false;
        if (values[i].is_censored)
            continue;
        for (size_t j = 0; j < i && is_new; j++)
            is_new = values[j].covariate != values[i].covariate;
        n_different += is_new;
        lowest = fmin(lowest, values[i].covariate);
        highest = fmax(highest, values[i].covariate);
        mean += log(values[i].value) / (double)n_known;
    }
    if (n_different < MIN_COVARIATES || highest < MIN_COVARIATE_RATIO * lowest)
        return false;
    *line = fit_line(values, count, count);
    if (!(line->slope > 0))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (values[i].is_censored)
            continue;
        all += pow(log(values[i].value) - mean, 2);
        rest += pow(log(values[i].value / line_at(*line, values[i].covariate)), 2);
    }
    /* With few values a line may explain half of it by chance. */
    double explained = all > 0 ? 1 - rest / all : 0;
    double t = sqrt(fmax(explained, 0) * (double)(n_known - 2) / fmax(1 - explained, 1e-12));
    return explained >= MIN_EXPLAINED && t > size_student_quantile(0.99, (double)n_known - 2);
}

/* ---- All of it ---- */

int size_bound_compute(const struct size_value *values, size_t count, double share,
    double covariate, struct size_bound *bound, struct gput_error *error)
{
    struct line line;
    double largest = 0;
    *bound = (struct size_bound){.value = NAN,
        .seen = NAN,
        .n_values = count,
        .n_needed = n_needed(share),
        .covariate = NAN};
    if (count == 0)
        return GPUT_OK;
    for (size_t i = 0; i < count; i++) {
        bound->n_censored += values[i].is_censored;
        if (!(bound->seen >= values[i].value)) {
            bound->seen = values[i].value;
            bound->is_seen_censored = values[i].is_censored;
        }
        largest = fmax(largest, values[i].covariate);
    }
    if (is_growing(values, count, &line)) {
        bound->covariate = isnan(covariate) ? largest : covariate;
        bound->is_beyond = bound->covariate > largest;
        /* Compute the bound of the ratios of the values to the line, each to the line without that
         * value, so that a value does not vouch for itself. */
        CLEANUP_FREE struct size_value *ratios = calloc(count, sizeof *ratios);
        if (!ratios)
            return error_memory(error);
        for (size_t i = 0; i < count; i++) {
            struct line other = fit_line(values, count, i);
            ratios[i].value = values[i].value / line_at(other, values[i].covariate);
            ratios[i].is_censored = values[i].is_censored;
        }
        qsort(ratios, count, sizeof *ratios, by_value);
        bound->value =
            bound_of_alike(ratios, count, share, &bound->basis) * line_at(line, bound->covariate);
        bound->grows = true;
        bound->intercept = line.intercept;
        bound->slope = line.slope;
        return GPUT_OK;
    }
    CLEANUP_FREE struct size_value *sorted = calloc(count, sizeof *sorted);
    if (!sorted)
        return error_memory(error);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    bound->value = bound_of_alike(sorted, count, share, &bound->basis);
    return GPUT_OK;
}
