/*
 * AMD GPUs of the amdgpu driver: sysfs for the card, the compute driver (KFD) and the card's
 * clients for processes.
 */
#include "base/clock.h"
#include "gpu/drm_clients.h"
#include "gpu/gpu_metrics.h"
#include "gpu/kfd.h"
#include "gpu/source.h"
#include "os/sysfs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char not_reported[] = "the amdgpu driver does not report it for this GPU";
static const char refused[] = "the system denies reading it";
static const char gone[] = "the GPU was removed";

struct amdgpu_gpu {
    struct drm_card card;
    bool apu;                    /* uses system RAM beyond a small reserved part */
    char hwmon[SYSFS_PATH_SIZE]; /* "": none */
};

struct amdgpu_state {
    struct gpu_source_options options;
    uint32_t n_gpus;
    struct amdgpu_gpu *gpus;           /* owned */
    struct drm_target *targets;        /* one a GPU; owned */
    uint64_t kfd_ids[GPU_MAX_DEVICES]; /* one a GPU; 0: not in KFD */
    struct drm_client_reader reader;
};

static void amdgpu_close(void *opaque)
{
    struct amdgpu_state *state = opaque;
    drm_client_reader_finish(&state->reader);
    free(state->gpus);
    free(state->targets);
    free(state);
}

static bool is_amdgpu(const struct drm_card *card, const struct gpu_source_options *options)
{
    (void)options;
    if (card->driver[0])
        return strcmp(card->driver, "amdgpu") == 0;
    return card->vendor == GPU_VENDOR_AMD;
}

/* The sensors that belong to the card itself. */
static void find_hwmon(struct amdgpu_gpu *gpu)
{
    char folder[SYSFS_PATH_SIZE], name[32];
    for (long number = -1; (number = drm_card_next_hwmon(&gpu->card, number, folder)) >= 0;)
        if (!sysfs_read_line(folder, "name", name, sizeof name) || strcmp(name, "amdgpu") == 0) {
            memcpy(gpu->hwmon, folder, sizeof gpu->hwmon);
            return;
        }
}

/* Only APUs have the voltage rail of a north bridge, or CPU cores in the same node. */
static bool is_apu(const struct amdgpu_gpu *gpu, bool has_cores)
{
    char label[32];
    return has_cores ||
           (gpu->hwmon[0] && sysfs_read_line(gpu->hwmon, "in1_label", label, sizeof label) &&
               strcmp(label, "vddnb") == 0);
}

static void add_gpu(struct amdgpu_state *state, const struct drm_card *card, bool is_only)
{
    uint32_t index = state->n_gpus++;
    struct amdgpu_gpu *gpu = &state->gpus[index];
    struct kfd_node node = {0};
    gpu->card = *card;
    find_hwmon(gpu);
    struct drm_target target;
    drm_target_init(&target, card, false);
    if (kfd_find_node(state->options.sysfs_root, card, target.render_number, is_only, &node))
        state->kfd_ids[index] = node.gpu_id;
    gpu->apu = is_apu(gpu, node.has_cores);
    target.integrated = gpu->apu;
    state->targets[index] = target;
}

static struct amdgpu_state *make_state(
    const struct gpu_source_options *options, const struct drm_cards *found)
{
    struct amdgpu_state *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->options = *options;
    state->gpus = calloc(found->count, sizeof *state->gpus);
    state->targets = calloc(found->count, sizeof *state->targets);
    if (state->gpus && state->targets)
        return state;
    amdgpu_close(state);
    return NULL;
}

static void *amdgpu_probe(
    const struct gpu_source_options *options, struct gpu_source_status *status)
{
    struct amdgpu_state *state = NULL;
    struct drm_cards found;
    bool has_memory = drm_cards_find(options, is_amdgpu, &found);
    if (has_memory && found.count == 0) {
        drm_cards_explain_none(options, "AMD", &found, status);
        free(found.cards);
        return NULL;
    }
    if (has_memory)
        state = make_state(options, &found);
    if (!state)
        gpu_source_status_set(status, GPU_SOURCE_FAILED, "", "out of memory");
    status->n_left_out = found.n_left_out;
    for (uint32_t i = 0; state && i < found.count; i++)
        add_gpu(state, &found.cards[i], found.count == 1);
    free(found.cards);
    return state;
}

static bool amdgpu_open(void *opaque, struct gpu_source_status *status)
{
    const struct amdgpu_state *state = opaque;
    bool kfd = false;
    for (uint32_t i = 0; i < state->n_gpus; i++)
        kfd |= state->kfd_ids[i] != 0;
    gpu_source_status_set(status, GPU_SOURCE_AVAILABLE, "", "sysfs, fdinfo%s",
        kfd ? ", KFD" : " (no KFD: ROCm is not set up)");
    return true;
}

