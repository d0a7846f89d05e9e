/*
 * The part of the ABI of NVIDIA's management library (NVML) that is used here: no header of
 * NVIDIA's is needed. Layouts are those of 64-bit Linux.
 */
#pragma once

#include <assert.h>
#include <stddef.h>

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

/* What early R535 drivers wrote through the _v3 functions. */
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
