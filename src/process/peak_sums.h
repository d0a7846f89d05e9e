/*
 * The most memory that processes can have had together: none had more than its peak, and each only
 * while it lived. Kept for steps of time, which grow with the time: what followed one another
 * within a step counts as if it had been together.
 */
#ifndef PROCESS_PEAK_SUMS_H
#define PROCESS_PEAK_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#define PEAK_SUMS_STEPS 512

/* Of processes together: those whose peak is known, and how many there are whose is not. */
struct peak_sum {
    uint64_t bytes, open;
};

/* Zeroes are one that has not begun. */
struct peak_sums {
    int64_t begin_ns; /* of the first step, which has all before it too */
    int64_t step_ns;  /* 0: it has not begun */
    struct peak_sum steps[PEAK_SUMS_STEPS];
    struct peak_sum always; /* of those that count for every step */
};

/* Those that lived before `begin_ns` count as if they had been together. Without it the first that
 * is added begins; a second time it does nothing. */
void peak_sums_begin(struct peak_sums *sums, int64_t begin_ns);

/* A process that lived from `start_ns` to `end_ns`. */
void peak_sums_add(
    struct peak_sums *sums, int64_t start_ns, int64_t end_ns, const struct peak_sum *peak);

/* One that may have lived at any time. */
void peak_sums_add_always(struct peak_sums *sums, const struct peak_sum *peak);

/* With `open_bytes` for each whose peak is not known; NaN when that is NaN and there is one. */
double peak_sums_upper_bound(const struct peak_sums *sums, double open_bytes);

#endif
