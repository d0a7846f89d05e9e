/*
 * The graphics cards of the kernel's DRM subsystem: <sysfs>/class/drm/cardN.
 */
#pragma once

#include "machine/gpu/gpu.h"
#include "machine/gpu/pci_address.h"
#include "machine/gpu/source.h"
#include "model/card.h"

struct drm_card {
    unsigned number;                         /* N of cardN */
    char folder[512];                        /* <sysfs>/class/drm/cardN/device */
    char driver[32];                         /* "amdgpu", "i915", "xe"; "" when unknown */
    char pci_address[PCI_ADDRESS_TEXT_SIZE]; /* "" for a device on another bus */
    uint32_t vendor_id;                      /* PCI, 0 when unknown */
    uint32_t device_id;                      /* PCI, 0 when unknown */
    enum gpu_vendor vendor;
    bool renders;      /* a GPU, not only a display controller */
    char sensors[560]; /* <folder>/hwmon/hwmonN, set by drm_card_find_sensors(); "": none */
};

/* The cards of a source, sorted by number: GPU_MAX_DEVICES at most. */
struct drm_cards {
    struct drm_card *cards; /* owned; freed by free() */
    uint32_t count;
    uint32_t n_skipped;
    int failure; /* errno: why their folder cannot be read; 0: it can, or there is none */
};

typedef bool drm_card_filter(const struct drm_card *card, const struct gpu_source_options *options);

/* Finds the cards that are the source's; none where some may be missing. False without memory: what
 * was found so far is to be freed, too. */
bool drm_cards_find(
    const struct gpu_source_options *options, drm_card_filter *is_wanted, struct drm_cards *cards);

/* Says in `status` why none was found. */
void drm_cards_explain_none(const struct gpu_source_options *options, const char *whose,
    const struct drm_cards *cards, struct gpu_source_status *status);

/* Finds the sensors that belong to the card itself: the first folder that is wanted. `name` is what
 * it says of itself, "" when that is not known. */
void drm_card_find_sensors(
    struct drm_card *card, bool (*is_wanted)(const char *folder, const char *name));

/* Fills what sysfs gives: name, vendor, address; the address serves as the UUID. */
void drm_card_describe(const struct drm_card *card, const char *source, struct gpu_device *device);

/* Why a card that power management has suspended has no figures. */
extern const char drm_card_suspended_reason[];

/* Figures of a card at its last reading. */
struct drm_figures {
    struct card_reading reading;
    int64_t read_ns; /* 0: never */
};

/*
 * Gives the figures of a card that sysfs has: sensors (hwmon), and what `read_more` reads. They are
 * read anew once a second, or with `whole`: files change no faster than that, and some ask the
 * card's controller. What the driver does not have is missing for that reason.
 */
void drm_figures_read(const struct drm_card *card, struct drm_figures *figures, bool whole,
    const char *reason, void (*read_more)(const struct drm_card *, struct card_reading *),
    struct card_reading *to);

/* Reads what amdgpu has besides: clocks, use of the memory, errors. */
void drm_figures_read_amdgpu(const struct drm_card *card, struct card_reading *reading);

/* Reads clocks and the reasons for slowdowns of xe and i915. */
void drm_figures_read_intel(const struct drm_card *card, struct card_reading *reading);
