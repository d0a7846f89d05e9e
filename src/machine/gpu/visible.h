/*
 * Which GPUs the environment of a command lets it see: CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES
 * and HIP_VISIBLE_DEVICES, ZE_AFFINITY_MASK. Each counts the GPUs of its vendor alone.
 */
#pragma once

#include "machine/gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>

/* Space for a list, with its final 0; a longer one is not known. */
#define GPU_VISIBLE_SIZE 1024
enum gpu_visible_list {
    GPU_VISIBLE_CUDA, /* on a machine without CUDA it is HIP's */
    GPU_VISIBLE_ROCR,
    GPU_VISIBLE_HIP, /* counts what ROCR's leaves */
    GPU_VISIBLE_ZE,
    GPU_VISIBLE_LISTS,
};

struct gpu_visible {
    bool is_limited[GPU_VISIBLE_LISTS]; /* what no list limits is seen */
    bool has_order_of_bus; /* CUDA counts GPUs by their PCI addresses, not the fastest first */
    char lists[GPU_VISIBLE_LISTS][GPU_VISIBLE_SIZE];
};

/* The value of a variable; NULL: it is not set. */
typedef const char *gpu_variable(void *user, const char *name);

void gpu_visible_read(gpu_variable *variable, void *user, struct gpu_visible *visible);

/* Whether any list is set. */
bool gpu_visible_is_limited(const struct gpu_visible *visible);

/*
 * Whether the command sees the device at that index. Numbers in lists follow the order of PCI
 * addresses, those of AMD's the order of KFD's nodes. Where CUDA or Level Zero may number different
 * GPUs in another order, it is unknown which ones it sees, and all of them count.
 */
bool gpu_visible_has(const struct gpu_visible *visible, const struct gpu_device *devices,
    size_t count, size_t index);
