#include "machine/energy/gpu_users.h"

#include <math.h>
#include <string.h>

static bool knows_use(const struct gpu_device_sample *gpu)
{
    return !isnan(gpu->main_sm_percent) && !isnan(gpu->descendants_sm_percent);
}

static bool knows_memory(const struct gpu_device_sample *gpu)
{
    return !isnan(gpu->main_ram_bytes) && !isnan(gpu->descendants_ram_bytes) &&
           !isnan(gpu->ram_used_bytes);
}

/* Use of a GPU by all processes, at least by tracked ones. Where others are not known, they may
 * have used everything that we did not. */
static double use_by_all(const struct gpu_device_sample *gpu)
{
    double all = fmax(gpu->utilization_percent, gpu->all_sm_percent);
    return fmax(isnan(all) ? 100 : all, gpu->main_sm_percent + gpu->descendants_sm_percent);
}

/* All MIG instances of a card together, of which a container sees only its own: the memory in use
 * is the card's. Where our use of one is not known, it is not known of all. */
static struct gpu_device_sample card_of(
    const struct gpu_sample *sample, const struct gpu_device *devices, size_t first)
{
    struct gpu_device_sample card = sample->devices[first];
    card.ram_used_bytes = card.card_ram_used_bytes;
    for (size_t i = first + 1; i < sample->n_devices; i++) {
        const struct gpu_device_sample *instance = &sample->devices[i];
        if (!devices[i].mig || strcmp(devices[i].pci_address, devices[first].pci_address) != 0)
            continue;
        card.main_ram_bytes += instance->main_ram_bytes;
        card.descendants_ram_bytes += instance->descendants_ram_bytes;
    }
    return card;
}

struct gpu_users gpu_users_find(
    const struct gpu_sample *sample, const struct gpu_device *devices, size_t index)
{
    struct gpu_device_sample gpu =
        devices[index].mig ? card_of(sample, devices, index) : sample->devices[index];
    if (knows_use(&gpu))
        return (struct gpu_users){
            GPU_USERS_BY_USE, gpu.main_sm_percent, gpu.descendants_sm_percent, use_by_all(&gpu)};
    if (knows_memory(&gpu) && !gpu.lacks_samples)
        return (struct gpu_users){
            GPU_USERS_BY_MEMORY, gpu.main_ram_bytes, gpu.descendants_ram_bytes, gpu.ram_used_bytes};
    return (struct gpu_users){.basis = GPU_USERS_UNKNOWN};
}
