#include "machine/gpu/nvml_library.h"

#include "base/shared_library.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Where a function's pointer goes, and its names from newest to oldest; all names of a line take
 * the same arguments. */
static const struct symbol {
    size_t offset;
    const char *names[3];
} symbols[] = {
#define AT(member) offsetof(struct nvml_library, member)
    {AT(init), {"nvmlInit_v2", "nvmlInit"}},
    {AT(init_with_flags), {"nvmlInitWithFlags"}},
    {AT(shutdown), {"nvmlShutdown"}},
    {AT(driver_version), {"nvmlSystemGetDriverVersion"}},
    {AT(device_count), {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}},
    {AT(handle_by_index), {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}},
    {AT(handle_by_uuid), {"nvmlDeviceGetHandleByUUID"}},
    {AT(name), {"nvmlDeviceGetName"}},
    {AT(uuid), {"nvmlDeviceGetUUID"}},
    {AT(pci_info), {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"}},
    {AT(memory), {"nvmlDeviceGetMemoryInfo"}},
    {AT(memory_v2), {"nvmlDeviceGetMemoryInfo_v2"}},
    {AT(utilization), {"nvmlDeviceGetUtilizationRates"}},
    {AT(power), {"nvmlDeviceGetPowerUsage"}},
    {AT(energy), {"nvmlDeviceGetTotalEnergyConsumption"}},
    {AT(field_values), {"nvmlDeviceGetFieldValues"}},
    {AT(clock), {"nvmlDeviceGetClockInfo"}},
    {AT(max_clock), {"nvmlDeviceGetMaxClockInfo"}},
    {AT(temperature), {"nvmlDeviceGetTemperature"}},
    {AT(temperature_threshold), {"nvmlDeviceGetTemperatureThreshold"}},
    {AT(performance_state), {"nvmlDeviceGetPerformanceState"}},
    {AT(power_limit), {"nvmlDeviceGetEnforcedPowerLimit"}},
    {AT(fan), {"nvmlDeviceGetFanSpeed"}},
    {AT(pcie_generation), {"nvmlDeviceGetCurrPcieLinkGeneration"}},
    {AT(pcie_width), {"nvmlDeviceGetCurrPcieLinkWidth"}},
    {AT(max_pcie_generation), {"nvmlDeviceGetMaxPcieLinkGeneration"}},
    {AT(max_pcie_width), {"nvmlDeviceGetMaxPcieLinkWidth"}},
    {AT(compute_mode), {"nvmlDeviceGetComputeMode"}},
    {AT(clock_reasons),
        {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}},
    {AT(bar1), {"nvmlDeviceGetBAR1MemoryInfo"}},
    {AT(encoder), {"nvmlDeviceGetEncoderUtilization"}},
    {AT(decoder), {"nvmlDeviceGetDecoderUtilization"}},
    {AT(gpm_support), {"nvmlGpmQueryDeviceSupport"}},
    {AT(gpm_alloc), {"nvmlGpmSampleAlloc"}},
    {AT(gpm_free), {"nvmlGpmSampleFree"}},
    {AT(gpm_sample), {"nvmlGpmSampleGet"}},
    {AT(gpm_instance_sample), {"nvmlGpmMigSampleGet"}},
    {AT(gpm_metrics), {"nvmlGpmMetricsGet"}},
    {AT(processes[NVML_COMPUTE][NVML_V3]), {"nvmlDeviceGetComputeRunningProcesses_v3"}},
    {AT(processes[NVML_COMPUTE][NVML_V2]), {"nvmlDeviceGetComputeRunningProcesses_v2"}},
    {AT(processes[NVML_COMPUTE][NVML_V1]), {"nvmlDeviceGetComputeRunningProcesses"}},
    {AT(processes[NVML_GRAPHICS][NVML_V3]), {"nvmlDeviceGetGraphicsRunningProcesses_v3"}},
    {AT(processes[NVML_GRAPHICS][NVML_V2]), {"nvmlDeviceGetGraphicsRunningProcesses_v2"}},
    {AT(processes[NVML_GRAPHICS][NVML_V1]), {"nvmlDeviceGetGraphicsRunningProcesses"}},
    {AT(processes[NVML_MPS_COMPUTE][NVML_V3]), {"nvmlDeviceGetMPSComputeRunningProcesses_v3"}},
    {AT(processes[NVML_MPS_COMPUTE][NVML_V2]), {"nvmlDeviceGetMPSComputeRunningProcesses_v2"}},
    {AT(processes[NVML_MPS_COMPUTE][NVML_V1]), {"nvmlDeviceGetMPSComputeRunningProcesses"}},
    {AT(process_utilization), {"nvmlDeviceGetProcessUtilization"}},
    {AT(processes_utilization), {"nvmlDeviceGetProcessesUtilizationInfo"}},
    {AT(mig_mode), {"nvmlDeviceGetMigMode"}},
    {AT(mig_count), {"nvmlDeviceGetMaxMigDeviceCount"}},
    {AT(mig_instance), {"nvmlDeviceGetGpuInstanceId"}},
    {AT(mig_by_index), {"nvmlDeviceGetMigDeviceHandleByIndex"}},
    {AT(confidential_memory), {"nvmlDeviceGetConfComputeMemSizeInfo"}},
    {AT(process_details), {"nvmlDeviceGetRunningProcessDetailList"}},
#undef AT
};

static const char *const usual_paths[] = {
    "libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
};

/* Loads the library: the one that is named, or else the first of the usual ones. */
static int load(struct nvml_library *library, const char *path, struct gput_error *error)
{
    const char *why;
    if (!shared_library_can_load())
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "this statically linked gpu-tracker cannot load libnvidia-ml.so.1");
    if (path) {
        if (strchr(path, '/') && access(path, F_OK) != 0)
            return error_set(error, GPUT_ERROR_NOT_FOUND, "there is no file %s", path);
        library->handle = shared_library_open(path, RTLD_NOW | RTLD_LOCAL, &why);
        if (library->handle)
            return GPUT_OK;
        return error_set(error, GPUT_ERROR_FORMAT, "cannot load %s: %s", path, why);
    }
    for (size_t i = 0; i < sizeof usual_paths / sizeof *usual_paths && !library->handle; i++)
        library->handle = shared_library_open(usual_paths[i], RTLD_NOW | RTLD_LOCAL, &why);
    if (library->handle)
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_NOT_FOUND, "libnvidia-ml.so.1 is not installed");
}

