/*
 * NVIDIA GPUs by way of the driver's own library.
 */
#include "base/clock.h"
#include "gpu/device_files.h"
#include "gpu/nvidia_suspended.h"
#include "gpu/nvml_processes.h"
#include "gpu/pci_address.h"
#include "gpu/source.h"
#include "gpu/unlisted.h"
#include "os/meminfo.h"
#include "os/procfs.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* After an error of the whole GPU readings are skipped, twice as many each time, up to this many.
 */
#define MAX_BACK_OFF 64

struct nvml_gpu {
    _Atomic(nvml_device) handle; /* replaced by the thread that reads devices when it is stale */
    atomic_bool lost;
    atomic_bool in_use; /* more memory in use than a driver needs without any process */
    nvml_device card;   /* of the first MIG instance of a card: the card; else NULL */
    struct gpu_device device;
    bool unified;    /* uses system RAM */
    bool memory_old; /* the newer memory call is not supported */
    unsigned skip, back_off;
    const char *trouble; /* why readings are skipped */
    const char *unsupported[GPU_FIGURE_COUNT];
};

struct nvml_state {
    struct gpu_source_options options;
    struct nvml_library library;
    bool initialized;
    uint32_t n_gpus;
    struct nvml_gpu *gpus; /* GPU_MAX_DEVICES */
    unsigned n_refused;    /* GPUs that cannot be used */
    int refused_code;
    struct nvml_process_reader reader;
    enum {
        FILES_UNKNOWN,
        FILES_OF_DRIVER,
        FILES_WITHOUT_OWNER
    } files;             /* used by the thread that reads processes */
    bool lists_own_pids; /* likewise: proven once, it stays so */
};

/* ---- probe ---- */

static void explain_absence(const struct gpu_source_options *options,
    const struct gput_error *error, struct gpu_source_status *status)
{
    char address[PCI_ADDRESS_TEXT_SIZE];
    if (error->code == GPUT_ERROR_FORMAT) {
        gpu_source_status_set(status, GPU_SOURCE_FAILED,
            "install the NVIDIA driver of this system "
            "again, or set GPUT_NVML to its libnvidia-ml.so.1",
            "%s", error->message);
    } else if (nvidia_gpu_find(options->sysfs_root, address)) {
        gpu_source_status_set(status, GPU_SOURCE_FAILED,
            "install the NVIDIA driver (in a container: start it with --gpus all)",
            "there is an NVIDIA GPU at %s, but %s", address, error->message);
    } else {
        gpu_source_status_set(
            status, GPU_SOURCE_ABSENT, "", "no NVIDIA driver: %s", error->message);
    }
}

static void nvml_close(void *opaque)
{
    struct nvml_state *state = opaque;
    if (state->initialized && state->library.shutdown)
        state->library.shutdown();
    nvml_process_reader_finish(&state->reader);
    nvml_library_close(&state->library);
    free(state->gpus);
    free(state);
}

static void *nvml_probe(const struct gpu_source_options *options, struct gpu_source_status *status)
{
    struct gput_error error;
    struct nvml_state *state = calloc(1, sizeof *state);
    if (!state) {
        gpu_source_status_set(status, GPU_SOURCE_FAILED, "", "out of memory");
        return NULL;
    }
    state->options = *options;
    if (nvml_library_open(&state->library, options->nvml_path, &error) != GPUT_OK) {
        explain_absence(options, &error, status);
        nvml_close(state);
        return NULL;
    }
    state->gpus = calloc(GPU_MAX_DEVICES, sizeof *state->gpus);
    if (!state->gpus) {
        gpu_source_status_set(status, GPU_SOURCE_FAILED, "", "out of memory");
        nvml_close(state);
        return NULL;
    }
    nvml_process_reader_init(&state->reader, &state->library);
    return state;
}

/* ---- open ---- */

