#include "analysis/bench/bench_statistics.h"
#include "testing.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- Made-up runs: the seed is fixed, so that every run of this test sees the same ---- */

static uint64_t random_bits = 88172645463325252u;

static double uniform(void)
{
    random_bits ^= random_bits << 13;
    random_bits ^= random_bits >> 7;
    random_bits ^= random_bits << 17;
    return ((double)(random_bits >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

enum kind { NORMAL, LOGNORMAL, TWO_MODES, DRIFT, N_KINDS };

/* A run of mean 1 in block `block` of `count`; what drifts is the same for all of a block. */
static double run_of(enum kind kind, size_t block, size_t count)
{
    switch (kind) {
    case LOGNORMAL:
        return exp(0.1 * normal() - 0.005);
    case TWO_MODES:
        return (uniform() < 0.5 ? 0.95 : 1.05) + 0.01 * normal();
    case DRIFT:
        return (0.8 + 0.4 * (double)block / (double)(count - 1)) * (1 + 0.02 * normal());
    default:
        return 1 + 0.02 * normal();
    }
}

/* How many of 2,000 intervals of the mean, or of the ratio, have the truth inside. */
static double coverage(enum kind kind, size_t count, bool of_ratio)
{
    double base[32], other[32];
    int n_inside = 0;
    for (int trial = 0; trial < 2000; trial++) {
        struct bench_summary summary;
        struct bench_change change;
        for (size_t i = 0; i < count; i++) {
            base[i] = run_of(kind, i, count);
            other[i] = run_of(kind, i, count);
        }
        bench_summarize(base, count, &summary);
        bench_compare_blocks(base, other, count, &change);
        if (of_ratio)
            n_inside += change.low <= 0 && change.high >= 0;
        else
            n_inside += summary.low <= 1 && summary.high >= 1;
    }
    return n_inside / 2000.0;
}

TEST(intervals_have_the_truth_in_93_to_97_percent)
{
    static const size_t counts[] = {5, 10, 30};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (enum kind kind = NORMAL; kind < N_KINDS; kind++) {
            /* What drifts has no mean of its own, but a ratio. */
            if (kind != DRIFT && !(kind == TWO_MODES && counts[i] == 5)) {
                double of_mean = coverage(kind, counts[i], false);
                assert_true(of_mean >= 0.93 && of_mean <= 0.97);
            }
            double of_ratio = coverage(kind, counts[i], true);
            assert_true(of_ratio >= 0.93 && of_ratio <= 0.975);
        }
    }
}

/* How often 2,000 comparisons claim a difference, where the truth is `percent`. */
static double claims(enum kind kind, size_t count, double percent)
{
    double base[32], other[32];
    int n_claims = 0;
    for (int trial = 0; trial < 2000; trial++) {
        struct bench_change change, null;
        for (size_t i = 0; i < count; i++) {
            base[i] = run_of(kind, i, count);
            other[i] = (1 + percent / 100) * run_of(kind, i, count);
        }
        bench_compare_blocks(base, other, count, &change);
        bench_compare_null(base, count, &null);
        enum bench_verdict verdict = bench_judge(&change, &null);
        n_claims += verdict == BENCH_LESS || verdict == BENCH_MORE;
    }
    return n_claims / 2000.0;
}

TEST(equal_variants_are_seldom_called_different)
{
    static const size_t counts[] = {5, 10, 20};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (enum kind kind = NORMAL; kind < N_KINDS; kind++)
            assert_true(claims(kind, counts[i], 0) <= 0.05);
    }
}

TEST(five_percent_are_found_in_ten_runs)
{
    assert_true(claims(NORMAL, 10, 5) >= 0.95);
    /* What drifts within the blocks falls out, although it is by 40 %. */
    assert_true(claims(DRIFT, 10, 5) >= 0.95);
}

/* ---- Single cases ---- */

TEST(a_mean_has_students_interval)
{
    const double values[] = {1, 2, NAN, 3};
    struct bench_summary summary;
    bench_summarize(values, 4, &summary);
    assert_int_equal(summary.n, 3);
    assert_true(summary.mean == 2 && summary.sd == 1 && summary.median == 2);
    assert_true(summary.min == 1 && summary.max == 3);
    assert_true(fabs(summary.high - 2 - 4.30265272974946 / sqrt(3)) < 1e-9);
    assert_true(fabs(bench_half_width_percent(&summary) - 124.2069) < 1e-3);
}

TEST(what_is_not_known_has_no_interval)
{
    const double values[] = {NAN, 7};
    struct bench_summary summary;
    bench_summarize(values, 1, &summary);
    assert_true(isnan(summary.mean) && isnan(summary.low) && isnan(summary.min));
    bench_summarize(values, 2, &summary);
    assert_true(summary.mean == 7 && isnan(summary.low) && isnan(summary.sd));
}

TEST(a_ratio_is_that_within_the_blocks)
{
    const double base[] = {1, 2, 4, 8, NAN}, other[] = {1.1, 2.2, 4.4, 8.8, 100};
    struct bench_change change;
    bench_compare_blocks(base, other, 5, &change);
    assert_int_equal(change.n, 4);
    assert_true(fabs(change.percent - 10) < 1e-9);
    assert_true(fabs(change.low - 10) < 1e-6 && fabs(change.high - 10) < 1e-6);
    assert_int_equal(bench_judge(&change, NULL), BENCH_MORE);
}

TEST(nothing_is_no_difference_and_something_has_no_ratio_to_it)
{
    const double zeroes[] = {0, 0, 0, 0}, some[] = {0, 1, 0, 2};
    struct bench_change change;
    bench_compare_blocks(zeroes, zeroes, 4, &change);
    assert_int_equal(bench_judge(&change, NULL), BENCH_SAME);
    bench_compare_blocks(zeroes, some, 4, &change);
    assert_int_equal(bench_judge(&change, NULL), BENCH_UNKNOWN);
    bench_compare_groups(zeroes, 4, some, 4, &change);
    assert_int_equal(bench_judge(&change, NULL), BENCH_UNKNOWN);
}

TEST(two_blocks_are_too_few_to_tell)
{
    const double base[] = {1, 1.01}, other[] = {2, 2.02};
    struct bench_change change;
    bench_compare_blocks(base, other, 2, &change);
    assert_true(fabs(change.percent - 100) < 1e-9);
    assert_int_equal(bench_judge(&change, NULL), BENCH_UNKNOWN);
}

/* Equal runs of two speeds: whatever differs by less says nothing. */
TEST(a_loud_null_takes_the_claim_back)
{
    double base[16], other[16];
    struct bench_change change, null;
    for (size_t i = 0; i < 16; i++) {
        base[i] = (i % 4 == 1 || i % 4 == 2 ? 1.2 : 1.0) * (1 + 0.001 * (double)(i % 3));
        other[i] = 1.05 * base[i] * (1 + 0.0001 * (double)(i % 5));
    }
    bench_compare_blocks(base, other, 16, &change);
    bench_compare_null(base, 16, &null);
    assert_int_equal(bench_judge(&change, NULL), BENCH_MORE);
    assert_true(bench_null_is_loud(&null));
    assert_int_equal(bench_judge(&change, &null), BENCH_NOISY);
}

/* One run that was interrupted makes Student's interval wide, and no claim. */
TEST(one_slow_run_is_no_difference)
{
    double base[10], other[10];
    struct bench_change change;
    for (size_t i = 0; i < 10; i++)
        base[i] = other[i] = 1 + 0.001 * (double)(i % 3);
    other[7] = 5;
    bench_compare_blocks(base, other, 10, &change);
    assert_int_equal(bench_judge(&change, NULL), BENCH_SAME);
}

TEST(groups_of_another_day_are_compared_by_welch)
{
    const double base[] = {1, 1.02, 0.98, 1.01, 0.99}, other[] = {1.2, 1.22, 1.18, 1.21};
    struct bench_change change;
    bench_compare_groups(base, 5, other, 4, &change);
    assert_true(change.percent > 20 && change.percent < 20.6);
    assert_true(change.low > 15 && change.high < 25);
    assert_int_equal(bench_judge(&change, NULL), BENCH_MORE);
}

RUN_TESTS(NULL, NULL)
