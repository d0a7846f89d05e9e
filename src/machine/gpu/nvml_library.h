/*
 * libnvidia-ml.so.1, loaded at run time. Every function is optional: NULL when this driver does not
 * have it.
 */
#pragma once

#include "base/error.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The part of the ABI of NVIDIA's management library (NVML) that is used here: no header of
 * NVIDIA's is needed. Layouts are those of 64-bit Linux.
 */

typedef struct nvml_device_opaque *nvml_device;

/* nvmlReturn_t, an int-sized enum. */
enum nvml_code {
    NVML_SUCCESS = 0,
    NVML_UNINITIALIZED = 1,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_TIMEOUT = 10,
    NVML_LIBRARY_NOT_FOUND = 12,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_OPERATING_SYSTEM = 17,
    NVML_VERSION_MISMATCH = 18, /* of driver and library */
    NVML_IN_USE = 19,
    NVML_NO_DATA = 21,
    NVML_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_UNKNOWN = 999,
};

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
#define NVML_MEMORY_V2_VERSION 0x02000028u

struct nvml_utilization {
    unsigned gpu, memory; /* percent */
};

struct nvml_pci_info {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};

struct nvml_process_v1 {
    unsigned pid;
    unsigned long long used_gpu_memory;
};

struct nvml_process_v2 {
    unsigned pid;
    unsigned long long used_gpu_memory;
    unsigned gpu_instance_id, compute_instance_id;
};

/* Layout that early R535 drivers wrote through the _v3 functions. */
struct nvml_process_r535 {
    unsigned pid;
    unsigned long long used_gpu_memory;
    unsigned gpu_instance_id, compute_instance_id;
    unsigned long long used_protected_memory;
};

#define NVML_MEMORY_NOT_AVAILABLE (~0ull)

struct nvml_process_sample {
    unsigned pid;
    unsigned long long time_us;
    unsigned sm_percent, memory_percent, encoder_percent, decoder_percent;
};

struct nvml_process_utilization {
    unsigned long long time_us;
    unsigned pid, sm_percent, memory_percent, encoder_percent, decoder_percent, jpeg_percent,
        optical_flow_percent;
};

struct nvml_processes_utilization {
    unsigned version, count;
    unsigned long long last_seen_us;
    struct nvml_process_utilization *entries;
};
#define NVML_PROCESSES_UTILIZATION_VERSION 0x01000018u

struct nvml_field_value {
    unsigned field, scope;
    long long timestamp, latency_us;
    int value_type, code;
    union {
        double d;
        unsigned u;
        unsigned long ul;
        unsigned long long ull;
        long long ll;
        int i;
        unsigned short us;
    } value;
};
#define NVML_FIELD_ENERGY 83u         /* mJ since the driver was loaded */
#define NVML_FIELD_AVERAGE_POWER 185u /* mW */
#define NVML_FIELD_INSTANT_POWER 186u /* mW */
#define NVML_SCOPE_GPU 0u
#define NVML_SCOPE_MODULE 1u

/* Counters of parts of the chip (GPM). */
typedef struct nvml_gpm_sample_opaque *nvml_gpm_sample;

struct nvml_gpm_support {
    unsigned version, is_supported;
};

struct nvml_gpm_metric {
    unsigned metric;
    int code;
    double value;
    const char *short_name, *long_name, *unit;
};

/* NVIDIA's header has an array of all metrics that it knows: 98 at first, 333 in CUDA 13, and the
 * version of the call is the same. A driver fills the first `n_metrics`. */
#define NVML_GPM_MAX_METRICS 512
struct nvml_gpm_request {
    unsigned version, n_metrics;
    nvml_gpm_sample before, now;
    struct nvml_gpm_metric metrics[NVML_GPM_MAX_METRICS];
};
#define NVML_GPM_VERSION 1u /* of both */

#define NVML_DRIVER_VERSION_SIZE 80

static_assert(sizeof(struct nvml_memory) == 24, "nvmlMemory_t");
static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
static_assert(sizeof(struct nvml_pci_info) == 68, "nvmlPciInfo_t");
static_assert(sizeof(struct nvml_process_v1) == 16, "nvmlProcessInfo_v1_t");
static_assert(sizeof(struct nvml_process_v2) == 24, "nvmlProcessInfo_v2_t");
static_assert(sizeof(struct nvml_process_r535) == 32, "nvmlProcessInfo_t of early R535");
static_assert(sizeof(struct nvml_process_sample) == 32, "nvmlProcessUtilizationSample_t");
static_assert(sizeof(struct nvml_process_utilization) == 40, "nvmlProcessUtilizationInfo_v1_t");
static_assert(sizeof(struct nvml_processes_utilization) == 24, "nvmlProcessesUtilizationInfo_v1_t");
static_assert(sizeof(struct nvml_field_value) == 40, "nvmlFieldValue_t");
static_assert(sizeof(struct nvml_gpm_metric) == 40, "nvmlGpmMetric_t");
static_assert(offsetof(struct nvml_gpm_request, metrics) == 24, "nvmlGpmMetricsGet_t");

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
