/*
 * The user's selection of GPUs: a comma-separated list of UUIDs, indexes or PCI addresses.
 */
#pragma once

#include "machine/gpu/gpu.h"

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
