/*
 * A libnvidia-ml.so.1 without a GPU: answers what a text file says. The file, named by
 * FAKE_NVML_SCENARIO, is read again for every call, so that a test can change it while a program
 * runs. See README.md for its lines.
 *
 * Layouts are written out here once more, on purpose: the code under test has its own, and the two
 * have to agree.
 *
 * scenario.c reads that file; here are the functions of the library.
 *
 * FAKE_ONLY_V1, FAKE_ONLY_V2, FAKE_R535 and FAKE_MINIMAL leave out functions, as drivers do.
 */
#include "scenario.h"
#include "simulated_gpu.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

typedef int nvmlReturn_t;

/* As drivers do; it stays open, as theirs does for as long as the library is in use. */
static void open_control_file(void)
{
    static int descriptor = -1;
    const char *path = getenv("FAKE_NVML_CONTROL");
    if (path && descriptor < 0)
        descriptor = open(path, O_RDONLY | O_CLOEXEC);
}

EXPORT nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlInit_v2(void)
{
    int code = begin("nvmlInit");
    if (code == SUCCESS) {
        set_initialized(true);
        open_control_file();
    }
    return end(code);
}

EXPORT nvmlReturn_t nvmlShutdown(void);
nvmlReturn_t nvmlShutdown(void)
{
    int code = begin("nvmlShutdown");
    set_initialized(false);
    return end(code);
}

EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length);
nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    int code = begin("nvmlSystemGetDriverVersion");
    snprintf(version, length, "%s", scenario.driver);
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count)
{
    int code = begin("nvmlDeviceGetCount");
    *count = (unsigned)scenario.n_gpus;
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device)
{
    int code = begin("nvmlDeviceGetHandleByIndex");
    if (index >= (unsigned)scenario.n_gpus)
        return end(INVALID_ARGUMENT);
    struct device *self = &scenario.gpus[index].self;
    if (code == SUCCESS)
        code = rule_for(self->rules, self->n_rules, "nvmlDeviceGetHandleByIndex");
    if (code == SUCCESS)
        *device = make_handle(index, 0);
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char *name, unsigned length);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char *name, unsigned length)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetName", handle, &device);
    if (code == SUCCESS)
        snprintf(name, length, "%s", device->name);
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char *uuid, unsigned length);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char *uuid, unsigned length)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetUUID", handle, &device);
    if (code == SUCCESS)
        snprintf(uuid, length, "%s", device->uuid);
    return end(code);
}

struct memory_v1 {
    unsigned long long total, free, used;
};

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, struct memory_v1 *memory);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, struct memory_v1 *memory)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetMemoryInfo", handle, &device);
    if (code == SUCCESS) {
        unsigned long long used = device->used + device->reserved;
        *memory = (struct memory_v1){device->total, device->total - used, used};
    }
    return end(code);
}

struct utilization {
    unsigned gpu, memory;
};

EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(
    nvmlDevice_t handle, struct utilization *utilization);
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t handle, struct utilization *utilization)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetUtilizationRates", handle, &device);
    if (code == SUCCESS)
        *utilization = (struct utilization){device->utilization, 10};
    return end(code);
}

/* ---- processes ---- */

struct process_v1 {
    unsigned pid;
    unsigned long long used;
};

/* Writes the entries of a kind, each `size` bytes, the first 16 of them as above. */
static int list_processes(
    const char *call, nvmlDevice_t handle, unsigned *count, void *entries, char kind, size_t size)
{
    static int calls;
    struct device *device;
    int code = begin_on(call, handle, &device);
    if (code != SUCCESS)
        return end(code);
    unsigned found = 0;
    for (int i = 0; i < device->n_entries; i++)
        found += device->entries[i].kind == kind;
    unsigned grown = found ? found + (unsigned)(scenario.grow * calls++) : found;
    if (grown > *count) {
        *count = grown;
        return end(INSUFFICIENT_SIZE);
    }
    unsigned written = 0;
    for (int i = 0; i < device->n_entries; i++) {
        if (device->entries[i].kind != kind)
            continue;
        struct process_v1 process = {device->entries[i].pid, device->entries[i].value};
        unsigned char *at = (unsigned char *)entries + size * written++;
        memset(at, 0xff, size);
        memcpy(at, &process, sizeof process);
    }
    *count = written;
    return end(SUCCESS);
}

