/*
 * The graphics cards of the kernel's DRM subsystem: <sysfs>/class/drm/cardN.
 */
#ifndef GPU_DRM_CARD_H
#define GPU_DRM_CARD_H

#include "gpu/gpu.h"
#include "gpu/pci_address.h"

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

/* Finds all cards, sorted by number. Returns how many, at most `capacity`. */
size_t drm_cards_find(const char *sysfs_root, struct drm_card *cards, size_t capacity);

/*
 * The number N of the next <card>/hwmon/hwmonN, after `last` (-1 at first); -1 at the end. Its
 * folder goes to `folder` (4096 bytes).
 */
long drm_card_next_hwmon(const struct drm_card *card, long last, char *folder);

/* Fills what sysfs gives: name, vendor, address; the address serves as the UUID. */
void drm_card_describe(const struct drm_card *card, const char *source, struct gpu_device *device);

/* Why a card that power management has suspended has no figures. */
extern const char drm_card_suspended_reason[];

#endif
