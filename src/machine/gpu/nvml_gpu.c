#include "machine/gpu/nvml_gpu.h"

#include "base/clock.h"
#include "machine/gpu/attribution.h"
#include "machine/gpu/pci_address.h"
#include "machine/os/system_stat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* After an error of the whole GPU readings are skipped, twice as many each time, up to this many.
 */
#define MAX_BACK_OFF 64

static void read_address(
    const struct nvml_library *library, nvml_device handle, struct gpu_device *device)
{
    struct nvml_pci_info pci = {0};
    if (!library->pci_info || library->pci_info(handle, &pci) != NVML_SUCCESS)
        return;
    struct pci_address address = {.domain = pci.domain, .bus = pci.bus, .device = pci.device};
    pci_address_format(&address, device->pci_address);
}

/* GPUs that use system RAM and so report none of their own. */
static bool is_unified_name(const char *name)
{
    static const char *const names[] = {"GB10", "Orin", "Thor", "Xavier", "Tegra"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(name, names[i]))
            return true;
    return false;
}

struct memory {
    double total, used;
};

/* `is_old`: the newer call is not supported. */
static int ask_memory(
    const struct nvml_library *library, nvml_device handle, bool *is_old, struct memory *memory)
{
    int code = NVML_FUNCTION_NOT_FOUND;
    if (library->memory_v2 && !*is_old) {
        struct nvml_memory_v2 newer = {.version = NVML_MEMORY_V2_VERSION};
        code = library->memory_v2(handle, &newer);
        if (code == NVML_SUCCESS) {
            *memory = (struct memory){(double)newer.total, (double)newer.used};
            return code;
        }
        if (code != NVML_FUNCTION_NOT_FOUND && code != NVML_ARGUMENT_VERSION_MISMATCH &&
            code != NVML_NOT_SUPPORTED && code != NVML_INVALID_ARGUMENT)
            return code;
    }
    if (!library->memory)
        return code;
    struct nvml_memory older = {0};
    int old_code = library->memory(handle, &older);
    if (old_code == NVML_SUCCESS) {
        *is_old = true;
        *memory = (struct memory){(double)older.total, (double)older.used};
    }
    return old_code;
}

static int read_memory(struct nvml_gpu *gpu, struct memory *memory)
{
    return ask_memory(gpu->library, atomic_load(&gpu->handle), &gpu->memory_old, memory);
}

/* Reads the RAM of the machine, which is that of a GPU without memory of its own. */
static int read_system_memory(const char *procfs_root, struct memory *memory)
{
    struct meminfo meminfo;
    if (meminfo_read(procfs_root, &meminfo, NULL) != GPUT_OK)
        return NVML_NOT_SUPPORTED;
    *memory = (struct memory){
        .total = (double)meminfo.total_bytes,
        .used = (double)meminfo_used_bytes(&meminfo),
    };
    return NVML_SUCCESS;
}

void nvml_gpu_init(struct nvml_gpu *gpu, const struct nvml_library *library,
    const char *driver_version, const char *procfs_root, nvml_device handle,
    const struct gpu_device *parent)
{
    struct gpu_device *device = &gpu->device;
    gpu->library = library;
    gpu->memory_busy_percent = NAN;
    nvml_card_init(&gpu->figures, library, driver_version);
    gpu->procfs_root = procfs_root;
    atomic_store(&gpu->handle, handle);
    *device = (struct gpu_device){.vendor = GPU_VENDOR_NVIDIA, .source = "nvml"};
    device->mig = parent != NULL;
    if (parent)
        memcpy(device->pci_address, parent->pci_address, sizeof device->pci_address);
    else
        read_address(library, handle, device);
    if (!library->uuid || library->uuid(handle, device->uuid, sizeof device->uuid) != NVML_SUCCESS)
        snprintf(device->uuid, sizeof device->uuid, "%s", device->pci_address);
    if (!library->name || library->name(handle, device->name, sizeof device->name) != NVML_SUCCESS)
        snprintf(device->name, sizeof device->name, "%.80s%s", parent ? parent->name : "NVIDIA GPU",
            parent ? " MIG" : "");
    device->uuid[sizeof device->uuid - 1] = device->name[sizeof device->name - 1] = '\0';

    struct memory memory = {NAN, NAN};
    int code = read_memory(gpu, &memory);
    gpu->unified = (code == NVML_SUCCESS && memory.total == 0) ||
                   (code == NVML_NOT_SUPPORTED && is_unified_name(gpu->device.name));
    if (gpu->unified)
        code = read_system_memory(gpu->procfs_root, &memory);
    gpu->device.shares_ram = gpu->unified;
    gpu->device.ram_capacity_bytes = code == NVML_SUCCESS ? memory.total : NAN;
}

/* Records what a failed call means for one figure, or for the whole GPU. An unknown error concerns
 * the GPU when the first figure has it: a GPU that reports its memory may report other figures too.
 */