#define LIST(function, call, kind, size)                                                           \
    EXPORT nvmlReturn_t function(nvmlDevice_t handle, unsigned *count, void *entries);             \
    nvmlReturn_t function(nvmlDevice_t handle, unsigned *count, void *entries)                     \
    {                                                                                              \
        return list_processes(call, handle, count, entries, kind, size);                           \
    }

LIST(nvmlDeviceGetComputeRunningProcesses, "nvmlDeviceGetComputeRunningProcesses", 'c', 16)
LIST(nvmlDeviceGetGraphicsRunningProcesses, "nvmlDeviceGetGraphicsRunningProcesses", 'g', 16)
#ifndef FAKE_ONLY_V1
LIST(nvmlDeviceGetComputeRunningProcesses_v2, "nvmlDeviceGetComputeRunningProcesses_v2", 'c', 24)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, "nvmlDeviceGetGraphicsRunningProcesses_v2", 'g', 24)
#ifndef FAKE_ONLY_V2
#ifdef FAKE_R535
#define V3_SIZE 32
#else
#define V3_SIZE 24
#endif
LIST(nvmlDeviceGetComputeRunningProcesses_v3, "nvmlDeviceGetComputeRunningProcesses_v3", 'c',
    V3_SIZE)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, "nvmlDeviceGetGraphicsRunningProcesses_v3", 'g',
    V3_SIZE)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, "nvmlDeviceGetMPSComputeRunningProcesses_v3", 'm',
    V3_SIZE)
#endif
#endif

#ifdef FAKE_R535
EXPORT nvmlReturn_t nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t handle, void *info);
nvmlReturn_t nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t handle, void *info)
{
    (void)handle;
    (void)info;
    return NOT_SUPPORTED;
}
#endif

#ifndef FAKE_MINIMAL

EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *handle);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *handle)
{
    int code = begin("nvmlDeviceGetHandleByUUID");
    for (int i = 0; i < scenario.n_gpus && code == SUCCESS; i++)
        if (strcmp(scenario.gpus[i].self.uuid, uuid) == 0) {
            *handle = make_handle((unsigned)i, 0);
            return end(SUCCESS);
        }
    return end(code == SUCCESS ? NOT_FOUND : code);
}

struct pci {
    char legacy[16];
    unsigned domain, bus, device, pci_device, pci_subsystem;
    char bus_id[32];
};

EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, struct pci *pci);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, struct pci *pci)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetPciInfo", handle, &device);
    if (code != SUCCESS)
        return end(code);
    *pci = (struct pci){.domain = device->domain, .bus = device->bus, .device = device->slot};
    snprintf(pci->legacy, sizeof pci->legacy, "%04X:%02X:%02X.0", device->domain & 0xffff,
        device->bus & 0xff, device->slot & 0xff);
    snprintf(pci->bus_id, sizeof pci->bus_id, "%08X:%02X:%02X.0", device->domain,
        device->bus & 0xff, device->slot & 0xff);
    return end(SUCCESS);
}

struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, struct memory_v2 *memory);
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, struct memory_v2 *memory)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetMemoryInfo_v2", handle, &device);
    if (code == SUCCESS && memory->version != (2u << 24 | 40))
        return end(ARGUMENT_VERSION_MISMATCH);
    if (code == SUCCESS) {
        memory->total = device->total;
        memory->reserved = device->reserved;
        memory->used = device->used;
        memory->free = device->total - device->used - device->reserved;
    }
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t handle, unsigned *milliwatts);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t handle, unsigned *milliwatts)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetPowerUsage", handle, &device);
    if (code == SUCCESS)
        *milliwatts = device->power_mw;
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(
    nvmlDevice_t handle, unsigned long long *millijoules);
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(
    nvmlDevice_t handle, unsigned long long *millijoules)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetTotalEnergyConsumption", handle, &device);
    if (code == SUCCESS)
        *millijoules = device->energy_mj;
    return end(code);
}

