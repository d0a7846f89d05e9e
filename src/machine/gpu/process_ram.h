/*
 * GPU RAM of each tracked process, from the drivers' lists of processes.
 */
#pragma once

#include "machine/gpu/attribution.h"
#include "machine/gpu/pid_owner.h"
#include "machine/gpu/source.h"

/* All zeroes is an empty list. */
struct gpu_process_ram_list {
    /* Owned; ascending by pid after gpu_process_ram_list_merge(). */
    struct gpu_process_ram *entries;
    size_t count, capacity;
    struct gpu_use *uses; /* scratch; owned */
    size_t use_count, use_capacity;
    struct gpu_use *held; /* owned; of all lists, ascending by device and pid after the merge */
    size_t held_count, held_capacity;
};

/* A list that was read, and what is known of the devices in it. */
struct gpu_process_reading {
    const struct gpu_process_list *list; /* sorted */
    const struct gpu_missing *missing;   /* one for each device */
    const uint32_t *positions;           /* the indexes of the devices in the set */
    uint32_t n_devices;
    int64_t read_ns;
};

/* Empties the list and keeps its memory. */
void gpu_process_ram_list_clear(struct gpu_process_ram_list *ram_list);

/*
 * Adds the processes of the tree in a list that was read. A process listed twice on a device
 * (compute and graphics) counts with the larger figure; a client shared by several processes counts
 * in each. A process that was tracked when the list was read and is not in it has 0. Devices that
 * do not report it are skipped. The figure is NaN where no device reports it, or where it would be
 * 0 while a skipped device may have some. Without memory processes are missing.
 */
void gpu_process_ram_list_add(struct gpu_process_ram_list *ram_list,
    const struct gpu_process_reading *reading, const struct pid_owner_search *search);

/* After all lists: merges the entries of each process into one. */
void gpu_process_ram_list_merge(struct gpu_process_ram_list *ram_list);

void gpu_process_ram_list_finish(struct gpu_process_ram_list *ram_list);
