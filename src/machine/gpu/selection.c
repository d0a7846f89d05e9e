#include "machine/gpu/selection.h"

#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/str.h"
#include "machine/gpu/pci_address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int gpu_brand_parse(const char *brand, enum gpu_vendor *vendor, struct gput_error *error)
{
    static const enum gpu_vendor brands[] = {GPU_VENDOR_AMD, GPU_VENDOR_INTEL, GPU_VENDOR_NVIDIA};
    *vendor = GPU_VENDOR_OTHER;
    if (!brand)
        return GPUT_OK;
    for (size_t i = 0; i < sizeof brands / sizeof *brands; i++)
        if (strcmp(brand, gpu_vendor_name(brands[i])) == 0) {
            *vendor = brands[i];
            return GPUT_OK;
        }
    return nearest_refuse("amd, intel, nvidia", brand, "GPU brand", error);
}

/* Cuts the next word, without blanks around it, from `*rest`. False at the end. */
static bool next_word(const char **rest, char *word, size_t capacity)
{
    const char *text = *rest + strspn(*rest, ", \t\n");
    size_t length = strcspn(text, ",");
    *rest = text + length;
    while (length && strchr(" \t\n", text[length - 1]))
        length--;
    snprintf(word, capacity, "%.*s", (int)length, text);
    return *text != '\0';
}

static bool is_index(const char *word, size_t index)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", index);
    return strcmp(word, text) == 0;
}

/* Whether a word of --guuids names a device: its UUID, index or PCI address. */
static bool names(const char *word, const struct gpu_device *device, size_t index)
{
    if (strcasecmp(word, device->uuid) == 0 || is_index(word, index))
        return true;
    /* amdgpu's unique_id is written with and without "GPU-". */
    if (strncmp(device->uuid, "GPU-", 4) == 0 && strcasecmp(word, device->uuid + 4) == 0)
        return true;
    struct pci_address wanted, own;
    return pci_address_parse(word, &wanted) && pci_address_parse(device->pci_address, &own) &&
           pci_address_equal(&wanted, &own);
}

#define WORD_SIZE 128

bool gpu_selection_has(const char *uuids, const struct gpu_device *device, size_t index)
{
    char word[WORD_SIZE];
    if (!uuids)
        return true;
    while (next_word(&uuids, word, sizeof word))
        if (names(word, device, index))
            return true;
    return false;
}

/* Refuses a UUID, and lists those that there are. */
static int unknown_uuid(
    const char *word, const struct gpu_device *devices, size_t count, struct gput_error *error)
{
    CLEANUP_STR struct str list = {0};
    for (size_t i = 0; i < count; i++)
        str_printf(&list, "%s%s", i ? ", " : "", devices[i].uuid);
    return error_set(error, GPUT_ERROR_NOT_FOUND,
        "GPU UUID of %s is not valid. Available UUIDs are: %s", word,
        count ? str_text(&list) : "none (no GPU was found)");
}

int gpu_selection_check(
    const char *uuids, const struct gpu_device *devices, size_t count, struct gput_error *error)
{
    char word[WORD_SIZE];
    const char *rest = uuids;
    bool any = false;
    if (!uuids)
        return GPUT_OK;
    while (next_word(&rest, word, sizeof word)) {
        bool found = false;
        for (size_t i = 0; i < count && !found; i++)
            found = names(word, &devices[i], i);
        if (!found)
            return unknown_uuid(word, devices, count, error);
        any = true;
    }
    if (any)
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_INVALID,
        "The list of GPU UUIDs is empty. Name at least one GPU UUID, or leave the option out for "
        "all "
        "GPUs");
}

/* Maximum number of devices of a vendor, with their partitions. */
#define MAX_NUMBERS (4 * GPU_MAX_DEVICES)

static const char *const variables[GPU_VISIBLE_LISTS] = {
    [GPU_VISIBLE_CUDA] = "CUDA_VISIBLE_DEVICES",
    [GPU_VISIBLE_ROCR] = "ROCR_VISIBLE_DEVICES",
    [GPU_VISIBLE_HIP] = "HIP_VISIBLE_DEVICES",
    [GPU_VISIBLE_ZE] = "ZE_AFFINITY_MASK",
};

void gpu_visible_read(gpu_variable *variable, void *user, struct gpu_visible *visible)
{
    const char *order = variable(user, "CUDA_DEVICE_ORDER");
    memset(visible, 0, sizeof *visible);
    visible->has_order_of_bus = order && strcmp(order, "PCI_BUS_ID") == 0;
    for (size_t i = 0; i < GPU_VISIBLE_LISTS; i++) {
        const char *list = variable(user, variables[i]);
        if (!list || strlen(list) >= GPU_VISIBLE_SIZE)
            continue;
        visible->is_limited[i] = true;
        snprintf(visible->lists[i], GPU_VISIBLE_SIZE, "%s", list);
    }
}