struct field_value {
    unsigned field, scope;
    long long timestamp, latency;
    int type, code;
    unsigned long long value;
};

EXPORT nvmlReturn_t nvmlDeviceGetFieldValues(
    nvmlDevice_t handle, int count, struct field_value *values);
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t handle, int count, struct field_value *values)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetFieldValues", handle, &device);
    for (int i = 0; i < count && code == SUCCESS; i++) {
        unsigned long long value = 0;
        if (values[i].field == 83 && values[i].scope == 1)
            value = device->module_energy_mj;
        else if (values[i].field == 186 && values[i].scope == 0)
            value = device->instant_power_mw;
        char name[48];
        snprintf(name, sizeof name, "field/%u", values[i].field);
        const unsigned long long *given = value_of(device, name);
        value = given ? *given : value;
        values[i].code = value || given ? SUCCESS : NOT_SUPPORTED;
        values[i].type = 3;
        values[i].value = value;
    }
    return end(code);
}

struct process_sample {
    unsigned pid;
    unsigned long long time_us;
    unsigned sm, memory, encoder, decoder;
};

EXPORT nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t handle,
    struct process_sample *samples, unsigned *count, unsigned long long last_seen_us);
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t handle, struct process_sample *samples,
    unsigned *count, unsigned long long last_seen_us)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetProcessUtilization", handle, &device);
    if (code != SUCCESS)
        return end(code);
    if (!samples) {
        *count = 100;
        return end(INSUFFICIENT_SIZE);
    }
    unsigned written = 0;
    for (int i = 0; i < device->n_entries; i++) {
        const struct entry *entry = &device->entries[i];
        if (entry->kind != 's' || entry->value <= last_seen_us)
            continue;
        if (written == *count) {
            *count = (unsigned)device->n_entries;
            return end(INSUFFICIENT_SIZE);
        }
        samples[written++] = (struct process_sample){
            .pid = entry->pid, .time_us = entry->value, .sm = entry->percent};
    }
    *count = written;
    return end(written ? SUCCESS : NOT_FOUND);
}

struct sample {
    unsigned long long time_us, value;
};

/* Of the simulated GPU: times of the samples that it has kept, each with the value 0. */
EXPORT nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t handle, int type,
    unsigned long long last_seen_us, int *value_type, unsigned *count, struct sample *samples);
nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t handle, int type, unsigned long long last_seen_us,
    int *value_type, unsigned *count, struct sample *samples)
{
    enum { POWER = 0, UTILIZATION = 1, KEPT = 100 };
    struct device *device;
    int code = begin_on("nvmlDeviceGetSamples", handle, &device);
    if (code != SUCCESS)
        return end(code);
    if (!device->is_simulated || (type != POWER && type != UTILIZATION))
        return end(NOT_SUPPORTED);
    uint64_t interval_ns = type == POWER ? SIMULATED_POWER_NS : SIMULATED_UTILIZATION_NS;
    unsigned long long newest_us = simulated_gpu_wall_us(interval_ns), written = 0;
    *value_type = 1;
    for (unsigned i = KEPT; i-- > 0 && written < *count;) {
        unsigned long long time_us = newest_us - i * interval_ns / 1000;
        if (time_us > last_seen_us)
            samples[written++] = (struct sample){time_us, 0};
    }
    *count = (unsigned)written;
    return end(written ? SUCCESS : NOT_FOUND);
}

/* ---- calls of the card itself, whose answers are numbers ---- */

static nvmlReturn_t answer(
    const char *call, nvmlDevice_t handle, int type, unsigned long long *number)
{
    struct device *device;
    char name[48];
    int code = begin_on(call, handle, &device);
    snprintf(name, sizeof name, type < 0 ? "%s" : "%s/%d", call, type);
    const unsigned long long *given = code == SUCCESS ? value_of(device, name) : NULL;
    if (given)
        *number = *given;
    return end(code == SUCCESS && !given ? NOT_SUPPORTED : code);
}

