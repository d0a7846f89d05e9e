/*
 * Processes of an NVIDIA GPU: the lists of compute, graphics and MPS processes, and the utilization
 * of each.
 */
#pragma once

#include "machine/gpu/call_pace.h"
#include "machine/gpu/nvml_library.h"
#include "machine/gpu/source.h"

#include <stdint.h>

/* State kept between readings: buffers, and which versions of the calls this driver supports. Used
 * by one thread. */
struct nvml_process_reader {
    const struct nvml_library *library;
    enum nvml_process_version version[NVML_PROCESS_KINDS];
    void *buffer; /* owned */
    unsigned capacity;
    struct nvml_process_sample *samples; /* owned */
    unsigned sample_capacity;
    uint32_t n_gpus; /* that share the time which utilization may take */
    struct nvml_usage {
        struct call_pace pace;
        unsigned long long last_seen_us; /* the driver's time of its last sample; 0: none */
        int64_t seen_ns;                 /* when that came */
        unsigned long long period_us;    /* the least time between two samples so far; 0: unknown */
        const char *missing;             /* static text: of the last call */
        const char *unsupported;         /* static text: why there will be no utilization */
        bool use_info;                   /* only the newer of the two calls works */
        bool is_probed;                  /* it is known whether there is a utilization */
        struct nvml_usage_entry {
            pid_t pid;
            unsigned percent; /* mean since the sample before */
            unsigned long long time_us;
        } * entries; /* owned */
        size_t count, capacity;
    } usages[GPU_MAX_DEVICES];
};

void nvml_process_reader_init(
    struct nvml_process_reader *reader, const struct nvml_library *library);
void nvml_process_reader_finish(struct nvml_process_reader *reader);

/*
 * Appends the processes of one GPU to `list`, with `device` as their device; sets lacks_samples,
 * and ram_missing and sm_missing when the driver's calls fail. `now_ns` is clock_monotonic_ns().
 * `is_due`: their utilization is read again, else only when its cost allows it.
 */
void nvml_processes_read(struct nvml_process_reader *reader, nvml_device handle, bool mig,
    uint32_t device, int64_t now_ns, bool is_due, struct gpu_process_list *list);
