/*
 * The processes that a driver lists for its devices, and what each of them uses.
 */
#pragma once

#include "machine/gpu/gpu.h"

/* Use of one device by one process. */
struct gpu_process {
    uint32_t device;  /* index in the source's list */
    pid_t pid;        /* as the driver lists it */
    uint64_t client;  /* entries with the same number on the same device are the same memory, shared
                         by several processes; 0: not shared */
    double ram_bytes; /* NaN: not reported */
    double sm_percent; /* NaN: not reported */
};

/* The processes that use the devices. All zeroes is an empty list. */
struct gpu_process_list {
    struct gpu_process *entries; /* owned; by device, client, pid after gpu_process_list_sort() */
    size_t count;
    size_t capacity;
    pid_t *tracked_pids; /* tracked when it was read, ascending; owned */
    size_t n_tracked_pids, tracked_capacity;
    bool only_tracked; /* it has no others, which may use the devices too */
    /* No tracked process has a file of this driver open: pids that are not visible are not tracked
     * ones. False also where that is unknown. */
    bool none_tracked_has_files;
    /* The pids, except those of clients, may be of a namespace around ours: the same number is
     * another process here. */
    bool pids_unproven;
    bool lacks_descriptors; /* some processes could not be read without more of them */
    /* Where 0 percent of a listed process is right only while the device is idle: the driver gave
     * no utilization samples; or it lists compute programs, whose utilization it never reports. */
    bool lacks_samples[GPU_MAX_DEVICES];
    bool lacks_compute[GPU_MAX_DEVICES];
    /* For each device why the figure is missing, static text; NULL: it is not, and processes that
     * are not listed have 0. */
    const char *ram_missing[GPU_MAX_DEVICES];
    const char *sm_missing[GPU_MAX_DEVICES];
};

/* Empties the list and keeps its memory; nothing is missing. */
void gpu_process_list_clear(struct gpu_process_list *list);
/* False without memory. */
bool gpu_process_list_add(struct gpu_process_list *list, struct gpu_process entry);
/* Sets the processes that are tracked when it is read; `pids` ascending, copied. False without
 * memory: then there are none. */
bool gpu_process_list_set_tracked(struct gpu_process_list *list, const pid_t *pids, size_t count);
/* Whether that process was tracked when it was read. */
bool gpu_process_list_was_made_for(const struct gpu_process_list *list, pid_t pid);
/* Replaces the content of `to`. False without memory; `to` is then empty. */
bool gpu_process_list_copy(struct gpu_process_list *to, const struct gpu_process_list *from);
void gpu_process_list_sort(struct gpu_process_list *list);
void gpu_process_list_finish(struct gpu_process_list *list);
