/*
 * What a list of processes may lack: drivers can hide processes from a container, list them by the
 * pids of the host, or not report what each one uses. Such figures are unknown, not 0.
 */
#pragma once

#include "machine/gpu/attribution.h"
#include "machine/gpu/source.h"

/* A process that uses a GPU has more of its memory in use than this; a driver without processes has
 * less. */
#define GPU_MIN_CONTEXT_BYTES (64 * 1024.0 * 1024)

/* What is missing of the tracked processes on one device, as reasons in static text; NULL: nothing.
 */
struct gpu_missing {
    const char *ram;
    const char *sm;
    bool ram_is_hidden;   /* the list's figure is a lower bound; unknown when that is 0 */
    bool sm_is_hidden;    /* likewise */
    bool ram_may_be_held; /* tracked processes may have some; not so of a suspended GPU */
    bool sm_may_be_used;
    bool lacks_samples; /* the driver gives no utilization samples */
};

/* Whether the reason is that the driver may hide processes. NULL is not a reason. */
bool gpu_reason_is_hidden(const char *reason);

/* A device that was sampled, with its list. */
struct gpu_listed {
    const struct gpu_process_list *list;
    uint32_t number; /* of the device in the list */
    const struct gpu_share *share;
    const struct gpu_device *device;
    const struct gpu_device_sample *sample; /* its own figures */
    bool has_listed; /* the driver listed some visible process once: it hides no tracked ones */
};

struct gpu_missing gpu_missing_find(const struct gpu_listed *listed);
