/*
 * The graphics cards of the kernel's DRM subsystem: <sysfs>/class/drm/cardN.
 */
#pragma once

#include "gpu/gpu.h"
#include "gpu/pci_address.h"
#include "gpu/source.h"

struct drm_card {
    unsigned number;                         /* N of cardN */
    char folder[512];                        /* <sysfs>/class/drm/cardN/device */
    char driver[32];                         /* "amdgpu", "i915", "xe"; "" when unknown */
    char pci_address[PCI_ADDRESS_TEXT_SIZE]; /* "" for a device on another bus */
    uint32_t vendor_id;                      /* PCI, 0 when unknown */
    uint32_t device_id;                      /* PCI, 0 when unknown */
    enum gpu_vendor vendor;
    bool renders; /* a GPU, not only a display controller */
};

/* Those of a source, sorted by number: GPU_MAX_DEVICES at most. */
struct drm_cards {
    struct drm_card *cards; /* owned; freed by free() */
    uint32_t count;
    uint32_t n_left_out;
    int failure; /* errno: why their folder cannot be read; 0: it can, or there is none */
};

/* Finds the cards that are the source's; none where some may be missing. False without memory. */
bool drm_cards_find(const struct gpu_source_options *options,
    bool (*is_ours)(const struct drm_card *card, const struct gpu_source_options *options),
    struct drm_cards *cards);

/* Says in `status` why none was found. */
void drm_cards_explain_none(const struct gpu_source_options *options, const char *whose,
    const struct drm_cards *cards, struct gpu_source_status *status);

/*
 * The number N of the next <card>/hwmon/hwmonN, after `last` (-1 at first); -1 at the end. Its
 * folder goes to `folder` (4096 bytes).
 */
long drm_card_next_hwmon(const struct drm_card *card, long last, char *folder);

/* Fills what sysfs gives: name, vendor, address; the address serves as the UUID. */
void drm_card_describe(const struct drm_card *card, const char *source, struct gpu_device *device);

/* Why a card that power management has suspended has no figures. */
extern const char drm_card_suspended_reason[];