#define NUMBER(function)                                                                           \
    EXPORT nvmlReturn_t function(nvmlDevice_t handle, unsigned *value);                            \
    nvmlReturn_t function(nvmlDevice_t handle, unsigned *value)                                    \
    {                                                                                              \
        unsigned long long number = 0;                                                             \
        nvmlReturn_t code = answer(#function, handle, -1, &number);                                \
        *value = (unsigned)number;                                                                 \
        return code;                                                                               \
    }
#define TYPED(function)                                                                            \
    EXPORT nvmlReturn_t function(nvmlDevice_t handle, unsigned type, unsigned *value);             \
    nvmlReturn_t function(nvmlDevice_t handle, unsigned type, unsigned *value)                     \
    {                                                                                              \
        unsigned long long number = 0;                                                             \
        nvmlReturn_t code = answer(#function, handle, (int)type, &number);                         \
        *value = (unsigned)number;                                                                 \
        return code;                                                                               \
    }
#define ENGINE(function)                                                                           \
    EXPORT nvmlReturn_t function(nvmlDevice_t handle, unsigned *value, unsigned *period);          \
    nvmlReturn_t function(nvmlDevice_t handle, unsigned *value, unsigned *period)                  \
    {                                                                                              \
        unsigned long long number = 0;                                                             \
        nvmlReturn_t code = answer(#function, handle, -1, &number);                                \
        *value = (unsigned)number;                                                                 \
        *period = 166000;                                                                          \
        return code;                                                                               \
    }

TYPED(nvmlDeviceGetClockInfo)
TYPED(nvmlDeviceGetMaxClockInfo)
TYPED(nvmlDeviceGetTemperature)
TYPED(nvmlDeviceGetTemperatureThreshold)
NUMBER(nvmlDeviceGetPerformanceState)
NUMBER(nvmlDeviceGetEnforcedPowerLimit)
NUMBER(nvmlDeviceGetFanSpeed)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth)
ENGINE(nvmlDeviceGetEncoderUtilization)
ENGINE(nvmlDeviceGetDecoderUtilization)

EXPORT nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(
    nvmlDevice_t handle, unsigned long long *reasons);
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(
    nvmlDevice_t handle, unsigned long long *reasons)
{
    return answer("nvmlDeviceGetCurrentClocksEventReasons", handle, -1, reasons);
}

EXPORT nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t handle, struct memory_v1 *memory);
nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t handle, struct memory_v1 *memory)
{
    *memory = (struct memory_v1){.total = 1ull << 38};
    return answer("nvmlDeviceGetBAR1MemoryInfo", handle, -1, &memory->used);
}

/* ---- GPM: samples know their GPU, and how many were taken before ---- */

struct gpm_sample {
    nvmlDevice_t device;
    unsigned long long number, time_ns;
};

struct gpm_support {
    unsigned version, is_supported;
};

struct gpm_metric {
    unsigned metric;
    int code;
    double value;
    char *names[3];
};

struct gpm_request {
    unsigned version, count;
    struct gpm_sample *before, *now;
    struct gpm_metric metrics[];
};

EXPORT nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t handle, struct gpm_support *support);
nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t handle, struct gpm_support *support)
{
    struct device *device;
    int code = begin_on("nvmlGpmQueryDeviceSupport", handle, &device);
    if (code == SUCCESS && support->version != 1)
        code = ARGUMENT_VERSION_MISMATCH;
    if (code == SUCCESS)
        support->is_supported = value_of(device, "nvmlGpmQueryDeviceSupport") != NULL;
    return end(code);
}

EXPORT nvmlReturn_t nvmlGpmSampleAlloc(struct gpm_sample **sample);
nvmlReturn_t nvmlGpmSampleAlloc(struct gpm_sample **sample)
{
    int code = begin("nvmlGpmSampleAlloc");
    *sample = code == SUCCESS ? calloc(1, sizeof **sample) : NULL;
    return end(code == SUCCESS && !*sample ? UNKNOWN : code);
}

