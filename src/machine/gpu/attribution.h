/*
 * Attributes the use of each GPU to main, its descendants and other processes.
 */
#pragma once

#include "machine/gpu/pid_owner.h"
#include "machine/gpu/source.h"

/* The shares of one device. NaN: the source does not report it. A sum with unknown parts is the sum
 * of the known ones, or NaN where that is 0. */
struct gpu_share {
    double main_ram_bytes;
    double descendants_ram_bytes;
    double combined_ram_bytes; /* memory shared by both counts once */
    double main_sm_percent;
    double descendants_sm_percent;
    double all_sm_percent; /* of all processes; also NaN where only tracked processes are listed */
    bool ram_is_at_least;  /* the RAM sums lack some tracked process */
    bool sm_is_at_least;   /* likewise the utilization sums */
    double unattributed_ram_bytes;
    uint32_t n_unattributed; /* pids that belong to no visible process */
    uint32_t n_visible;      /* pids of visible processes, without clients */
    uint32_t n_tracked;      /* pids of main and descendants, with clients */
    uint32_t n_untracked;    /* pids of untracked processes, with clients */
};

/*
 * Fills shares[0 … n_devices - 1] from a sorted list. A process listed twice on a device (compute
 * and graphics) counts with the larger figure; a client shared by several processes counts once in
 * each sum. A process that was tracked when the list was read counts among the descendants even
 * when it has ended since. Returns the number of unattributed pids on all devices.
 */
uint32_t gpu_attribute(const struct gpu_process_list *list, uint32_t n_devices,
    const struct pid_owner_search *search, struct gpu_share *shares);

/*
 * What a list of processes may lack: drivers can hide processes from a container, list them by the
 * pids of the host, or not report what each one uses. Such figures are unknown, not 0.
 */

/* A process that uses a GPU has more of its memory in use than this; a driver without processes has
 * less. */
#define GPU_MIN_CONTEXT_BYTES (64 * 1024.0 * 1024)

/* Why figures of the tracked processes are missing on one device, as static text; NULL: they are
 * not. */
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
