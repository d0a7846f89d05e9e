/*
 * Use of a GPU by tracked and other processes, as far as its driver gives it: its joules are shared
 * out by it.
 */
#pragma once

#include "machine/gpu/gpu.h"

enum gpu_users_basis {
    GPU_USERS_UNKNOWN, /* some may be tracked, but how much they use is not known */
    GPU_USERS_BY_USE,  /* of its processors, in percent */
    GPU_USERS_BY_MEMORY,
};

struct gpu_users {
    enum gpu_users_basis basis;
    double main, descendants, all; /* parts and the whole, in that unit; not set when unknown */
};

/* Of the device at `index` of the sample; for the first MIG instance of a card, of all instances
 * together. */
struct gpu_users gpu_users_find(
    const struct gpu_sample *sample, const struct gpu_device *devices, size_t index);
