#include "analysis/bench/bench_statistics.h"

#include "analysis/analyze/student.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "base/random.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A difference is claimed below this probability of equal runs: with 5 % one in twenty comparisons
 * of equal commands would be called different. */
#define CLAIM_P 0.02
/* Fewer blocks have too few permutations for that: 2 of 2^6 are 3 %. */
#define MIN_PERMUTED_BLOCKS 7
/* Up to here all permutations are tried, beyond as many random ones. */
#define MAX_EXACT_BLOCKS 14
#define N_RANDOM_PERMUTATIONS 10000
/* Where Student's probability is higher, that of permutations is not asked for. */
#define PERMUTED_BELOW_P 0.1

static int compare_doubles(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Sets mean and standard deviation of `count` known values. The sum of differences from the first
 * one keeps the digits of large values that hardly differ. */
static void set_moments(const double *values, size_t count, double *mean, double *sd)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] - values[0];
    *mean = values[0] + sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - *mean) * (values[i] - *mean);
    *sd = count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
}

void bench_summarize(const double *values, size_t count, struct bench_summary *summary)
{
    *summary = (struct bench_summary){
        .mean = NAN, .low = NAN, .high = NAN, .sd = NAN, .min = NAN, .max = NAN, .median = NAN};
    CLEANUP_FREE double *known = malloc((count + 1) * sizeof *known);
    if (!known)
        return;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i]))
            known[summary->n++] = values[i];
    }
    size_t n = summary->n;
    if (n == 0)
        return;
    set_moments(known, n, &summary->mean, &summary->sd);
    qsort(known, n, sizeof *known, compare_doubles);
    summary->min = known[0];
    summary->max = known[n - 1];
    summary->median = (known[(n - 1) / 2] + known[n / 2]) / 2;
    if (n > 1) {
        double half = student_quantile_975((double)(n - 1)) * summary->sd / sqrt((double)n);
        summary->low = summary->mean - half;
        summary->high = summary->mean + half;
    }
}

double bench_half_width_percent(const struct bench_summary *summary)
{
    double half = (summary->high - summary->low) / 2;
    if (half == 0)
        return 0;
    return summary->mean > 0 ? 100 * half / summary->mean : NAN;
}

/* The sum of the differences, each with its sign turned where the bit of the block is set. */
static double signed_sum(const double *differences, size_t count, uint64_t signs)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += signs >> (i % 64) & 1 ? -differences[i] : differences[i];
    return sum;
}

/*
 * How probable so large a mean is among equal variants, whatever their distribution: within a block
 * chance decides which of them ran first, so that each sign could be the other one.
 */
static double permuted_p_value(const double *differences, size_t count)
{
    double seen = fabs(signed_sum(differences, count, 0)) * (1 - 1e-12);
    uint64_t n_extreme = 0, state = UINT64_C(0x9e3779b97f4a7c15);
    if (count <= MAX_EXACT_BLOCKS) {
        uint64_t n_all = UINT64_C(1) << count;
        for (uint64_t signs = 0; signs < n_all; signs++)
            n_extreme += fabs(signed_sum(differences, count, signs)) >= seen;
        return (double)n_extreme / (double)n_all;
    }
    for (int i = 0; i < N_RANDOM_PERMUTATIONS; i++) {
        double sum = 0;
        for (size_t first = 0; first < count; first += 64) {
            size_t n = count - first < 64 ? count - first : 64;
            sum += signed_sum(differences + first, n, random_next(&state));
        }
        n_extreme += fabs(sum) >= seen;
    }
    return (double)(n_extreme + 1) / (N_RANDOM_PERMUTATIONS + 1);
}

static double percent_of_log(double difference)
{
    return 100 * expm1(difference);
}

/* Fills a change from the mean of logarithms, its standard error and degrees of freedom. */
static void set_change(struct bench_change *change, double mean, double error, double freedom)
{
    double half = error > 0 ? student_quantile_975(freedom) * error : 0;
    change->percent = percent_of_log(mean);
    change->low = percent_of_log(mean - half);
    change->high = percent_of_log(mean + half);
    if (error > 0)
        change->p_value = student_p_value(mean / error, freedom);
    else
        change->p_value = mean == 0 ? 1 : 0;
}

static const struct bench_change unknown = {
    .percent = NAN, .low = NAN, .high = NAN, .p_value = NAN};

/* Figures that are 0 everywhere do not differ; others have no ratio to 0. Returns whether that was
 * all there is to say. */
