/*
 * Statistics of repeated runs: a mean and its interval, and the ratio of two variants.
 *
 * Variants run in blocks: each once a block, in random order. What drifts from block to block (a
 * clock, a cache, a neighbour) is the same for all of them, and falls out of differences of
 * logarithms within a block. Values may be NaN, which are skipped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Summary of one figure of one variant. */
struct bench_summary {
    size_t n;         /* how many values are known */
    double mean;      /* NaN: none is */
    double low, high; /* 95 % interval of the mean (Student); NaN below two values */
    double sd, min, max, median;
};

void bench_summarize(const double *values, size_t count, struct bench_summary *summary);

/* Half of the interval in percent of the mean; NaN where there is none. */
double bench_half_width_percent(const struct bench_summary *summary);

/* How much one variant differs from another. */
#define BENCH_MIN_BLOCKS 3    /* fewer say nothing of a difference */
#define BENCH_WIDE_PERCENT 20 /* an interval that wide is no "same" */

struct bench_change {
    size_t n;         /* blocks in which both are known; of groups, the smaller one */
    double percent;   /* NaN: not known, as where one is 0 and the other is not */
    double low, high; /* its 95 % interval, in percent */
    double p_value;   /* of no difference: Student's, or that of permutations if it is higher */
};

/* Compares runs in blocks: `base[i]` and `other[i]` are of one block. */
void bench_compare_blocks(
    const double *base, const double *other, size_t count, struct bench_change *change);

/* Compares runs that do not belong together, such as those of another day (Welch's test). */
void bench_compare_groups(const double *base, size_t n_base, const double *other, size_t n_other,
    struct bench_change *change);

/* Compares equal runs in the order in which they ran: odd against even ones, every other pair
 * turned round. The difference is what chance and the machine alone make. */
void bench_compare_null(const double *values, size_t count, struct bench_change *change);

enum bench_verdict {
    BENCH_UNKNOWN, /* fewer than three blocks, or a figure that is missing */
    BENCH_SAME,
    BENCH_LESS,
    BENCH_MORE,
    BENCH_PERHAPS, /* outside of the 95 % interval, but not beyond doubt */
    BENCH_NOISY,   /* equal runs differ as much */
};

/* "same", "less", "more", "perhaps", "too_noisy", "unknown". */
const char *bench_verdict_name(enum bench_verdict verdict);

/* `null`: of equal runs on the same machine at that time; NULL: not known. */
enum bench_verdict bench_judge(const struct bench_change *change, const struct bench_change *null);

/* Whether equal runs differ by more than chance, so that the machine changed meanwhile. */
bool bench_null_is_loud(const struct bench_change *null);
