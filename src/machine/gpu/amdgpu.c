/*
 * AMD GPUs of the amdgpu driver: sysfs for the card, the compute driver (KFD) and the card's
 * clients for processes.
 */
#include "base/clock.h"
#include "machine/gpu/drm_card.h"
#include "machine/gpu/drm_clients.h"
#include "machine/gpu/gpu_metrics.h"
#include "machine/gpu/kfd.h"
#include "machine/gpu/source.h"
#include "machine/os/sysfs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char not_reported[] = "the amdgpu driver does not report it for this GPU";
static const char refused[] = "the system denies reading it";
static const char gone[] = "the GPU was removed";

struct amdgpu_state {
    struct drm_gpus gpus; /* an integrated one uses system RAM beyond a small reserved part */
    struct kfd_card kfd[GPU_MAX_DEVICES];
    struct drm_figures figures[GPU_MAX_DEVICES];
    struct gpu_metrics_slowed slowed[GPU_MAX_DEVICES];
};

static bool is_amdgpu(const struct drm_card *card, const struct gpu_source_options *options)
{
    (void)options;
    if (card->driver[0])
        return strcmp(card->driver, "amdgpu") == 0;
    return card->vendor == GPU_VENDOR_AMD;
}

static bool are_sensors_of_card(const char *folder, const char *name)
{
    (void)folder;
    return name[0] == '\0' || strcmp(name, "amdgpu") == 0;
}

/* Only APUs have the voltage rail of a north bridge, or CPU cores in the same node. */
static bool is_apu(const struct drm_card *card, bool has_cores)
{
    char label[32];
    return has_cores ||
           (card->sensors[0] && sysfs_read_line(card->sensors, "in1_label", label, sizeof label) &&
               strcmp(label, "vddnb") == 0);
}

/* Finds the sensors of a card, and the card in KFD. */
static void find_parts(struct amdgpu_state *state, uint32_t index)
{
    struct drm_gpus *gpus = &state->gpus;
    struct drm_card *card = &gpus->cards[index];
    struct drm_target *target = &gpus->targets[index];
    struct kfd_card *kfd = &state->kfd[index];
    drm_card_find_sensors(card, are_sensors_of_card);
    kfd_find_card(gpus->options.sysfs_root, card, target->render_number, gpus->count == 1, kfd);
    target->integrated = is_apu(card, kfd->has_cores);
}

/* Finds the AMD cards of the kernel's DRM subsystem. */
static void *amdgpu_probe(
    const struct gpu_source_options *options, struct gpu_source_status *status)
{
    struct amdgpu_state *state = drm_gpus_create(options, sizeof *state, is_amdgpu, "AMD", status);
    for (uint32_t i = 0; state && i < state->gpus.count; i++)
        find_parts(state, i);
    return state;
}

/* Says from which interfaces the figures come. */
static bool amdgpu_open(void *opaque, struct gpu_source_status *status)
{
    const struct amdgpu_state *state = opaque;
    bool kfd = false;
    for (uint32_t i = 0; i < state->gpus.count; i++)
        kfd |= state->kfd[i].n_ids > 0;
    gpu_source_status_set(status, GPU_SOURCE_AVAILABLE, "", "sysfs, fdinfo%s",
        kfd ? ", KFD" : " (no KFD: ROCm is not set up)");
    return true;
}

/* Bytes of the card's memory; of an APU also the system RAM it may use (GTT). NaN, with errno set,
 * when unknown. `which` is "total" or "used". */
static double read_ram(const struct drm_gpus *gpus, uint32_t index, const char *which)
{
    const char *folder = gpus->cards[index].folder;
    char name[48];
    uint64_t vram, gtt;
    snprintf(name, sizeof name, "mem_info_vram_%s", which);
    if (!sysfs_read_uint64(folder, name, &vram))
        return NAN;
    snprintf(name, sizeof name, "mem_info_gtt_%s", which);
    if (gpus->targets[index].integrated && sysfs_read_uint64(folder, name, &gtt))
        vram += gtt;
    return (double)vram;
}

