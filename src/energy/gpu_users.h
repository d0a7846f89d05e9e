/*
 * Who uses a GPU, as far as its driver tells: what its joules are shared out by.
 */
#ifndef ENERGY_GPU_USERS_H
#define ENERGY_GPU_USERS_H

#include "gpu/gpu.h"

enum gpu_users_basis {
    GPU_USERS_UNKNOWN, /* some may be ours, and nothing tells how much they use */
    GPU_USERS_BY_USE,  /* of its processors, in percent */
    GPU_USERS_BY_MEMORY,
};

struct gpu_users {
    enum gpu_users_basis basis;
    double main, descendants, all; /* parts and the whole, in that unit; not when unknown */
};

/* Of the device at `index` of the sample; of the first MIG instance of a card all instances are
 * taken together. */
struct gpu_users gpu_users_find(
    const struct gpu_sample *sample, const struct gpu_device *devices, size_t index);

#endif