static bool settle_zeroes(
    size_t n, size_t n_base_zeroes, size_t n_other_zeroes, struct bench_change *change)
{
    if (n_base_zeroes == 0 && n_other_zeroes == 0)
        return false;
    if (n > 0 && n_base_zeroes == n && n_other_zeroes == n)
        *change = (struct bench_change){.n = n, .p_value = 1};
    return true;
}

void bench_compare_blocks(
    const double *base, const double *other, size_t count, struct bench_change *change)
{
    *change = unknown;
    CLEANUP_FREE double *differences = malloc((count + 1) * sizeof *differences);
    if (!differences)
        return;
    size_t n = 0, n_base_zeroes = 0, n_other_zeroes = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(base[i]) || isnan(other[i]))
            continue;
        n_base_zeroes += !(base[i] > 0);
        n_other_zeroes += !(other[i] > 0);
        differences[n++] = log(other[i] / base[i]);
    }
    change->n = n;
    if (settle_zeroes(n, n_base_zeroes, n_other_zeroes, change) || n == 0)
        return;
    double mean, sd;
    set_moments(differences, n, &mean, &sd);
    if (n == 1) {
        change->percent = percent_of_log(mean);
        return;
    }
    set_change(change, mean, sd / sqrt((double)n), (double)(n - 1));
    if (n >= MIN_PERMUTED_BLOCKS && mean != 0 && change->p_value < PERMUTED_BELOW_P)
        change->p_value = fmax(change->p_value, permuted_p_value(differences, n));
}

/* Puts the logarithms of the known values into `logs`; counts them and those that have none. */
static size_t take_logs(const double *values, size_t count, double *logs, size_t *n_zeroes)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        *n_zeroes += !(values[i] > 0);
        logs[n++] = log(values[i]);
    }
    return n;
}

void bench_compare_groups(const double *base, size_t n_base, const double *other, size_t n_other,
    struct bench_change *change)
{
    *change = unknown;
    CLEANUP_FREE double *logs = malloc((n_base + n_other + 1) * sizeof *logs);
    if (!logs)
        return;
    size_t zeroes[2] = {0, 0};
    n_base = take_logs(base, n_base, logs, &zeroes[0]);
    n_other = take_logs(other, n_other, logs + n_base, &zeroes[1]);
    change->n = n_base < n_other ? n_base : n_other;
    if (change->n == 0)
        return;
    if (zeroes[0] || zeroes[1]) {
        if (zeroes[0] == n_base && zeroes[1] == n_other)
            *change = (struct bench_change){.n = change->n, .p_value = 1};
        return;
    }
    double means[2], sds[2];
    set_moments(logs, n_base, &means[0], &sds[0]);
    set_moments(logs + n_base, n_other, &means[1], &sds[1]);
    change->percent = percent_of_log(means[1] - means[0]);
    if (change->n < 2)
        return;
    double variances[2] = {sds[0] * sds[0] / (double)n_base, sds[1] * sds[1] / (double)n_other};
    double freedom = student_welch_freedom(variances[0], n_base, variances[1], n_other);
    set_change(change, means[1] - means[0], sqrt(variances[0] + variances[1]), freedom);
}

void bench_compare_null(const double *values, size_t count, struct bench_change *change)
{
    *change = unknown;
    CLEANUP_FREE double *halves = malloc((count + 1) * sizeof *halves);
    if (!halves)
        return;
    size_t n_pairs = count / 2;
    for (size_t i = 0; i < n_pairs; i++) {
        /* A steady drift makes each second run slower: every other pair is turned round. */
        halves[i] = values[2 * i + i % 2];
        halves[n_pairs + i] = values[2 * i + 1 - i % 2];
    }
    bench_compare_blocks(halves, halves + n_pairs, n_pairs, change);
}

bool bench_null_is_loud(const struct bench_change *null)
{
    return null->n >= BENCH_MIN_BLOCKS && null->p_value <= CLAIM_P;
}

enum bench_verdict bench_judge(const struct bench_change *change, const struct bench_change *null)
{
    if (isnan(change->percent) || isnan(change->p_value) || change->n < BENCH_MIN_BLOCKS)
        return BENCH_UNKNOWN;
    if (null && bench_null_is_loud(null)) {
        double loudest = fmax(fabs(null->low), fabs(null->high));
        if (fabs(change->percent) <= loudest && change->percent != 0)
            return BENCH_NOISY;
    }
    if (change->p_value <= CLAIM_P)
        return change->percent < 0 ? BENCH_LESS : BENCH_MORE;
    return change->low > 0 || change->high < 0 ? BENCH_PERHAPS : BENCH_SAME;
}

const char *bench_verdict_name(enum bench_verdict verdict)
{
    static const char *const names[] = {"unknown", "same", "less", "more", "perhaps", "too_noisy"};
    return names[verdict];
}