static void explain_init(int code, struct gpu_source_status *status)
{
    enum gpu_source_state state = GPU_SOURCE_FAILED;
    const char *remedy = "see dmesg, and run nvidia-smi for the driver's own view";
    if (code == NVML_DRIVER_NOT_LOADED) {
        state = GPU_SOURCE_ABSENT;
        remedy = "sudo modprobe nvidia (in a container: start it with --gpus all)";
    } else if (code == NVML_VERSION_MISMATCH) {
        remedy = "restart the machine: its driver was updated while the old one was in use";
    } else if (code == NVML_NO_PERMISSION || code == NVML_OPERATING_SYSTEM) {
        remedy = "ask for access to /dev/nvidia* (in a container: start it with --gpus all)";
    } else if (code == NVML_LIBRARY_NOT_FOUND) {
        remedy = "install the NVIDIA driver of this system again";
    } else if (code == NVML_UNKNOWN) {
        remedy = "restart the container, or the machine: the driver has lost its devices";
    }
    gpu_source_status_set(status, state, remedy, "%s (NVML code %d)", nvml_code_text(code), code);
}

static void read_address(struct nvml_state *state, nvml_device handle, struct gpu_device *device)
{
    struct nvml_pci_info pci = {0};
    if (!state->library.pci_info || state->library.pci_info(handle, &pci) != NVML_SUCCESS)
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
    struct nvml_state *state, nvml_device handle, bool *is_old, struct memory *memory)
{
    int code = NVML_FUNCTION_NOT_FOUND;
    if (state->library.memory_v2 && !*is_old) {
        struct nvml_memory_v2 newer = {.version = NVML_MEMORY_V2_VERSION};
        code = state->library.memory_v2(handle, &newer);
        if (code == NVML_SUCCESS) {
            *memory = (struct memory){(double)newer.total, (double)newer.used};
            return code;
        }
        if (code != NVML_FUNCTION_NOT_FOUND && code != NVML_ARGUMENT_VERSION_MISMATCH &&
            code != NVML_NOT_SUPPORTED && code != NVML_INVALID_ARGUMENT)
            return code;
    }
    if (!state->library.memory)
        return code;
    struct nvml_memory older = {0};
    int old_code = state->library.memory(handle, &older);
    if (old_code == NVML_SUCCESS) {
        *is_old = true;
        *memory = (struct memory){(double)older.total, (double)older.used};
    }
    return old_code;
}

static int read_memory(struct nvml_state *state, struct nvml_gpu *gpu, struct memory *memory)
{
    return ask_memory(state, atomic_load(&gpu->handle), &gpu->memory_old, memory);
}

static int read_system_memory(const struct nvml_state *state, struct memory *memory)
{
    struct meminfo meminfo;
    if (meminfo_read(state->options.procfs_root, &meminfo, NULL) != GPUT_OK)
        return NVML_NOT_SUPPORTED;
    *memory = (struct memory){
        .total = (double)meminfo.total_bytes,
        .used = (double)meminfo_used_bytes(&meminfo),
    };
    return NVML_SUCCESS;
}

static void read_capacity(struct nvml_state *state, struct nvml_gpu *gpu)
{
    struct memory memory = {NAN, NAN};
    int code = read_memory(state, gpu, &memory);
    gpu->unified = (code == NVML_SUCCESS && memory.total == 0) ||
                   (code == NVML_NOT_SUPPORTED && is_unified_name(gpu->device.name));
    if (gpu->unified)
        code = read_system_memory(state, &memory);
    gpu->device.shares_ram = gpu->unified;
    gpu->device.ram_capacity_bytes = code == NVML_SUCCESS ? memory.total : NAN;
}

/* Adds one GPU or MIG instance; `parent` is NULL for a whole GPU. */
static struct nvml_gpu *add_gpu(
    struct nvml_state *state, nvml_device handle, const struct gpu_device *parent)
{
    if (state->n_gpus == GPU_MAX_DEVICES)
        return NULL;
    struct nvml_gpu *gpu = &state->gpus[state->n_gpus++];
    struct gpu_device *device = &gpu->device;
    atomic_store(&gpu->handle, handle);
    *device = (struct gpu_device){.vendor = GPU_VENDOR_NVIDIA, .source = "nvml"};
    device->mig = parent != NULL;
    if (parent)
        memcpy(device->pci_address, parent->pci_address, sizeof device->pci_address);
    else
        read_address(state, handle, device);
    if (!state->library.uuid ||
        state->library.uuid(handle, device->uuid, sizeof device->uuid) != NVML_SUCCESS)
        snprintf(device->uuid, sizeof device->uuid, "%s", device->pci_address);
    if (!state->library.name ||
        state->library.name(handle, device->name, sizeof device->name) != NVML_SUCCESS)
        snprintf(device->name, sizeof device->name, "%.80s%s", parent ? parent->name : "NVIDIA GPU",
            parent ? " MIG" : "");
    device->uuid[sizeof device->uuid - 1] = device->name[sizeof device->name - 1] = '\0';
    read_capacity(state, gpu);
    return gpu;
}

