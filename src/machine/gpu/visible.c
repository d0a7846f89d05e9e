#include "machine/gpu/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    enum gpu_vendor vendor;
    const char *name;
} variables[] = {
    {GPU_VENDOR_NVIDIA, "CUDA_VISIBLE_DEVICES"},
    {GPU_VENDOR_AMD, "ROCR_VISIBLE_DEVICES"},
    {GPU_VENDOR_AMD, "HIP_VISIBLE_DEVICES"},
    {GPU_VENDOR_INTEL, "ZE_AFFINITY_MASK"},
};

void gpu_visible_read(gpu_variable *variable, void *user, struct gpu_visible *visible)
{
    const char *order = variable(user, "CUDA_DEVICE_ORDER");
    memset(visible, 0, sizeof *visible);
    visible->has_order_of_bus = order && strcmp(order, "PCI_BUS_ID") == 0;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        enum gpu_vendor vendor = variables[i].vendor;
        const char *list = variable(user, variables[i].name);
        if (!list || visible->is_limited[vendor] || strlen(list) >= GPU_VISIBLE_SIZE)
            continue;
        visible->is_limited[vendor] = true;
        snprintf(visible->lists[vendor], GPU_VISIBLE_SIZE, "%s", list);
    }
}

bool gpu_visible_is_limited(const struct gpu_visible *visible)
{
    for (int vendor = 0; vendor < GPU_VISIBLE_VENDORS; vendor++) {
        if (visible->is_limited[vendor])
            return true;
    }
    return false;
}

/* The number of a device among those of its vendor, and how many there are. */
static size_t number_of(
    const struct gpu_device *devices, size_t count, size_t index, size_t *n_of_vendor)
{
    size_t number = 0;
    *n_of_vendor = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_of_vendor = devices[i].vendor == devices[index].vendor;
        number += is_of_vendor && i < index;
        *n_of_vendor += is_of_vendor;
    }
    return number;
}

/* Whether GPUs of a vendor are of several models. */
static bool differ(const struct gpu_device *devices, size_t count, enum gpu_vendor vendor)
{
    const char *name = NULL;
    for (size_t i = 0; i < count; i++) {
        if (devices[i].vendor != vendor)
            continue;
        if (name && strcmp(name, devices[i].name) != 0)
            return true;
        name = devices[i].name;
    }
    return false;
}

/* The number that a word is, with a part of the device after a dot (ZE_AFFINITY_MASK); -1: none. */
static long word_number(const char *word)
{
    char *end;
    long number = word[0] >= '0' && word[0] <= '9' ? strtol(word, &end, 10) : -1;
    return number >= 0 && (*end == '\0' || *end == '.') ? number : -1;
}

/* A UUID, or the beginning of one. */
static bool begins_uuid(const char *word, const struct gpu_device *device)
{
    bool is_uuid = strncasecmp(word, "GPU-", 4) == 0 || strncasecmp(word, "MIG-", 4) == 0;
    return is_uuid && word[4] && strncasecmp(device->uuid, word, strlen(word)) == 0;
}

static bool is_uuid_of_any(const char *word, const struct gpu_device *devices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (begins_uuid(word, &devices[i]))
            return true;
    }
    return false;
}

/* Drivers end a list at its first word that names no device. */
bool gpu_visible_has(
    const struct gpu_visible *visible, const struct gpu_device *devices, size_t count, size_t index)
{
    enum gpu_vendor vendor = devices[index].vendor;
    char list[GPU_VISIBLE_SIZE], *rest, *word;
    size_t n_of_vendor, own = number_of(devices, count, index, &n_of_vendor);
    if (!visible->is_limited[vendor])
        return true;
    bool any_order =
        vendor == GPU_VENDOR_NVIDIA && !visible->has_order_of_bus && differ(devices, count, vendor);
    memcpy(list, visible->lists[vendor], sizeof list);
    for (word = strtok_r(list, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        long number = word_number(word);
        if (number >= 0 && (size_t)number >= n_of_vendor)
            return false;
        if (number >= 0 && (any_order || (size_t)number == own))
            return true;
        if (number < 0 && begins_uuid(word, &devices[index]))
            return true;
        if (number < 0 && !is_uuid_of_any(word, devices, count))
            return false;
    }
    return false;
}
