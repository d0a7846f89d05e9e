/*
 * libnvidia-ml.so.1, loaded at run time. Every function is optional: NULL when this driver does not
 * have it.
 */
#pragma once

#include "base/error.h"
#include "machine/gpu/nvml_abi.h"

#include <stdbool.h>

typedef int nvml_get(nvml_device device, unsigned *value);
typedef int nvml_get_typed(nvml_device device, unsigned type, unsigned *value);
typedef int nvml_get_engine(nvml_device device, unsigned *percent, unsigned *period_us);
typedef int nvml_list_processes(nvml_device device, unsigned *count, void *entries);

/* Lists of processes by kind, and functions of each from newest to oldest. */
enum nvml_process_kind { NVML_COMPUTE, NVML_GRAPHICS, NVML_MPS_COMPUTE, NVML_PROCESS_KINDS };
enum nvml_process_version { NVML_V3, NVML_V2, NVML_V1, NVML_PROCESS_VERSIONS };

struct nvml_library {
    void *handle; /* of dlopen() */

    int (*init)(void);
    int (*init_with_flags)(unsigned flags);
    int (*shutdown)(void);
    int (*driver_version)(char *version, unsigned size);
    int (*device_count)(unsigned *count);
    int (*handle_by_index)(unsigned index, nvml_device *device);
    int (*handle_by_uuid)(const char *uuid, nvml_device *device);
    int (*name)(nvml_device device, char *name, unsigned size);
    int (*uuid)(nvml_device device, char *uuid, unsigned size);
    int (*pci_info)(nvml_device device, struct nvml_pci_info *pci);
    int (*memory)(nvml_device device, struct nvml_memory *memory);
    int (*memory_v2)(nvml_device device, struct nvml_memory_v2 *memory);
    int (*utilization)(nvml_device device, struct nvml_utilization *utilization);
    int (*power)(nvml_device device, unsigned *milliwatts);
    int (*energy)(nvml_device device, unsigned long long *millijoules);
    int (*field_values)(nvml_device device, int count, struct nvml_field_value *values);
    nvml_get_typed *clock, *max_clock, *temperature, *temperature_threshold;
    nvml_get *performance_state, *power_limit, *fan, *pcie_generation, *pcie_width,
        *max_pcie_generation, *max_pcie_width, *compute_mode;
    int (*clock_reasons)(nvml_device device, unsigned long long *reasons);
    int (*bar1)(nvml_device device, struct nvml_memory *total_free_used);
    nvml_get_engine *encoder, *decoder;
    int (*gpm_support)(nvml_device device, struct nvml_gpm_support *support);
    int (*gpm_alloc)(nvml_gpm_sample *sample);
    int (*gpm_free)(nvml_gpm_sample sample);
    int (*gpm_sample)(nvml_device device, nvml_gpm_sample sample);
    int (*gpm_instance_sample)(nvml_device card, unsigned instance, nvml_gpm_sample sample);
    int (*gpm_metrics)(struct nvml_gpm_request *request);
    nvml_list_processes *processes[NVML_PROCESS_KINDS][NVML_PROCESS_VERSIONS];
    int (*process_utilization)(nvml_device device, struct nvml_process_sample *samples,
        unsigned *count, unsigned long long last_seen_us);
    int (*processes_utilization)(
        nvml_device device, struct nvml_processes_utilization *utilization);
    int (*mig_mode)(nvml_device device, unsigned *current, unsigned *pending);
    int (*mig_count)(nvml_device device, unsigned *count);
    nvml_get *mig_instance;
    int (*mig_by_index)(nvml_device device, unsigned index, nvml_device *instance);
    /* Never called; their presence shows the driver's age. */
    void (*confidential_memory)(void);
    void (*process_details)(void);
};

/*
 * Loads `path`, or, when it is NULL, the driver's library from its usual places. On success the
 * caller unloads it with nvml_library_close(). Errors: GPUT_ERROR_NOT_FOUND when there is no such
 * library, GPUT_ERROR_FORMAT when it cannot be loaded or is not NVML.
 */
int nvml_library_open(struct nvml_library *library, const char *path, struct gput_error *error);

void nvml_library_close(struct nvml_library *library);

/* Starts NVML, by the newer call where there is one. Returns its code. */
int nvml_library_initialize(const struct nvml_library *library);

/* Bytes of one entry that the list functions of that version write. */
size_t nvml_process_size(const struct nvml_library *library, enum nvml_process_version version);

/* The value of a field, whatever its type is; NaN of an unknown one. */
double nvml_field_number(const struct nvml_field_value *field);

/* A description of a code: "not supported by this GPU". Static text. (NVML's own function has
 * crashed after a failed start.) */
const char *nvml_code_text(int code);