/* Replaces a GPU that is split into MIG instances by these; a GPU without instances stays. */
static void split_mig(struct nvml_state *state)
{
    struct nvml_gpu *parent = &state->gpus[state->n_gpus - 1];
    nvml_device handle = atomic_load(&parent->handle), instance;
    unsigned current = 0, pending = 0, count = 0;
    if (!state->library.mig_mode || !state->library.mig_count || !state->library.mig_by_index ||
        state->library.mig_mode(handle, &current, &pending) != NVML_SUCCESS || current != 1 ||
        state->library.mig_count(handle, &count) != NVML_SUCCESS)
        return;
    struct gpu_device device = parent->device;
    bool replaced = false;
    for (unsigned i = 0; i < count && i < GPU_MAX_DEVICES; i++) {
        if (state->library.mig_by_index(handle, i, &instance) != NVML_SUCCESS)
            continue;
        if (!replaced)
            memset(&state->gpus[--state->n_gpus], 0, sizeof *parent);
        struct nvml_gpu *gpu = add_gpu(state, instance, &device);
        if (gpu && !replaced) {
            gpu->card = handle;
            gpu->device.is_card_leader = true;
        }
        replaced = true;
    }
}

static bool find_gpus(struct nvml_state *state, unsigned count)
{
    state->n_gpus = state->n_refused = 0;
    for (unsigned i = 0; i < count; i++) {
        nvml_device handle = NULL;
        int code = state->library.handle_by_index(i, &handle);
        if (code != NVML_SUCCESS) {
            state->n_refused++;
            state->refused_code = code;
        } else if (add_gpu(state, handle, NULL)) {
            split_mig(state);
        }
    }
    return state->n_gpus > 0;
}

static int initialize(const struct nvml_library *library)
{
    return library->init ? library->init() : library->init_with_flags(0);
}

static bool start(struct nvml_state *state, unsigned *count, struct gpu_source_status *status)
{
    int code = initialize(&state->library);
    if (code == NVML_SUCCESS) {
        state->initialized = true;
        code = state->library.device_count(count);
    }
    if (code != NVML_SUCCESS)
        explain_init(code, status);
    return code == NVML_SUCCESS;
}

static bool nvml_open(void *opaque, struct gpu_source_status *status)
{
    struct nvml_state *state = opaque;
    if (!state->options.wake && nvidia_all_suspended(state->options.sysfs_root)) {
        gpu_source_status_set(status, GPU_SOURCE_SUSPENDED, "",
            "asleep: power management has suspended every NVIDIA GPU, and looking would wake them");
        return false;
    }
    unsigned count = 0;
    if (!start(state, &count, status))
        return false;
    if (!find_gpus(state, count)) {
        if (state->n_refused)
            explain_init(state->refused_code, status);
        else
            gpu_source_status_set(
                status, GPU_SOURCE_ABSENT, "", "the NVIDIA driver knows of no GPU");
        return false;
    }
    char version[NVML_DRIVER_VERSION_SIZE] = "of unknown version";
    if (state->library.driver_version)
        state->library.driver_version(version, sizeof version);
    version[sizeof version - 1] = '\0';
    if (state->n_refused)
        gpu_source_status_set(status, GPU_SOURCE_PARTIAL,
            "use these GPUs from a job or container that was given them",
            "NVIDIA driver %s; %u of %u GPUs cannot be used: %s", version, state->n_refused, count,
            nvml_code_text(state->refused_code));
    else
        gpu_source_status_set(status, GPU_SOURCE_AVAILABLE, "", "NVIDIA driver %s", version);
    return true;
}

static uint32_t nvml_list_devices(void *opaque, struct gpu_device *devices, uint32_t capacity)
{
    struct nvml_state *state = opaque;
    if (!state->initialized)
        return nvidia_list_suspended(state->options.procfs_root, devices, capacity);
    uint32_t count = state->n_gpus < capacity ? state->n_gpus : capacity;
    for (uint32_t i = 0; i < count; i++)
        devices[i] = state->gpus[i].device;
    return count;
}

/* ---- read ---- */

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