static void note(
    struct nvml_gpu *gpu, struct gpu_device_reading *reading, enum gpu_figure figure, int code)
{
    reading->missing[figure] = nvml_code_text(code);
    switch (code) {
    case NVML_NOT_SUPPORTED:
    case NVML_FUNCTION_NOT_FOUND:
        gpu->unsupported[figure] = nvml_code_text(code);
        break;
    case NVML_UNINITIALIZED:
    case NVML_INVALID_ARGUMENT:
    case NVML_GPU_IS_LOST:
    case NVML_RESET_REQUIRED:
    case NVML_OPERATING_SYSTEM:
    case NVML_UNKNOWN:
        if (code == NVML_UNKNOWN && figure != GPU_RAM_USED)
            break;
        gpu->trouble = nvml_code_text(code);
        if (code == NVML_GPU_IS_LOST || code == NVML_RESET_REQUIRED)
            atomic_store(&gpu->lost, true);
        break;
    default:
        break;
    }
}

/* Reads a field of the GPU or, where only that has it (some boards), of its module. */
static int read_field(
    const struct nvml_library *library, nvml_device handle, unsigned field, double *value)
{
    int code = NVML_NOT_SUPPORTED;
    if (!library->field_values)
        return code;
    for (unsigned scope = NVML_SCOPE_GPU; scope <= NVML_SCOPE_MODULE; scope++) {
        struct nvml_field_value request = {.field = field, .scope = scope};
        code = library->field_values(handle, 1, &request);
        if (code == NVML_SUCCESS)
            code = request.code;
        *value = nvml_field_number(&request);
        if (code == NVML_SUCCESS && !isnan(*value))
            return code;
    }
    return code == NVML_SUCCESS ? NVML_NOT_SUPPORTED : code;
}

static int read_ram(struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    struct memory memory;
    int code =
        gpu->unified ? read_system_memory(gpu->procfs_root, &memory) : read_memory(gpu, &memory);
    if (code == NVML_SUCCESS)
        reading->ram_used_bytes = memory.used;
    atomic_store(&gpu->in_use, !(reading->ram_used_bytes < GPU_MIN_CONTEXT_BYTES));
    return code;
}

/* Reads how busy the GPU and its memory are. A figure above 100 % is none. */
static int read_utilization(struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    struct nvml_utilization utilization = {0};
    gpu->memory_busy_percent = NAN;
    if (!gpu->library->utilization)
        return NVML_FUNCTION_NOT_FOUND;
    int code = gpu->library->utilization(atomic_load(&gpu->handle), &utilization);
    if (code == NVML_SUCCESS && utilization.gpu > 100)
        return NVML_NO_DATA;
    if (code == NVML_SUCCESS) {
        reading->utilization_percent = utilization.gpu;
        gpu->memory_busy_percent = utilization.memory <= 100 ? utilization.memory : NAN;
    }
    atomic_store(&gpu->busy, reading->utilization_percent > 0);
    return code;
}

/* The power of the moment; the older call gives the mean of the last second on many GPUs. `is_old`:
 * only that is supported. */
static int ask_power(
    const struct nvml_library *library, nvml_device handle, bool *is_old, double *watts)
{
    unsigned milliwatts = 0;
    double value = NAN;
    int code = NVML_NOT_SUPPORTED;
    if (!*is_old)
        code = read_field(library, handle, NVML_FIELD_INSTANT_POWER, &value);
    if (code != NVML_SUCCESS && library->power) {
        code = library->power(handle, &milliwatts);
        value = milliwatts;
        *is_old = code == NVML_SUCCESS;
    }
    if (code == NVML_NOT_SUPPORTED)
        code = read_field(library, handle, NVML_FIELD_AVERAGE_POWER, &value);
    if (code == NVML_SUCCESS)
        *watts = value / 1e3;
    return code;
}

/* Reads the energy counter by its own call, or as a field where there is no such call. */
static int ask_energy(const struct nvml_library *library, nvml_device handle, double *joules)
{
    unsigned long long millijoules = 0;
    int code = NVML_NOT_SUPPORTED;
    if (library->energy)
        code = library->energy(handle, &millijoules);
    double value = (double)millijoules;
    if (code == NVML_NOT_SUPPORTED)
        code = read_field(library, handle, NVML_FIELD_ENERGY, &value);
    if (code == NVML_SUCCESS)
        *joules = value / 1e3;
    return code;
}

static int read_power(struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    return ask_power(
        gpu->library, atomic_load(&gpu->handle), &gpu->power_old, &reading->power_watts);
}

/* Some drivers take milliseconds of CPU time for it: at times the counter is as it was. */
static int read_counter(struct nvml_gpu *gpu, nvml_device handle, double *joules, int64_t *at_ns)
{
    int code = NVML_SUCCESS;
    if (gpu->reads_energy) {
        call_pace_begin(&gpu->energy_pace, clock_monotonic_ns());
        code = ask_energy(gpu->library, handle, &gpu->energy_joules);
        call_pace_end(&gpu->energy_pace, gpu->n_gpus);
        gpu->energy_ns = code == NVML_SUCCESS ? clock_monotonic_ns() : 0;
    }
    if (code == NVML_SUCCESS) {
        *joules = gpu->energy_joules;
        *at_ns = gpu->energy_ns;
    }
    return code;
}

