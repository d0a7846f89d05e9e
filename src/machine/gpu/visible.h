/*
 * Which GPUs the environment of a command lets it see: CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES
 * (or HIP_VISIBLE_DEVICES), ZE_AFFINITY_MASK. Each is of one vendor, and counts the GPUs of that
 * alone.
 */
#pragma once

#include "machine/gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>

/* Space for a list, with its final 0; a longer one is not known. */
#define GPU_VISIBLE_SIZE 1024
#define GPU_VISIBLE_VENDORS (GPU_VENDOR_INTEL + 1)

struct gpu_visible {
    bool is_limited[GPU_VISIBLE_VENDORS]; /* by vendor; others see all of theirs */
    bool has_order_of_bus; /* CUDA counts GPUs by their PCI addresses, not the fastest first */
    char lists[GPU_VISIBLE_VENDORS][GPU_VISIBLE_SIZE];
};

/* The value of a variable; NULL: it is not set. */
typedef const char *gpu_variable(void *user, const char *name);

void gpu_visible_read(gpu_variable *variable, void *user, struct gpu_visible *visible);

/* Whether any list is set. */
bool gpu_visible_is_limited(const struct gpu_visible *visible);

/*
 * Whether the command sees the device at that index. Numbers in lists follow the order of PCI
 * addresses. Where CUDA may number different GPUs in another order, it is unknown which ones it
 * sees, and all of them count.
 */
bool gpu_visible_has(const struct gpu_visible *visible, const struct gpu_device *devices,
    size_t count, size_t index);
