/*
 * One GPU, or MIG instance, of the NVIDIA driver: what it is, and its figures.
 */
#pragma once

#include "machine/gpu/call_pace.h"
#include "machine/gpu/nvml_card.h"
#include "machine/gpu/nvml_library.h"
#include "machine/gpu/source.h"

#include <stdatomic.h>
#include <stdbool.h>

struct nvml_gpu {
    const struct nvml_library *library;
    const char *procfs_root;     /* of the RAM of GPUs that use that of the system */
    _Atomic(nvml_device) handle; /* replaced by the thread that reads devices when it is stale */
    atomic_bool lost;
    atomic_bool in_use; /* more memory in use than a driver needs without any process */
    atomic_bool busy;   /* its utilization is not 0 */
    nvml_device card;   /* of the first MIG instance of a card: the card; else NULL */
    struct gpu_device device;
    bool unified;    /* uses system RAM */
    bool memory_old; /* the newer memory call is not supported */
    bool power_old;  /* nor is the power of the moment */
    uint32_t n_gpus; /* that share the time which energy counters may take */
    struct call_pace energy_pace;
    bool reads_energy;    /* in this reading */
    double energy_joules; /* its, or its card's, as of energy_ns */
    int64_t energy_ns;    /* 0: it could not be read */
    bool reads_everything;
    struct nvml_card figures;
    struct nvml_gpm *parts;     /* NULL: not asked for */
    double memory_busy_percent; /* with the utilization; NaN: unknown */
    unsigned skip, back_off;
    const char *trouble; /* why readings are skipped */
    const char *unsupported[GPU_FIGURE_COUNT];
};

/* Sets what it is; all zeroes before. `parent`: the card of a MIG instance, NULL for a whole GPU.
 * `library` and `procfs_root` are the caller's as long as the GPU is used. */
void nvml_gpu_init(struct nvml_gpu *gpu, const struct nvml_library *library,
    const char *driver_version, const char *procfs_root, nvml_device handle,
    const struct gpu_device *parent);

/*
 * Reads its figures into a reading that was cleared; those that it lacks have a reason. After an
 * error of the whole GPU it is left alone for some readings, then gets a new handle. `whole`: also
 * the energy counter, else only when it is due.
 */
void nvml_gpu_read(struct nvml_gpu *gpu, bool whole, struct gpu_device_reading *reading);

/* Reads the memory in use of such a reading once more. */
void nvml_gpu_read_ram(struct nvml_gpu *gpu, struct gpu_device_reading *reading);
