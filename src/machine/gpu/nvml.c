/*
 * NVIDIA GPUs by way of the driver's own library.
 */
#include "base/clock.h"
#include "base/shared_library.h"
#include "machine/gpu/nvidia_module.h"
#include "machine/gpu/nvml_gpu.h"
#include "machine/gpu/nvml_processes.h"
#include "machine/gpu/pci_address.h"
#include "machine/gpu/pid_owner.h"
#include "machine/gpu/source.h"
#include "machine/os/procfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct nvml_state {
    struct gpu_source_options options;
    struct nvml_library library;
    char version[NVML_DRIVER_VERSION_SIZE]; /* of the driver */
    bool initialized;
    uint32_t n_gpus;
    struct nvml_gpu *gpus; /* GPU_MAX_DEVICES */
    unsigned n_refused;    /* GPUs that cannot be used */
    unsigned n_skipped;    /* that do not fit */
    int refused_code;
    struct xid_log xids; /* used by the thread that reads devices */
    struct nvml_process_reader reader;
    enum {
        FILES_UNKNOWN,
        FILES_OF_DRIVER,
        FILES_WITHOUT_OWNER
    } files;             /* used by the thread that reads processes */
    bool lists_own_pids; /* likewise: proven once, it stays so */
};

/* ---- probe ---- */

/*
 * Whether a search for the library is worth it: the linker tries some eighty names, at the start of
 * each command. What a driver shows: its device (made at the first use of a GPU), WSL's, Tegra's,
 * and its folder in procfs.
 */
static bool driver_has_signs(const struct gpu_source_options *options)
{
    static const char *const devices[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvmap"};
    char path[PROCFS_PATH_SIZE];
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (access(devices[i], F_OK) == 0)
            return true;
    }
    return procfs_path(options->procfs_root, PROCFS_SYSTEM, "driver/nvidia", path) &&
           access(path, F_OK) == 0;
}

static bool may_be_on_bus(const struct gpu_source_options *options)
{
    char address[PCI_ADDRESS_TEXT_SIZE];
    /* other roots may be of two machines */
    bool is_one_machine =
        strcmp(options->procfs_root, "/proc") == 0 && strcmp(options->sysfs_root, "/sys") == 0;
    if (is_one_machine && !nvidia_may_be_on_bus(options->procfs_root))
        return false;
    return nvidia_gpu_find(options->sysfs_root, address) || errno;
}

/* False: it is certain that there is no GPU for the library, and `error` says so. */
static bool may_have_gpus(const struct gpu_source_options *options, struct gput_error *error)
{
    if (options->nvml_path || !shared_library_can_load() || driver_has_signs(options) ||
        may_be_on_bus(options))
        return true;
    error_set(error, GPUT_ERROR_NOT_FOUND,
        "no NVIDIA GPU is on the PCI bus, and there is no /dev/nvidiactl");
    return false;
}

/* Says why the library cannot be used: it is damaged, there is no NVIDIA GPU, or there is one
 * without a driver. */
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
            error->code == GPUT_ERROR_UNSUPPORTED
                ? "use the gpu-tracker that is linked with the C library (without -static in its "
                  "name)"
                : "install the NVIDIA driver (in a container: start it with --gpus all)",
            "there is an NVIDIA GPU at %s, but %s", address, error->message);
    } else if (errno) {
        gpu_source_status_set(status, GPU_SOURCE_FAILED, "",
            "no NVIDIA driver, and whether there is a GPU is not known: cannot read "
            "%s/bus/pci/devices: %s",
            options->sysfs_root, strerror(errno));
    } else {
        gpu_source_status_set(
            status, GPU_SOURCE_ABSENT, "", "no NVIDIA driver: %s", error->message);
    }
}

/* Frees the state, whichever of its parts were opened. */
static void nvml_close(void *opaque)
{
    struct nvml_state *state = opaque;
    for (uint32_t i = 0; i < state->n_gpus; i++)
        nvml_gpm_destroy(state->gpus[i].parts);
    if (state->initialized && state->library.shutdown)
        state->library.shutdown();
    xid_log_close(&state->xids);
    nvml_process_reader_finish(&state->reader);
    nvml_library_close(&state->library);
    free(state->gpus);
    free(state);
}

