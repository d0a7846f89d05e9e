/*
 * What a list of processes leaves open: drivers can hide processes from a container, list them by
 * the pids of the host, or not tell what each one uses. Nothing is 0 then that is not known to be.
 */
#ifndef GPU_UNLISTED_H
#define GPU_UNLISTED_H

#include "gpu/attribution.h"
#include "gpu/source.h"

/* A process that uses a GPU holds more of its memory, and a driver without any less. */
#define GPU_LEAST_CONTEXT_BYTES (64 * 1024.0 * 1024)

/* What is missing of the tracked processes on one device, as reasons in static text; NULL: nothing.
 */
struct gpu_missing {
    const char *ram;
    const char *sm;
    bool ram_is_hidden;   /* what the list says is at least so; of 0 that says nothing */
    bool sm_is_hidden;    /* likewise */
    bool ram_may_be_held; /* what is missing may be some, which is not so of a GPU that is asleep */
    bool sm_may_be_used;
    bool lacks_samples; /* the driver gives none of the use of processors */
};

/* Whether the reason is that the driver may hide processes. NULL is none. */
bool gpu_reason_is_hidden(const char *reason);

/* Of a device that was sampled. */
struct gpu_listed {
    const struct gpu_process_list *list;
    uint32_t number; /* of the device in the list */
    const struct gpu_share *share;
    const struct gpu_device *device;
    const struct gpu_device_sample *sample; /* its own figures */
    bool has_listed; /* the driver listed some process in sight, once: it hides none of ours */
};

struct gpu_missing gpu_missing_find(const struct gpu_listed *listed);

#endif
