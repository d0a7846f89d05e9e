/*
 * An upper bound of the memory that processes had together: none had more than its peak, and each
 * only while it lived. Kept by steps of time, which get longer with the whole: processes that
 * followed one another within a step count as if they had lived together.
 */
#pragma once

#include <stdint.h>

#define PEAK_SUMS_STEPS 512

/* Of several processes: the sum of known peaks, and how many have a peak without known bound. */
struct peak_sum {
    uint64_t bytes, unbounded;
};

/* All zeroes: not begun. */
struct peak_sums {
    int64_t begin_ns; /* of the first step, which includes all before it */
    int64_t step_ns;  /* 0: it has not begun */
    struct peak_sum steps[PEAK_SUMS_STEPS];
    struct peak_sum always; /* of processes that count in every step */
};

/* Sets the beginning of the first step; what lived before it counts as if it had lived together.
 * Without this the first process added begins. A second call does nothing. */
void peak_sums_begin(struct peak_sums *sums, int64_t begin_ns);

/* Adds a process that lived from `start_ns` to `end_ns`. */
void peak_sums_add(
    struct peak_sums *sums, int64_t start_ns, int64_t end_ns, const struct peak_sum *peak);

/* Adds a process that may have lived at any time. */
void peak_sums_add_always(struct peak_sums *sums, const struct peak_sum *peak);

/* The bound, with `unbounded_bytes` for each process without known bound; NaN when that is NaN and
 * there is one. `others` are further processes that count in every step; NULL: there are none. */
double peak_sums_upper_bound(
    const struct peak_sums *sums, const struct peak_sum *others, double unbounded_bytes);