/* Describes each card as sysfs does. */
static uint32_t amdgpu_list_devices(void *opaque, struct gpu_device *devices, uint32_t capacity)
{
    const struct amdgpu_state *state = opaque;
    const struct drm_gpus *gpus = &state->gpus;
    uint32_t count = gpus->count < capacity ? gpus->count : capacity;
    for (uint32_t i = 0; i < count; i++) {
        const struct drm_card *card = &gpus->cards[i];
        char text[64];
        drm_card_describe(card, "amdgpu", &devices[i]);
        devices[i].in_package = gpus->targets[i].integrated;
        devices[i].n_partitions = state->kfd[i].n_ids;
        /* ROCm does not have a card that KFD has not: it does not come before the others. */
        devices[i].vendor_number =
            state->kfd[i].n_ids > 0 ? (uint32_t)state->kfd[i].number : UINT32_MAX;
        devices[i].ram_capacity_bytes = read_ram(gpus, i, "total");
        if (sysfs_read_line(card->folder, "unique_id", text, sizeof text) && text[0])
            snprintf(devices[i].uuid, sizeof devices[i].uuid, "GPU-%s", text);
        if (sysfs_read_line(card->folder, "product_name", text, sizeof text) && text[0])
            snprintf(devices[i].name, sizeof devices[i].name, "%s%s",
                strncmp(text, "AMD", 3) == 0 ? "" : "AMD ", text);
    }
    return count;
}

/* What errno means for a figure. */
static const char *reason_of_errno(void)
{
    switch (errno) {
    case EPERM: /* amdgpu returns this for a GPU that has just been suspended */
        return drm_card_suspended_reason;
    case EACCES:
        return refused;
    case ENODEV:
        return gone;
    default:
        return not_reported;
    }
}

/* Reads the figures of a card from sysfs. A suspended one is left asleep. */
static void amdgpu_read_device(
    void *opaque, uint32_t index, bool whole, struct gpu_device_reading *reading)
{
    struct amdgpu_state *state = opaque;
    const struct drm_gpus *gpus = &state->gpus;
    const struct drm_card *card = &gpus->cards[index];
    uint64_t percent;
    if (sysfs_is_suspended(card->folder)) {
        gpu_device_reading_clear(reading, drm_card_suspended_reason);
        return;
    }
    reading->ram_used_bytes = read_ram(gpus, index, "used");
    if (isnan(reading->ram_used_bytes)) {
        reading->missing[GPU_RAM_USED] = reason_of_errno();
        reading->lost = errno == ENODEV;
    }
    if (sysfs_read_uint64(card->folder, "gpu_busy_percent", &percent) && percent <= 100)
        reading->utilization_percent = (double)percent;
    else
        reading->missing[GPU_UTILIZATION] = reason_of_errno();

    uint64_t microwatts;
    errno = ENOENT;
    if (card->sensors[0] && (sysfs_read_uint64(card->sensors, "power1_average", &microwatts) ||
                                sysfs_read_uint64(card->sensors, "power1_input", &microwatts)))
        reading->power_watts = (double)microwatts / 1e6;
    else
        reading->missing[GPU_POWER] = reason_of_errno();

    char table[GPU_METRICS_SIZE];
    long length = sysfs_read_bytes(card->folder, "gpu_metrics", table, sizeof table);
    if (length > 0)
        reading->energy_joules = gpu_metrics_energy_joules(table, (size_t)length);
    if (isnan(reading->energy_joules))
        reading->missing[GPU_ENERGY] = length < 0 ? reason_of_errno() : not_reported;
    drm_figures_read(
        card, &state->figures[index], whole, not_reported, drm_figures_read_amdgpu, &reading->card);
    if (length > 0) {
        gpu_metrics_fill(table, (size_t)length, &reading->card);
        gpu_metrics_add_slowed(&state->slowed[index], table, (size_t)length, &reading->card);
    }
}

static void amdgpu_read_ram(void *opaque, uint32_t index, struct gpu_device_reading *reading)
{
    double used = read_ram(&((const struct amdgpu_state *)opaque)->gpus, index, "used");
    if (!isnan(used))
        reading->ram_used_bytes = used;
}

static void amdgpu_read_processes(
    void *opaque, const struct gpu_tracked *tracked, bool whole, struct gpu_process_list *list)
{
    struct amdgpu_state *state = opaque;
    drm_gpus_read_processes(state, tracked, whole, list);
    kfd_processes_read(state->gpus.options.sysfs_root, state->gpus.options.procfs_root, tracked,
        state->kfd, state->gpus.count, list);
}

const struct gpu_source gpu_source_amdgpu = {
    .name = "amdgpu",
    .vendor = GPU_VENDOR_AMD,
    .probe = amdgpu_probe,
    .open = amdgpu_open,
    .list_devices = amdgpu_list_devices,
    .read_device = amdgpu_read_device,
    .read_ram = amdgpu_read_ram,
    .read_processes = amdgpu_read_processes,
    .close = drm_gpus_close,
};