int nvml_library_open(struct nvml_library *library, const char *path, struct gput_error *error)
{
    memset(library, 0, sizeof *library);
    TRY(load(library, path, error));
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *function = NULL;
        for (size_t j = 0; j < 3 && symbols[i].names[j] && !function; j++)
            function = dlsym(library->handle, symbols[i].names[j]);
        memcpy((char *)library + symbols[i].offset, &function, sizeof function);
    }
    if ((library->init || library->init_with_flags) && library->device_count &&
        library->handle_by_index)
        return GPUT_OK;
    nvml_library_close(library);
    return error_set(error, GPUT_ERROR_FORMAT,
        "%s lacks the functions that find GPUs: it is not an NVIDIA management library",
        path ? path : usual_paths[0]);
}

void nvml_library_close(struct nvml_library *library)
{
    if (library->handle)
        dlclose(library->handle);
    memset(library, 0, sizeof *library);
}

int nvml_library_initialize(const struct nvml_library *library)
{
    return library->init ? library->init() : library->init_with_flags(0);
}

size_t nvml_process_size(const struct nvml_library *library, enum nvml_process_version version)
{
    if (version == NVML_V1)
        return sizeof(struct nvml_process_v1);
    if (version == NVML_V3 && library->confidential_memory && !library->process_details)
        return sizeof(struct nvml_process_r535);
    return sizeof(struct nvml_process_v2);
}

double nvml_field_number(const struct nvml_field_value *field)
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

static const struct {
    int code;
    const char *text;
} code_texts[] = {
    {NVML_SUCCESS, "no error"},
    {NVML_UNINITIALIZED, "the NVIDIA library is not initialized"},
    {NVML_INVALID_ARGUMENT, "the NVIDIA driver does not know this GPU, or no longer"},
    {NVML_NOT_SUPPORTED, "not supported by this GPU"},
    {NVML_NO_PERMISSION, "the NVIDIA driver denies permission"},
    {NVML_NOT_FOUND, "the NVIDIA driver has no figure now"},
    {NVML_NO_DATA, "the NVIDIA driver has no figure now"},
    {NVML_INSUFFICIENT_SIZE, "the NVIDIA driver's list grew faster than it could be read"},
    {NVML_DRIVER_NOT_LOADED, "the NVIDIA driver is not loaded"},
    {NVML_TIMEOUT, "the NVIDIA driver timed out"},
    {NVML_LIBRARY_NOT_FOUND, "a library of the NVIDIA driver is missing"},
    {NVML_FUNCTION_NOT_FOUND, "this NVIDIA driver has no such function"},
    {NVML_GPU_IS_LOST, "the GPU was lost (it fell off the bus or was taken away)"},
    {NVML_RESET_REQUIRED, "the GPU needs a reset"},
    {NVML_OPERATING_SYSTEM, "the system (a cgroup, perhaps) blocks the GPU"},
    {NVML_VERSION_MISMATCH, "NVIDIA driver and library versions differ"},
    {NVML_IN_USE, "the GPU is in exclusive use"},
    {NVML_ARGUMENT_VERSION_MISMATCH, "this NVIDIA driver expects another version of the call"},
};

const char *nvml_code_text(int code)
{
    for (size_t i = 0; i < sizeof code_texts / sizeof *code_texts; i++) {
        if (code_texts[i].code == code)
            return code_texts[i].text;
    }
    return "the NVIDIA driver answered with an unknown error";
}
