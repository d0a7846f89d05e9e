/*
 * GPUs of every other DRM driver: Intel's i915 and xe, nouveau, and those of embedded systems. The
 * kernel has no common figure for a whole card, so most figures come from its clients.
 */
#include "base/clock.h"
#include "base/number.h"
#include "machine/gpu/drm_card.h"
#include "machine/gpu/drm_clients.h"
#include "machine/os/sysfs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char no_card_ram[] =
    "this driver reports the memory of processes, not of the whole GPU";
static const char no_card_time[] =
    "this driver reports the GPU time of processes, not of the whole GPU";
static const char no_card_figure[] = "this driver does not report it for this GPU";
static const char no_energy[] = "this driver has no energy counter for the GPU";

struct drm_state {
    struct drm_gpus gpus;
    struct energy_reading {
        double joules;
        int64_t time_ns; /* 0: never */
    } last[GPU_MAX_DEVICES];
    struct drm_figures figures[GPU_MAX_DEVICES];
};

/* A GPU of the requested vendor that no other source reads. */
static bool is_read_by_this_source(
    const struct drm_card *card, const struct gpu_source_options *options)
{
    if (!card->renders || strcmp(card->driver, "amdgpu") == 0 ||
        strncmp(card->driver, "nvidia", 6) == 0)
        return false;
    if (!card->driver[0] && card->vendor != GPU_VENDOR_INTEL)
        return false;
    return options->vendor == GPU_VENDOR_OTHER || options->vendor == card->vendor;
}

/* Intel's integrated GPUs are on bus 0; GPUs without PCI are part of the chip. */
static bool is_integrated(const struct drm_card *card)
{
    struct pci_address address;
    if (!pci_address_parse(card->pci_address, &address))
        return true;
    return card->vendor == GPU_VENDOR_INTEL && address.bus == 0;
}

/* i915 has an energy counter for the card (and others for its parts, i915_gtN), xe counts the card
 * first. */
static bool have_energy(const char *folder, const char *name)
{
    uint64_t value;
    return (strcmp(name, "i915") == 0 || strcmp(name, "xe") == 0) &&
           sysfs_read_uint64(folder, "energy1_input", &value);
}

/* Finds the cards that no other source reads. */
static void *drm_probe(const struct gpu_source_options *options, struct gpu_source_status *status)
{
    const char *whose = options->vendor == GPU_VENDOR_INTEL ? "Intel" : "Intel or other";
    struct drm_state *state =
        drm_gpus_create(options, sizeof *state, is_read_by_this_source, whose, status);
    for (uint32_t i = 0; state && i < state->gpus.count; i++) {
        struct drm_card *card = &state->gpus.cards[i];
        drm_card_find_sensors(card, have_energy);
        state->gpus.targets[i].integrated = is_integrated(card);
    }
    return state;
}

/* Says that the kernel has figures of clients alone. */
static bool drm_open(void *opaque, struct gpu_source_status *status)
{
    const struct drm_gpus *gpus = &((const struct drm_state *)opaque)->gpus;
    gpu_source_status_set(status, GPU_SOURCE_PARTIAL, "",
        "fdinfo of the %s driver%s: what tracked processes use; the whole GPU's RAM and "
        "utilization "
        "are not reported",
        gpus->cards[0].driver[0] ? gpus->cards[0].driver : "kernel's",
        gpus->count > 1 ? " and others" : "");
    return true;
}

/* The card's own memory, where the driver reports it; several tiles add up. */
static double read_capacity(const struct drm_card *card)
{
    double sum = NAN;
    char folder[SYSFS_PATH_SIZE], name[24];
    uint64_t bytes;
    if (sysfs_read_uint64(card->folder, "lmem_total_bytes", &bytes))
        return (double)bytes;
    for (long tile = -1; (tile = sysfs_next_numbered(card->folder, "tile", tile)) >= 0;) {
        snprintf(name, sizeof name, "tile%ld", tile);
        if (sysfs_path(folder, card->folder, name) &&
            sysfs_read_uint64(folder, "physical_vram_size_bytes", &bytes))
            number_add_known(&sum, (double)bytes);
    }
    return sum;
}

/* Describes each card as sysfs does. */
static uint32_t drm_list_devices(void *opaque, struct gpu_device *devices, uint32_t capacity)
{
    const struct drm_gpus *gpus = &((const struct drm_state *)opaque)->gpus;
    uint32_t count = gpus->count < capacity ? gpus->count : capacity;
    for (uint32_t i = 0; i < count; i++) {
        drm_card_describe(&gpus->cards[i], "drm", &devices[i]);
        devices[i].in_package = gpus->targets[i].integrated;
        devices[i].power_is_counted = true;
        devices[i].ram_capacity_bytes = read_capacity(&gpus->cards[i]);
    }
    return count;
}

/* The energy counter, and power from its increase. Without an increase power is unknown. */
static void read_energy(
    const struct drm_card *card, struct energy_reading *last, struct gpu_device_reading *reading)
{
    uint64_t microjoules;
    reading->missing[GPU_ENERGY] = reading->missing[GPU_POWER] = no_energy;
    if (!card->sensors[0] || !sysfs_read_uint64(card->sensors, "energy1_input", &microjoules))
        return;
    int64_t now = clock_monotonic_ns();
    double joules = (double)microjoules / 1e6;
    reading->energy_joules = joules;
    reading->missing[GPU_ENERGY] = NULL;
    reading->missing[GPU_POWER] = "needs a second reading of the energy counter";
    if (last->time_ns && joules == last->joules) {
        reading->missing[GPU_POWER] = "its energy counter has not moved since it was last read";
        return;
    }
    if (last->time_ns && now > last->time_ns && joules > last->joules) {
        reading->power_watts = (joules - last->joules) / clock_seconds_of_ns(now - last->time_ns);
        reading->missing[GPU_POWER] = NULL;
    }
    *last = (struct energy_reading){joules, now};
}

/* Reads the energy counter of a card, and what sysfs has besides: the driver has no more of the
 * whole GPU. */
static void drm_read_device(
    void *opaque, uint32_t index, bool whole, struct gpu_device_reading *reading)
{
    struct drm_state *state = opaque;
    const struct drm_card *card = &state->gpus.cards[index];
    if (sysfs_is_suspended(card->folder)) {
        gpu_device_reading_clear(reading, drm_card_suspended_reason);
        return;
    }
    reading->missing[GPU_RAM_USED] = no_card_ram;
    reading->missing[GPU_UTILIZATION] = no_card_time;
    read_energy(card, &state->last[index], reading);
    drm_figures_read(card, &state->figures[index], whole, no_card_figure, drm_figures_read_intel,
        &reading->card);
}

const struct gpu_source gpu_source_drm = {
    .name = "drm",
    .vendor = GPU_VENDOR_OTHER,
    .probe = drm_probe,
    .open = drm_open,
    .list_devices = drm_list_devices,
    .read_device = drm_read_device,
    .read_processes = drm_gpus_read_processes,
    .close = drm_gpus_close,
};