static int read_energy(struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    return read_counter(
        gpu, atomic_load(&gpu->handle), &reading->energy_joules, &reading->energy_ns);
}

typedef int read_figure(struct nvml_gpu *gpu, struct gpu_device_reading *reading);

static const struct {
    enum gpu_figure figure;
    read_figure *read;
    const char *mig_reason; /* why a MIG instance lacks it; NULL: it does not */
} figures[] = {
    {GPU_RAM_USED, read_ram, NULL},
    {GPU_UTILIZATION, read_utilization, "not reported for MIG instances"},
    {GPU_POWER, read_power, "reported for the whole GPU only, not for MIG instances"},
    {GPU_ENERGY, read_energy, "reported for the whole GPU only, not for MIG instances"},
};

/* Figures of the card itself, of which MIG instances are parts: the first of them has them. */
static void read_card_figures(struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    nvml_device handle = gpu->card ? gpu->card : atomic_load(&gpu->handle);
    if (gpu->device.mig && !gpu->card) {
        card_reading_clear(&reading->card, "reported with the first MIG instance of the card");
        return;
    }
    int code =
        nvml_card_read(&gpu->figures, handle, gpu->n_gpus, gpu->reads_everything, &reading->card);
    if (code != NVML_SUCCESS)
        note(gpu, reading, GPU_RAM_USED, code);
    if (isnan(gpu->memory_busy_percent))
        return;
    reading->card.values[CARD_MEMORY_BUSY] = gpu->memory_busy_percent;
    reading->card.missing[CARD_MEMORY_BUSY] = NULL;
}

/* Reads each figure that the driver has not refused yet, and those of the card. It stops where the
 * GPU is in trouble. */
static void read_figures(struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures && !gpu->trouble; i++) {
        enum gpu_figure figure = figures[i].figure;
        reading->missing[figure] =
            gpu->device.mig ? figures[i].mig_reason : gpu->unsupported[figure];
        if (gpu->device.mig && !reading->missing[figure])
            reading->missing[figure] = gpu->unsupported[figure];
        if (reading->missing[figure])
            continue;
        int code = figures[i].read(gpu, reading);
        if (code != NVML_SUCCESS)
            note(gpu, reading, figure, code);
    }
    if (gpu->card && !gpu->trouble) {
        struct memory memory;
        if (ask_memory(gpu->library, gpu->card, &gpu->memory_old, &memory) == NVML_SUCCESS)
            reading->card_ram_used_bytes = memory.used;
        ask_power(gpu->library, gpu->card, &gpu->power_old, &reading->card_power_watts);
        read_counter(gpu, gpu->card, &reading->card_energy_joules, &reading->energy_ns);
    }
    if (!gpu->trouble)
        read_card_figures(gpu, reading);
    if (!gpu->trouble && gpu->parts)
        nvml_gpm_read(gpu->parts, atomic_load(&gpu->handle), &reading->card);
}

/* Gets a new handle after the driver invalidated the old one. */
static void renew(struct nvml_gpu *gpu)
{
    nvml_device handle = NULL;
    if (gpu->trouble == nvml_code_text(NVML_UNINITIALIZED))
        nvml_library_initialize(gpu->library);
    if (gpu->device.mig || !gpu->library->handle_by_uuid)
        return;
    int code = gpu->library->handle_by_uuid(gpu->device.uuid, &handle);
    if (code == NVML_SUCCESS)
        atomic_store(&gpu->handle, handle);
    else if (code == NVML_NOT_FOUND || code == NVML_GPU_IS_LOST)
        atomic_store(&gpu->lost, true);
}

void nvml_gpu_read(struct nvml_gpu *gpu, bool whole, struct gpu_device_reading *reading)
{
    gpu->reads_everything = whole;
    gpu->reads_energy =
        whole || gpu->energy_ns == 0 || call_pace_is_due(&gpu->energy_pace, clock_monotonic_ns());
    if (gpu->trouble && gpu->skip-- == 0) {
        renew(gpu);
        gpu->trouble = NULL;
    }
    bool tried = !gpu->trouble;
    if (tried)
        read_figures(gpu, reading);
    if (!gpu->trouble) {
        gpu->back_off = 0;
        atomic_store(&gpu->lost, false);
        return;
    }
    if (tried) {
        gpu->skip = gpu->back_off;
        gpu->back_off = gpu->back_off ? gpu->back_off * 2 : 1;
        if (gpu->back_off > MAX_BACK_OFF)
            gpu->back_off = MAX_BACK_OFF;
    }
    gpu_device_reading_clear(reading, gpu->trouble);
    reading->lost = atomic_load(&gpu->lost);
}

void nvml_gpu_read_ram(struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    if (!gpu->trouble)
        read_ram(gpu, reading);
}
