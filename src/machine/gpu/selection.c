#include "machine/gpu/selection.h"

#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/str.h"
#include "machine/gpu/pci_address.h"

#include <stdio.h>
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
