/*
 * From who uses the GPUs to what main and its descendants use of each.
 */
#ifndef GPU_ATTRIBUTION_H
#define GPU_ATTRIBUTION_H

#include "gpu/pid_owner.h"
#include "gpu/source.h"

/* Of one device. NaN: the source cannot tell. A sum of which a part is not known is the sum of the
 * others, or NaN where that is 0. */
struct gpu_share {
    double main_ram_bytes;
    double descendants_ram_bytes;
    double combined_ram_bytes; /* what both hold together counts once */
    double main_sm_percent;
    double descendants_sm_percent;
    double all_sm_percent; /* of everybody; also NaN where only tracked processes are listed */
    bool ram_is_at_least;  /* of some tracked process it is not known, of the RAM sums */
    bool sm_is_at_least;   /* likewise of the use of processors */
    double unattributed_ram_bytes;
    uint32_t n_unattributed; /* pids that belong to no process in sight */
    uint32_t n_in_sight;     /* those that do; clients are not counted */
    uint32_t n_tracked;      /* those of main and the descendants, clients too */
    uint32_t n_strangers;    /* those of processes that are not tracked, clients too */
};

/*
 * Fills shares[0 … n_devices - 1] from a sorted list. A process listed twice on a device (compute
 * and graphics) counts with the larger figure; a client held by several processes counts once in
 * each sum. One that was tracked when the list was made counts with the descendants though it has
 * ended since. Returns how many pids are unattributed on all of them.
 */
uint32_t gpu_attribute(const struct gpu_process_list *list, uint32_t n_devices,
    const struct gpu_tree *tree, struct pid_owner_cache *book, const char *procfs_root,
    struct gpu_share *shares);

#endif