/* Opens the library where there may be NVIDIA GPUs; the driver is not called yet. */
static void *nvml_probe(const struct gpu_source_options *options, struct gpu_source_status *status)
{
    struct gput_error error;
    if (!may_have_gpus(options, &error)) {
        gpu_source_status_set(status, GPU_SOURCE_ABSENT, "", "no NVIDIA driver: %s", error.message);
        return NULL;
    }
    struct nvml_state *state = calloc(1, sizeof *state);
    if (!state) {
        gpu_source_status_set(status, GPU_SOURCE_FAILED, "", "out of memory");
        return NULL;
    }
    state->options = *options;
    state->xids.fd = -1;
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

/* Says what a code of the driver at its start means, and what to do about it. */
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

/* Adds one GPU or MIG instance; `parent` is NULL for a whole GPU. NULL when there are too many,
 * which are counted. */
static struct nvml_gpu *add_gpu(
    struct nvml_state *state, nvml_device handle, const struct gpu_device *parent)
{
    if (state->n_gpus == GPU_MAX_DEVICES) {
        state->n_skipped++;
        return NULL;
    }
    struct nvml_gpu *gpu = &state->gpus[state->n_gpus++];
    nvml_gpu_init(gpu, &state->library, state->version, state->options.procfs_root, handle, parent);
    if (state->options.parts)
        gpu->parts = nvml_gpm_create(&state->library);
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
    for (unsigned i = 0; i < count; i++) {
        if (state->library.mig_by_index(handle, i, &instance) != NVML_SUCCESS)
            continue;
        if (!replaced) {
            nvml_gpm_destroy(parent->parts);
            memset(&state->gpus[--state->n_gpus], 0, sizeof *parent);
        }
        struct nvml_gpu *gpu = add_gpu(state, instance, &device);
        if (gpu && gpu->parts)
            nvml_gpm_set_instance(gpu->parts, handle, instance);
        if (gpu && !replaced) {
            gpu->card = handle;
            gpu->device.is_card_leader = true;
        }
        replaced = true;
    }
}

/* Adds the GPUs that the driver lists, each with its MIG instances. Returns whether there is one.
 */
static bool find_gpus(struct nvml_state *state, unsigned count)
{
    state->n_gpus = state->n_refused = state->n_skipped = 0;
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

/* Initializes the driver, and asks how many GPUs it has and what its version is. */
static bool start(struct nvml_state *state, unsigned *count, struct gpu_source_status *status)
{
    int code = nvml_library_initialize(&state->library);
    if (code == NVML_SUCCESS) {
        state->initialized = true;
        code = state->library.device_count(count);
    }
    if (code != NVML_SUCCESS)
        explain_init(code, status);
    snprintf(state->version, sizeof state->version, "of unknown version");
    if (code == NVML_SUCCESS && state->library.driver_version)
        state->library.driver_version(state->version, sizeof state->version);
    state->version[sizeof state->version - 1] = '\0';
    return code == NVML_SUCCESS;
}

/* Starts the driver unless that would wake suspended GPUs, and finds its GPUs. */
static bool nvml_open(void *opaque, struct gpu_source_status *status)
{
    struct nvml_state *state = opaque;
    if (!state->options.wake && nvidia_all_suspended(state->options.sysfs_root)) {
        gpu_source_status_set(status, GPU_SOURCE_SUSPENDED, "",
            "every NVIDIA GPU is suspended; reading them would wake them");
        return false;
    }
    unsigned count = 0;
    if (!start(state, &count, status))
        return false;
    if (state->xids.fd < 0)
        xid_log_open(&state->xids, "/dev/kmsg");
    if (!find_gpus(state, count)) {
        if (state->n_refused)
            explain_init(state->refused_code, status);
        else
            gpu_source_status_set(
                status, GPU_SOURCE_ABSENT, "", "the NVIDIA driver knows of no GPU");
        return false;
    }
    status->n_skipped = state->n_skipped;
    const char *version = state->version;
    if (state->n_refused)
        gpu_source_status_set(status, GPU_SOURCE_PARTIAL,
            "use these GPUs from a job or container that was given them",
            "NVIDIA driver %s; %u of %u GPUs cannot be used: %s", version, state->n_refused, count,
            nvml_code_text(state->refused_code));
    else if (state->n_skipped)
        gpu_source_status_set(status, GPU_SOURCE_PARTIAL, "",
            "NVIDIA driver %s; %u GPUs are skipped: gpu-tracker reads at most %d", version,
            state->n_skipped, GPU_MAX_DEVICES);
    else
        gpu_source_status_set(status, GPU_SOURCE_AVAILABLE, "", "NVIDIA driver %s", version);
    return true;
}

static void nvml_read_device(
    void *opaque, uint32_t index, bool whole, struct gpu_device_reading *reading)
{
    struct nvml_state *state = opaque;
    state->gpus[index].n_gpus = state->n_gpus;
    nvml_gpu_read(&state->gpus[index], whole, reading);
    if (index == 0)
        xid_log_update(&state->xids);
    if (!state->gpus[index].device.mig || state->gpus[index].device.is_card_leader)
        xid_log_fill(&state->xids, state->gpus[index].device.pci_address, &reading->card);
}

static void nvml_read_ram(void *opaque, uint32_t index, struct gpu_device_reading *reading)
{
    nvml_gpu_read_ram(&((struct nvml_state *)opaque)->gpus[index], reading);
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
        state->files = device_files_are_own("nvidiactl") ? FILES_OF_DRIVER : FILES_WITHOUT_OWNER;
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

/* Whether the GPU is busy, and which process keeps it so is not known. */
static bool is_user_unknown(const struct nvml_state *state, uint32_t i)
{
    return atomic_load(&state->gpus[i].busy) && state->reader.usages[i].count == 0;
}

/* Lists the processes of each GPU, and says how far the list can be trusted. */
static void nvml_read_processes(
    void *opaque, const struct gpu_tracked *tracked, bool whole, struct gpu_process_list *list)
{
    struct nvml_state *state = opaque;
    state->reader.n_gpus = state->n_gpus;
    for (uint32_t i = 0; i < state->n_gpus; i++) {
        struct nvml_gpu *gpu = &state->gpus[i];
        if (atomic_load(&gpu->lost))
            list->ram_missing[i] = list->sm_missing[i] = nvml_code_text(NVML_GPU_IS_LOST);
        else
            nvml_processes_read(&state->reader, atomic_load(&gpu->handle), gpu->device.mig, i,
                clock_monotonic_ns(), whole || is_user_unknown(state, i), list);
    }
    list->pids_unproven = !has_own_pids(state, list);
    if ((list->pids_unproven || may_hide_processes(state, list)) && has_driver_files(state))
        list->none_tracked_has_files =
            device_files_none_open(state->options.procfs_root, tracked, "nvidia", "nvidiactl");
}

const struct gpu_source gpu_source_nvml = {
    .name = "nvml",
    .vendor = GPU_VENDOR_NVIDIA,
    .opens_slowly = true,
    .probe = nvml_probe,
    .open = nvml_open,
    .list_devices = nvml_list_devices,
    .read_device = nvml_read_device,
    .read_ram = nvml_read_ram,
    .read_processes = nvml_read_processes,
    .close = nvml_close,
};
