/*
 * Where the wall time of one or several threads went: a time for each cause. The times add up to
 * the whole.
 */
#pragma once

#include "model/wall_causes.h"

#include <stdint.h>

struct wall_account {
    int64_t wall_ns;
    int64_t ns[WALL_CAUSE_COUNT]; /* they add up to that */
    uint64_t samples;             /* number of samples that divide the time which is not counted */
};

/* Samples of a thread: the time that each cause stands for. */
struct wall_samples {
    int64_t ns[WALL_CAUSE_COUNT]; /* WALL_COMPUTING: it ran, or was ready to */
    int64_t pages_ns; /* for a page: WALL_STORAGE or WALL_PAGING, in the proportion of these */
    uint64_t count;   /* of those at which it slept */
};

/* Subtracts the samples of an earlier moment. */
void wall_samples_subtract(struct wall_samples *samples, const struct wall_samples *earlier);

/*
 * The account of a thread that lived for `wall_ns`: what it ran and waited for a CPU is counted,
 * the rest is divided as the samples say. Where nothing was sampled that is WALL_UNKNOWN.
 */
struct wall_account wall_account_of(
    int64_t wall_ns, int64_t run_ns, int64_t wait_ns, const struct wall_samples *samples);

void wall_account_add(struct wall_account *account, const struct wall_account *more);

/* Nothing falls below 0. */
void wall_account_subtract(struct wall_account *account, const struct wall_account *less);

/* Replaces the time in WALL_CHILD by what these children did, in proportion. */
void wall_account_explain_child(struct wall_account *account, const struct wall_account *children);

/* Moves a part of the time in which it was ready to run to the quota: `quota` is that part, 0 to
 * 1. */
void wall_account_split_quota(struct wall_account *account, double quota);
