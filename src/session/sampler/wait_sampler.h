/*
 * Chooses the moments at which threads are seen asleep. Each period has one moment, at a random
 * time of it: at a fixed interval, a program as regular would be seen doing always the same.
 * Periods grow with the session, from a fiftieth of a second to 0.4 s or the interval of samples
 * where that is longer, and each moment stands for its period: short commands are seen as often
 * as long ones.
 */
#pragma once

#include "machine/process/pipe_waits.h"
#include "machine/process/process_tree.h"

#include <stdint.h>

struct wait_sampler {
    int64_t start_ns;    /* of the session */
    int64_t interval_ns; /* of samples */
    int64_t period_start_ns, period_ns;
    int64_t due_ns;  /* the moment in this period; INT64_MAX: nothing is seen */
    uint64_t random; /* state of the generator */
    /* Causes of the first thread of main, and of all other threads, while no GPU was busy. */
    struct wall_samples while_gpu_idle, others_while_gpu_idle;
    struct pipe_waits pipes;
    int64_t gpu_ns; /* of all moments at which it was known how busy GPUs are */
};

void wait_sampler_init(struct wait_sampler *waits, int64_t start_ns, int64_t interval_ns);

/* Nothing is to be seen. */
void wait_sampler_stop(struct wait_sampler *waits);

/* A moment that is due. `gpu_percent`: how busy the busiest GPU is; NaN: not known. */
void wait_sampler_take(
    struct wait_sampler *waits, struct process_tree *tree, double gpu_percent, int64_t now_ns);