bool gpu_visible_is_limited(const struct gpu_visible *visible)
{
    for (size_t i = 0; i < GPU_VISIBLE_LISTS; i++) {
        if (visible->is_limited[i])
            return true;
    }
    return false;
}

/* Devices as a vendor's library counts them: a card in partitions once for each. */
struct numbered {
    size_t indexes[MAX_NUMBERS];
    size_t count;
};

static void add_number(struct numbered *numbered, size_t index)
{
    if (numbered->count < MAX_NUMBERS)
        numbered->indexes[numbered->count++] = index;
}

/* Counts all devices of a vendor, in its own order. */
static void number_all(const struct gpu_device *devices, size_t count, enum gpu_vendor vendor,
    struct numbered *numbered)
{
    bool is_counted[GPU_MAX_DEVICES] = {0};
    numbered->count = 0;
    for (;;) {
        size_t next = SIZE_MAX;
        for (size_t i = 0; i < count && i < GPU_MAX_DEVICES; i++) {
            if (devices[i].vendor == vendor && !is_counted[i] &&
                (next == SIZE_MAX || devices[i].vendor_number < devices[next].vendor_number))
                next = i;
        }
        if (next == SIZE_MAX)
            return;
        is_counted[next] = true;
        add_number(numbered, next);
        for (uint32_t part = 1; part < devices[next].n_partitions; part++)
            add_number(numbered, next);
    }
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

/* The device that a word of a list names, by its number or UUID; SIZE_MAX: none. */
static size_t find_word(
    const char *word, const struct numbered *numbered, const struct gpu_device *devices)
{
    long number = word_number(word);
    if (number >= 0)
        return (size_t)number < numbered->count ? numbered->indexes[number] : SIZE_MAX;
    for (size_t i = 0; i < numbered->count; i++) {
        if (begins_uuid(word, &devices[numbered->indexes[i]]))
            return numbered->indexes[i];
    }
    return SIZE_MAX;
}

/* Leaves the devices that a list names, counted in its order. Libraries end a list at its first
 * word that names no device. With `any_order` a number may be any of them. */
static void keep_listed(
    const char *text, bool any_order, const struct gpu_device *devices, struct numbered *numbered)
{
    struct numbered kept = {0};
    char list[GPU_VISIBLE_SIZE], *rest;
    snprintf(list, sizeof list, "%s", text);
    for (char *word = strtok_r(list, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        size_t found = find_word(word, numbered, devices);
        if (found == SIZE_MAX)
            break;
        if (any_order && word_number(word) >= 0)
            return;
        add_number(&kept, found);
    }
    *numbered = kept;
}

/*
 * Leaves the AMD devices that a program sees. ROCR's list comes first; HIP counts anew what that
 * left. CUDA's list is another name of HIP's, on a machine without CUDA.
 */
static void keep_visible_to_rocm(const struct gpu_visible *visible,
    const struct gpu_device *devices, bool has_cuda, struct numbered *numbered)
{
    if (visible->is_limited[GPU_VISIBLE_ROCR])
        keep_listed(visible->lists[GPU_VISIBLE_ROCR], false, devices, numbered);
    if (visible->is_limited[GPU_VISIBLE_HIP])
        keep_listed(visible->lists[GPU_VISIBLE_HIP], false, devices, numbered);
    else if (visible->is_limited[GPU_VISIBLE_CUDA] && !has_cuda)
        keep_listed(visible->lists[GPU_VISIBLE_CUDA], false, devices, numbered);
}

bool gpu_visible_has(
    const struct gpu_visible *visible, const struct gpu_device *devices, size_t count, size_t index)
{
    struct numbered numbered;
    enum gpu_vendor vendor = devices[index].vendor;
    bool has_cuda = false;
    for (size_t i = 0; i < count; i++)
        has_cuda |= devices[i].vendor == GPU_VENDOR_NVIDIA;
    number_all(devices, count, vendor, &numbered);
    if (vendor == GPU_VENDOR_AMD)
        keep_visible_to_rocm(visible, devices, has_cuda, &numbered);
    else if (vendor == GPU_VENDOR_NVIDIA && visible->is_limited[GPU_VISIBLE_CUDA])
        keep_listed(visible->lists[GPU_VISIBLE_CUDA],
            !visible->has_order_of_bus && differ(devices, count, vendor), devices, &numbered);
    else if (vendor == GPU_VENDOR_INTEL && visible->is_limited[GPU_VISIBLE_ZE])
        keep_listed(
            visible->lists[GPU_VISIBLE_ZE], differ(devices, count, vendor), devices, &numbered);
    for (size_t i = 0; i < numbered.count; i++) {
        if (numbered.indexes[i] == index)
            return true;
    }
    return false;
}
