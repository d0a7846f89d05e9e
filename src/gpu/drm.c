/*
 * GPUs of every other DRM driver: Intel's i915 and xe, nouveau, and those of embedded systems. The
 * kernel has no common figure for a whole card, so most figures come from its clients.
 */
#include "base/clock.h"
#include "gpu/drm_clients.h"
#include "gpu/source.h"
#include "os/sysfs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char no_card_ram[] =
    "this driver reports the memory of processes, not of the whole GPU";
static const char no_card_time[] =
    "this driver reports the GPU time of processes, not of the whole GPU";
static const char no_energy[] = "this driver has no energy counter for the GPU";

struct drm_gpu {
    struct drm_card card;
    char energy_folder[SYSFS_PATH_SIZE]; /* of hwmon; "": none */
    double last_joules;
    int64_t last_ns;
};

struct drm_state {
    struct gpu_source_options options;
    uint32_t n_gpus;
    struct drm_gpu *gpus;       /* owned */
    struct drm_target *targets; /* one a GPU; owned */
    struct drm_client_reader reader;
};

static void drm_close(void *opaque)
{
    struct drm_state *state = opaque;
    drm_client_reader_finish(&state->reader);
    free(state->gpus);
    free(state->targets);
    free(state);
}

/* A GPU of the requested vendor that no other source reads. */
static bool is_ours(const struct drm_card *card, const struct gpu_source_options *options)
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

/* The card's energy counter: i915 has one for the card (and others for its parts, i915_gtN), xe
 * counts the card first. */
static void find_energy(struct drm_gpu *gpu)
{
    char folder[SYSFS_PATH_SIZE], name[32];
    uint64_t value;
    for (long number = -1; (number = drm_card_next_hwmon(&gpu->card, number, folder)) >= 0;)
        if (sysfs_read_line(folder, "name", name, sizeof name) &&
            (strcmp(name, "i915") == 0 || strcmp(name, "xe") == 0) &&
            sysfs_read_uint64(folder, "energy1_input", &value)) {
            memcpy(gpu->energy_folder, folder, sizeof gpu->energy_folder);
            return;
        }
}

static struct drm_state *make_state(
    const struct gpu_source_options *options, const struct drm_cards *found)
{
    struct drm_state *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->options = *options;
    state->n_gpus = found->count;
    state->gpus = calloc(found->count, sizeof *state->gpus);
    state->targets = calloc(found->count, sizeof *state->targets);
    if (state->gpus && state->targets)
        return state;
    drm_close(state);
    return NULL;
}

static void *drm_probe(const struct gpu_source_options *options, struct gpu_source_status *status)
{
    struct drm_state *state = NULL;
    struct drm_cards found;
    bool has_memory = drm_cards_find(options, is_ours, &found);
    if (has_memory && found.count == 0) {
        drm_cards_explain_none(options,
            options->vendor == GPU_VENDOR_INTEL ? "Intel" : "Intel or other", &found, status);
        free(found.cards);
        return NULL;
    }
    if (has_memory)
        state = make_state(options, &found);
    if (!state)
        gpu_source_status_set(status, GPU_SOURCE_FAILED, "", "out of memory");
    status->n_left_out = found.n_left_out;
    for (uint32_t i = 0; state && i < found.count; i++) {
        state->gpus[i].card = found.cards[i];
        find_energy(&state->gpus[i]);
        drm_target_init(&state->targets[i], &found.cards[i], is_integrated(&found.cards[i]));
    }
    free(found.cards);
    return state;
}

static bool drm_open(void *opaque, struct gpu_source_status *status)
{
    const struct drm_state *state = opaque;
    gpu_source_status_set(status, GPU_SOURCE_PARTIAL, "",
        "fdinfo of the %s driver%s: what tracked processes use; the whole GPU's RAM and "
        "utilization "
        "are not reported",
        state->gpus[0].card.driver[0] ? state->gpus[0].card.driver : "kernel's",
        state->n_gpus > 1 ? " and others" : "");
    return true;
}