/* Bytes of the card's memory; of an APU also the system RAM it may use (GTT). NaN, with errno set,
 * when unknown. `which` is "total" or "used". */
static double read_ram(const struct amdgpu_gpu *gpu, const char *which)
{
    char name[48];
    uint64_t vram, gtt;
    snprintf(name, sizeof name, "mem_info_vram_%s", which);
    if (!sysfs_read_uint64(gpu->card.folder, name, &vram))
        return NAN;
    snprintf(name, sizeof name, "mem_info_gtt_%s", which);
    if (gpu->apu && sysfs_read_uint64(gpu->card.folder, name, &gtt))
        vram += gtt;
    return (double)vram;
}

static uint32_t amdgpu_list_devices(void *opaque, struct gpu_device *devices, uint32_t capacity)
{
    const struct amdgpu_state *state = opaque;
    uint32_t count = state->n_gpus < capacity ? state->n_gpus : capacity;
    for (uint32_t i = 0; i < count; i++) {
        const struct amdgpu_gpu *gpu = &state->gpus[i];
        char text[64];
        drm_card_describe(&gpu->card, "amdgpu", &devices[i]);
        devices[i].in_package = gpu->apu;
        devices[i].ram_capacity_bytes = read_ram(gpu, "total");
        if (sysfs_read_line(gpu->card.folder, "unique_id", text, sizeof text) && text[0])
            snprintf(devices[i].uuid, sizeof devices[i].uuid, "GPU-%s", text);
        if (sysfs_read_line(gpu->card.folder, "product_name", text, sizeof text) && text[0])
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

static void read_power(const struct amdgpu_gpu *gpu, struct gpu_device_reading *reading)
{
    uint64_t microwatts;
    errno = ENOENT;
    if (gpu->hwmon[0] && (sysfs_read_uint64(gpu->hwmon, "power1_average", &microwatts) ||
                             sysfs_read_uint64(gpu->hwmon, "power1_input", &microwatts)))
        reading->power_watts = (double)microwatts / 1e6;
    else
        reading->missing[GPU_POWER] = reason_of_errno();
}

static void read_energy(const struct amdgpu_gpu *gpu, struct gpu_device_reading *reading)
{
    char table[256];
    long length = sysfs_read_bytes(gpu->card.folder, "gpu_metrics", table, sizeof table);
    if (length > 0)
        reading->energy_joules = gpu_metrics_energy_joules(table, (size_t)length);
    if (isnan(reading->energy_joules))
        reading->missing[GPU_ENERGY] = length < 0 ? reason_of_errno() : not_reported;
}

static void amdgpu_read_device(void *opaque, uint32_t index, struct gpu_device_reading *reading)
{
    const struct amdgpu_state *state = opaque;
    const struct amdgpu_gpu *gpu = &state->gpus[index];
    uint64_t percent;
    if (sysfs_is_suspended(gpu->card.folder)) {
        gpu_device_reading_clear(reading, drm_card_suspended_reason);
        return;
    }
    reading->ram_used_bytes = read_ram(gpu, "used");
    if (isnan(reading->ram_used_bytes)) {
        reading->missing[GPU_RAM_USED] = reason_of_errno();
        reading->lost = errno == ENODEV;
    }
    if (sysfs_read_uint64(gpu->card.folder, "gpu_busy_percent", &percent) && percent <= 100)
        reading->utilization_percent = (double)percent;
    else
        reading->missing[GPU_UTILIZATION] = reason_of_errno();
    read_power(gpu, reading);
    read_energy(gpu, reading);
}

static void amdgpu_read_processes(
    void *opaque, const struct gpu_tracked *tracked, struct gpu_process_list *list)
{
    struct amdgpu_state *state = opaque;
    for (uint32_t i = 0; i < state->n_gpus; i++)
        drm_target_check(&state->targets[i], &state->gpus[i].card, i, list);
    drm_clients_read(&state->reader, state->options.procfs_root, tracked, state->targets,
        state->n_gpus, clock_monotonic_ns(), list);
    kfd_processes_read(state->options.sysfs_root, state->options.procfs_root, tracked,
        state->kfd_ids, state->n_gpus, list);
}

const struct gpu_source gpu_source_amdgpu = {
    .name = "amdgpu",
    .vendor = GPU_VENDOR_AMD,
    .probe = amdgpu_probe,
    .open = amdgpu_open,
    .list_devices = amdgpu_list_devices,
    .read_device = amdgpu_read_device,
    .read_processes = amdgpu_read_processes,
    .close = amdgpu_close,
};