static double field_number(const struct nvml_field_value *field)
{
    switch (field->value_type) {
    case 0:
        return field->value.d;
    case 1:
        return field->value.u;
    case 2:
        return (double)field->value.ul;
    case 3:
        return (double)field->value.ull;
    case 4:
        return (double)field->value.ll;
    case 5:
        return field->value.i;
    case 6:
        return field->value.us;
    default:
        return NAN;
    }
}

/* Reads a field of the GPU or, where only that has it (some boards), of its module. */
static int read_field(struct nvml_state *state, nvml_device handle, unsigned field, double *value)
{
    int code = NVML_NOT_SUPPORTED;
    if (!state->library.field_values)
        return code;
    for (unsigned scope = NVML_SCOPE_GPU; scope <= NVML_SCOPE_MODULE; scope++) {
        struct nvml_field_value request = {.field = field, .scope = scope};
        code = state->library.field_values(handle, 1, &request);
        if (code == NVML_SUCCESS)
            code = request.code;
        *value = field_number(&request);
        if (code == NVML_SUCCESS && !isnan(*value))
            return code;
    }
    return code == NVML_SUCCESS ? NVML_NOT_SUPPORTED : code;
}

static int read_ram(
    struct nvml_state *state, struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    struct memory memory;
    int code = gpu->unified ? read_system_memory(state, &memory) : read_memory(state, gpu, &memory);
    if (code == NVML_SUCCESS)
        reading->ram_used_bytes = memory.used;
    atomic_store(&gpu->in_use, !(reading->ram_used_bytes < GPU_MIN_CONTEXT_BYTES));
    return code;
}

static int read_utilization(
    struct nvml_state *state, struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    struct nvml_utilization utilization = {0};
    if (!state->library.utilization)
        return NVML_FUNCTION_NOT_FOUND;
    int code = state->library.utilization(atomic_load(&gpu->handle), &utilization);
    if (code == NVML_SUCCESS && utilization.gpu > 100)
        return NVML_NO_DATA;
    if (code == NVML_SUCCESS)
        reading->utilization_percent = utilization.gpu;
    return code;
}

static int ask_power(struct nvml_state *state, nvml_device handle, double *watts)
{
    unsigned milliwatts = 0;
    int code = NVML_NOT_SUPPORTED;
    if (state->library.power)
        code = state->library.power(handle, &milliwatts);
    double value = milliwatts;
    if (code == NVML_NOT_SUPPORTED)
        code = read_field(state, handle, NVML_FIELD_INSTANT_POWER, &value);
    if (code == NVML_NOT_SUPPORTED)
        code = read_field(state, handle, NVML_FIELD_AVERAGE_POWER, &value);
    if (code == NVML_SUCCESS)
        *watts = value / 1e3;
    return code;
}

static int ask_energy(struct nvml_state *state, nvml_device handle, double *joules)
{
    unsigned long long millijoules = 0;
    int code = NVML_NOT_SUPPORTED;
    if (state->library.energy)
        code = state->library.energy(handle, &millijoules);
    double value = (double)millijoules;
    if (code == NVML_NOT_SUPPORTED)
        code = read_field(state, handle, NVML_FIELD_ENERGY, &value);
    if (code == NVML_SUCCESS)
        *joules = value / 1e3;
    return code;
}

static int read_power(
    struct nvml_state *state, struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    return ask_power(state, atomic_load(&gpu->handle), &reading->power_watts);
}

static int read_energy(
    struct nvml_state *state, struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    return ask_energy(state, atomic_load(&gpu->handle), &reading->energy_joules);
}

typedef int read_figure(
    struct nvml_state *state, struct nvml_gpu *gpu, struct gpu_device_reading *reading);

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

static void read_card(
    struct nvml_state *state, struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    struct memory memory;
    if (ask_memory(state, gpu->card, &gpu->memory_old, &memory) == NVML_SUCCESS)
        reading->card_ram_used_bytes = memory.used;
    ask_power(state, gpu->card, &reading->card_power_watts);
    ask_energy(state, gpu->card, &reading->card_energy_joules);
}