/* The card's own memory, where the driver reports it; several tiles add up. */
static double read_capacity(const struct drm_gpu *gpu)
{
    double sum = NAN;
    char folder[SYSFS_PATH_SIZE], name[24];
    uint64_t bytes;
    if (sysfs_read_uint64(gpu->card.folder, "lmem_total_bytes", &bytes))
        return (double)bytes;
    for (long tile = -1; (tile = sysfs_next_numbered(gpu->card.folder, "tile", tile)) >= 0;) {
        snprintf(name, sizeof name, "tile%ld", tile);
        if (sysfs_path(folder, gpu->card.folder, name) &&
            sysfs_read_uint64(folder, "physical_vram_size_bytes", &bytes))
            sum = isnan(sum) ? (double)bytes : sum + (double)bytes;
    }
    return sum;
}

static uint32_t drm_list_devices(void *opaque, struct gpu_device *devices, uint32_t capacity)
{
    const struct drm_state *state = opaque;
    uint32_t count = state->n_gpus < capacity ? state->n_gpus : capacity;
    for (uint32_t i = 0; i < count; i++) {
        drm_card_describe(&state->gpus[i].card, "drm", &devices[i]);
        devices[i].in_package = state->targets[i].integrated;
        devices[i].power_is_counted = true;
        devices[i].ram_capacity_bytes = read_capacity(&state->gpus[i]);
    }
    return count;
}

/* The energy counter, and power from its increase. Without an increase power is unknown. */
static void read_energy(struct drm_gpu *gpu, struct gpu_device_reading *reading)
{
    uint64_t microjoules;
    reading->missing[GPU_ENERGY] = reading->missing[GPU_POWER] = no_energy;
    if (!gpu->energy_folder[0] ||
        !sysfs_read_uint64(gpu->energy_folder, "energy1_input", &microjoules))
        return;
    int64_t now = clock_monotonic_ns();
    double joules = (double)microjoules / 1e6;
    reading->energy_joules = joules;
    reading->missing[GPU_ENERGY] = NULL;
    reading->missing[GPU_POWER] = "needs a second reading of the energy counter";
    if (gpu->last_ns && joules == gpu->last_joules) {
        reading->missing[GPU_POWER] = "its energy counter has not moved since it was last read";
        return;
    }
    if (gpu->last_ns && now > gpu->last_ns && joules > gpu->last_joules) {
        reading->power_watts =
            (joules - gpu->last_joules) * NS_PER_SECOND / (double)(now - gpu->last_ns);
        reading->missing[GPU_POWER] = NULL;
    }
    gpu->last_joules = joules;
    gpu->last_ns = now;
}

static void drm_read_device(void *opaque, uint32_t index, struct gpu_device_reading *reading)
{
    struct drm_state *state = opaque;
    struct drm_gpu *gpu = &state->gpus[index];
    if (sysfs_is_suspended(gpu->card.folder)) {
        gpu_device_reading_clear(reading, drm_card_suspended_reason);
        return;
    }
    reading->missing[GPU_RAM_USED] = no_card_ram;
    reading->missing[GPU_UTILIZATION] = no_card_time;
    read_energy(gpu, reading);
}

static void drm_read_processes(
    void *opaque, const struct gpu_tracked *tracked, struct gpu_process_list *list)
{
    struct drm_state *state = opaque;
    for (uint32_t i = 0; i < state->n_gpus; i++)
        drm_target_check(&state->targets[i], &state->gpus[i].card, i, list);
    drm_clients_read(&state->reader, state->options.procfs_root, tracked, state->targets,
        state->n_gpus, clock_monotonic_ns(), list);
}

const struct gpu_source gpu_source_drm = {
    .name = "drm",
    .vendor = GPU_VENDOR_OTHER,
    .probe = drm_probe,
    .open = drm_open,
    .list_devices = drm_list_devices,
    .read_device = drm_read_device,
    .read_processes = drm_read_processes,
    .close = drm_close,
};
