/*
 * GPU RAM of each tracked process, from the drivers' lists of processes.
 */
#pragma once

#include "gpu/pid_owner.h"
#include "gpu/source.h"
#include "gpu/unlisted.h"

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

/* Empties the list and keeps its memory. */
void gpu_process_ram_list_clear(struct gpu_process_ram_list *ram_list);

/*
 * Adds the processes of the tree in a sorted list that was read at `read_ns`. A process listed
 * twice on a device (compute and graphics) counts with the larger figure; a client shared by
 * several processes counts in each. A process that was tracked when the list was read and is not in
 * it has 0. Devices that do not report it (`missing` has one for each) are skipped. The figure is
 * NaN where no device reports it, or where it would be 0 while a skipped device may have some.
 * Without memory processes are missing. `positions` are the indexes of the devices in the set.
 */
void gpu_process_ram_list_add(struct gpu_process_ram_list *ram_list,
    const struct gpu_process_list *list, const struct gpu_missing *missing,
    const uint32_t *positions, uint32_t n_devices, int64_t read_ns, const struct gpu_tree *tree,
    struct pid_owner_cache *pid_owners, const char *procfs_root);

/* After all lists: merges the entries of each process into one. */
void gpu_process_ram_list_merge(struct gpu_process_ram_list *ram_list);

void gpu_process_ram_list_finish(struct gpu_process_ram_list *ram_list);
