/*
 * An upper bound of the memory that processes had together: none had more than its peak, and each
 * only while it lived. A process counts by intervals of time, each with a bound of its own: what it
 * had before execve() is another memory than after it. The sum of all is kept as a step function of
 * time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of several processes: the sum of known peaks, and how many have a peak without known bound. */
struct peak_sum {
    uint64_t bytes, unbounded;
};

/* All zeroes: nothing was added. */
struct peak_sums {
    struct peak_step {
        int64_t begin_ns; /* until the next one begins; before the first one there was nothing */
        struct peak_sum sum;
    } * steps; /* owned */
    size_t count, capacity;
    size_t compact_at; /* from that many steps on peak_sums_compact() is due */
    int64_t latest_ns; /* latest end of an interval */
};

void peak_sums_finish(struct peak_sums *sums);

/* Adds an interval of a process; `end_ns` INT64_MAX: it has no known end. False without memory. */
bool peak_sums_add(
    struct peak_sums *sums, int64_t start_ns, int64_t end_ns, const struct peak_sum *peak);

/* Whether there are so many steps that peak_sums_compact() is worth its time. */
static inline bool peak_sums_are_many(const struct peak_sums *sums)
{
    return sums->count > 512 && sums->count >= sums->compact_at;
}

/*
 * Drops steps that cannot be the highest any more. `starts` are the times, ascending, from which on
 * intervals without known end will be added: those of the processes that live. Between two of them
 * all steps will get the same. A peak without known bound is `least_bytes` at least.
 */
void peak_sums_compact(
    struct peak_sums *sums, const int64_t *starts, size_t n_starts, uint64_t least_bytes);

/* Copies into `copy`, which the caller finishes in any case. False without memory. */
bool peak_sums_copy(const struct peak_sums *sums, struct peak_sums *copy);

/* The bound, with `unbounded_bytes` for each peak without known bound; NaN when that is NaN and
 * there is one. */
double peak_sums_upper_bound(const struct peak_sums *sums, double unbounded_bytes);
