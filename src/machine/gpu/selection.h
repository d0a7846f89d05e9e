/*
 * The user's selection of GPUs: a comma-separated list of UUIDs, indexes or PCI addresses.
 */
#pragma once

#include "machine/gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>

/* NULL: no brand, GPU_VENDOR_OTHER. Errors: GPUT_ERROR_INVALID with the valid words. */
int gpu_brand_parse(const char *brand, enum gpu_vendor *vendor, struct gput_error *error);

/* True when `uuids` names that device, the index-th. NULL selects every device. */
bool gpu_selection_has(const char *uuids, const struct gpu_device *device, size_t index);

/*
 * Checks that every word of `uuids` names a device. Errors: GPUT_ERROR_INVALID when there is no
 * word, GPUT_ERROR_NOT_FOUND for a word that names no device; the message lists the available
 * UUIDs.
 */
int gpu_selection_check(
    const char *uuids, const struct gpu_device *devices, size_t count, struct gput_error *error);

/*
 * Which GPUs the environment of a command lets it see: CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES
 * and HIP_VISIBLE_DEVICES, ZE_AFFINITY_MASK. Each counts the GPUs of its vendor alone.
 */

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