EXPORT nvmlReturn_t nvmlGpmSampleFree(struct gpm_sample *sample);
nvmlReturn_t nvmlGpmSampleFree(struct gpm_sample *sample)
{
    int code = begin("nvmlGpmSampleFree");
    free(sample);
    return end(code);
}

/* The counters of a device, now. */
static void take_gpm_sample(nvmlDevice_t handle, struct gpm_sample *sample)
{
    static unsigned long long n_taken;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *sample = (struct gpm_sample){handle, ++n_taken,
        (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec};
}

EXPORT nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t handle, struct gpm_sample *sample);
nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t handle, struct gpm_sample *sample)
{
    struct device *device;
    int code = begin_on("nvmlGpmSampleGet", handle, &device);
    if (code == SUCCESS)
        take_gpm_sample(handle, sample);
    return end(code);
}

/* The number of an instance of the fake is its index from 1 on. */
EXPORT nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t handle, unsigned *instance);
nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t handle, unsigned *instance)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetGpuInstanceId", handle, &device);
    *instance = (unsigned)((uintptr_t)handle % 0x10);
    return end(code);
}

EXPORT nvmlReturn_t nvmlGpmMigSampleGet(
    nvmlDevice_t handle, unsigned instance, struct gpm_sample *sample);
nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t handle, unsigned instance, struct gpm_sample *sample)
{
    struct device *device;
    int code = begin_on("nvmlGpmMigSampleGet", handle, &device);
    if (code == SUCCESS)
        take_gpm_sample(
            make_handle((unsigned)((uintptr_t)handle / 0x10 % 0x100), instance), sample);
    return end(code);
}

/* As the driver asks for, samples are 100 ms apart, and the earlier one is the first. */
EXPORT nvmlReturn_t nvmlGpmMetricsGet(struct gpm_request *request);
nvmlReturn_t nvmlGpmMetricsGet(struct gpm_request *request)
{
    const struct gpm_sample *before = request->before, *now = request->now;
    struct device *device;
    int code = begin_on("nvmlGpmMetricsGet", now->device, &device);
    if (code == SUCCESS && request->version != 1)
        code = ARGUMENT_VERSION_MISMATCH;
    if (code == SUCCESS && (before->device != now->device || before->number >= now->number ||
                               now->time_ns < before->time_ns + 100000000))
        code = INVALID_ARGUMENT;
    for (unsigned i = 0; i < request->count && code == SUCCESS; i++) {
        char name[48];
        snprintf(name, sizeof name, "gpm/%u", request->metrics[i].metric);
        const unsigned long long *given = value_of(device, name);
        request->metrics[i].code = given ? SUCCESS : NOT_SUPPORTED;
        request->metrics[i].value = given ? (double)*given : 0;
    }
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t handle, unsigned *mode);
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t handle, unsigned *mode)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetComputeMode", handle, &device);
    if (code == SUCCESS)
        *mode = device->compute_mode;
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned *current, unsigned *pending);
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned *current, unsigned *pending)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetMigMode", handle, &device);
    if (code != SUCCESS)
        return end(code);
    *current = *pending = ((struct gpu *)device)->mig_current;
    return end(SUCCESS);
}

EXPORT nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t handle, unsigned *count);
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t handle, unsigned *count)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetMaxMigDeviceCount", handle, &device);
    *count = 7;
    return end(code);
}

EXPORT nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(
    nvmlDevice_t handle, unsigned index, nvmlDevice_t *instance);
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(
    nvmlDevice_t handle, unsigned index, nvmlDevice_t *instance)
{
    struct device *device;
    int code = begin_on("nvmlDeviceGetMigDeviceHandleByIndex", handle, &device);
    if (code != SUCCESS)
        return end(code);
    if (index >= (unsigned)((struct gpu *)device)->n_mig)
        return end(NOT_FOUND);
    unsigned gpu = (unsigned)((uintptr_t)handle / 0x10 % 0x100);
    *instance = make_handle(gpu, index + 1);
    return end(SUCCESS);
}

#endif
