/*
 * GPUs in a sample: asks the drivers, and waits for answers where the sample would otherwise have
 * figures of different moments. All waits are short and bounded.
 */
#pragma once

#include "machine/os/pid_vector.h"
#include "session/sampler/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

struct gpu_sampler {
    struct gpu_set *gpus;      /* borrowed; NULL: none, and nothing below does anything */
    struct snapshot *snapshot; /* borrowed; its GPU figures are written here */
    bool has_process;          /* else the machine alone is sampled */
    int64_t interval_ns;       /* between ticks */
    struct pid_vector descendants;
    uint64_t descendants_generation; /* of the tree that they are from */
};

void gpu_sampler_finish(struct gpu_sampler *sampler);

/* At the start of a sample: requests figures. */
void gpu_sampler_request(struct gpu_sampler *sampler);

/*
 * At its end: takes the figures. At both ends of a session lists of the processes that hold GPU RAM
 * are read anew: a session can be shorter than the pause between two lists. The last sample awaits
 * them, and with `awaits_lists` the first. `is_energy_due`: joules will be read of this sample.
 */
void gpu_sampler_take(
    struct gpu_sampler *sampler, bool is_last, bool awaits_lists, bool is_energy_due);