static void read_figures(
    struct nvml_state *state, struct nvml_gpu *gpu, struct gpu_device_reading *reading)
{
    for (size_t i = 0; i < sizeof figures / sizeof *figures && !gpu->trouble; i++) {
        enum gpu_figure figure = figures[i].figure;
        reading->missing[figure] =
            gpu->device.mig ? figures[i].mig_reason : gpu->unsupported[figure];
        if (gpu->device.mig && !reading->missing[figure])
            reading->missing[figure] = gpu->unsupported[figure];
        if (reading->missing[figure])
            continue;
        int code = figures[i].read(state, gpu, reading);
        if (code != NVML_SUCCESS)
            note(gpu, reading, figure, code);
    }
    if (gpu->card && !gpu->trouble)
        read_card(state, gpu, reading);
}

/* Gets a new handle after the driver invalidated the old one. */
static void renew(struct nvml_state *state, struct nvml_gpu *gpu)
{
    nvml_device handle = NULL;
    if (gpu->trouble == nvml_code_text(NVML_UNINITIALIZED))
        initialize(&state->library);
    if (gpu->device.mig || !state->library.handle_by_uuid)
        return;
    int code = state->library.handle_by_uuid(gpu->device.uuid, &handle);
    if (code == NVML_SUCCESS)
        atomic_store(&gpu->handle, handle);
    else if (code == NVML_NOT_FOUND || code == NVML_GPU_IS_LOST)
        atomic_store(&gpu->lost, true);
}

static void nvml_read_device(void *opaque, uint32_t index, struct gpu_device_reading *reading)
{
    struct nvml_state *state = opaque;
    struct nvml_gpu *gpu = &state->gpus[index];
    if (gpu->trouble && gpu->skip-- == 0) {
        renew(state, gpu);
        gpu->trouble = NULL;
    }
    bool tried = !gpu->trouble;
    if (tried)
        read_figures(state, gpu, reading);
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

static bool is_visible(const struct nvml_state *state, pid_t pid)
{
    char path[PROCFS_PATH_SIZE];
    return procfs_path(state->options.procfs_root, pid, "", path) && access(path, F_OK) == 0;
}

/* Whether the list has no visible process although some GPU is in use, as inside a container. */
static bool may_hide_processes(const struct nvml_state *state, const struct gpu_process_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_visible(state, list->entries[i].pid))
            return false;
    bool in_use = list->count > 0;
    for (uint32_t i = 0; i < state->n_gpus; i++)
        in_use |= atomic_load(&state->gpus[i].in_use);
    return in_use;
}

/* The library opens /dev/nvidiactl; processes that use a GPU have further device files open. Not so
 * in WSL. */
static bool has_driver_files(struct nvml_state *state)
{
    if (state->files == FILES_UNKNOWN)
        state->files = device_files_are_ours("nvidiactl") ? FILES_OF_DRIVER : FILES_WITHOUT_OWNER;
    return state->files == FILES_OF_DRIVER;
}

/* A driver inside a container can list the host's pids. */
static bool has_own_pids(struct nvml_state *state, const struct gpu_process_list *list)
{
    const char *procfs_root = state->options.procfs_root;
    if (!state->lists_own_pids && list->count && procfs_is_inner(procfs_root) &&
        has_driver_files(state) &&
        !device_files_prove_pids(procfs_root, list, "nvidia", "nvidiactl", "nvidia-uvm"))
        return false;
    state->lists_own_pids |= list->count > 0;
    return true;
}

static void nvml_read_processes(
    void *opaque, const struct gpu_tracked *tracked, struct gpu_process_list *list)
{
    struct nvml_state *state = opaque;
    for (uint32_t i = 0; i < state->n_gpus; i++) {
        struct nvml_gpu *gpu = &state->gpus[i];
        if (atomic_load(&gpu->lost))
            list->ram_missing[i] = list->sm_missing[i] = nvml_code_text(NVML_GPU_IS_LOST);
        else
            nvml_processes_read(&state->reader, atomic_load(&gpu->handle), gpu->device.mig, i,
                clock_monotonic_ns(), list);
    }
    list->pids_unproven = !has_own_pids(state, list);
    if ((list->pids_unproven || may_hide_processes(state, list)) && has_driver_files(state))
        list->none_tracked_has_files =
            device_files_none_open(state->options.procfs_root, tracked, "nvidia", "nvidiactl");
}

const struct gpu_source gpu_source_nvml = {
    .name = "nvml",
    .vendor = GPU_VENDOR_NVIDIA,
    .probe = nvml_probe,
    .open = nvml_open,
    .list_devices = nvml_list_devices,
    .read_device = nvml_read_device,
    .read_processes = nvml_read_processes,
    .close = nvml_close,
};
