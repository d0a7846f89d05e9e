/*
 * From who uses the GPUs to what each tracked process holds of them.
 */
#ifndef GPU_HOLDINGS_H
#define GPU_HOLDINGS_H

#include "gpu/pid_owner.h"
#include "gpu/source.h"
#include "gpu/unlisted.h"

/* All zeroes is empty. */
struct gpu_holdings {
    struct gpu_holding *entries; /* owned; ascending by pid after gpu_holdings_settle() */
    size_t count, capacity;
    struct gpu_use {
        pid_t pid;
        uint32_t device;
        double ram_bytes;
    } * uses; /* scratch; owned */
    size_t use_count, use_capacity;
};

/* Empties them and keeps their memory. */
void gpu_holdings_clear(struct gpu_holdings *holdings);

/*
 * Adds what a sorted list, read at `read_ns`, tells of the processes of the tree. What one process
 * has listed twice on a device (compute and graphics) counts with the larger figure; a client held
 * by several processes counts in each. A process that the list was made for and that is not in it
 * holds nothing. Devices that cannot tell (`missing` has one for each) are left out; where none
 * can, it is NaN, and likewise where the others hold nothing and these may hold some. Without
 * memory processes are missing.
 */
void gpu_holdings_add(struct gpu_holdings *holdings, const struct gpu_process_list *list,
    const struct gpu_missing *missing, uint32_t n_devices, int64_t read_ns,
    const struct gpu_tree *tree, struct pid_owner_cache *book, const char *procfs_root);

/* After all lists: one entry a process, with what all lists tell of it. */
void gpu_holdings_settle(struct gpu_holdings *holdings);

void gpu_holdings_finish(struct gpu_holdings *holdings);

#endif
