/*
 * AMD's compute driver (KFD): which processes hold how much memory of which GPU. ROCm programs show
 * here and not, or not wholly, among the clients of the graphics card.
 */
#ifndef GPU_KFD_H
#define GPU_KFD_H

#include "gpu/drm_card.h"
#include "gpu/source.h"

struct kfd_node {
    uint64_t gpu_id; /* 0: a CPU */
    bool has_cores;  /* CPU cores too: an APU */
};

/*
 * Finds the topology node of a card, by its PCI address or its render node (-1: unknown); where
 * neither is told, the only node belongs to the only card (`is_only`). False when KFD does not know
 * the card.
 */
bool kfd_find_node(const char *sysfs_root, const struct drm_card *card, long render_number,
    bool is_only, struct kfd_node *node);

/*
 * Adds to `list`, which has the clients of the same cards, what KFD knows of each process: where
 * both tell, memory counts once, with the larger figure. Sets lacks_compute, and, when it lists
 * pids that are not in sight, none_tracked_has_files. `gpu_ids` has one id a device, 0: none.
 */
void kfd_processes_read(const char *sysfs_root, const char *procfs_root,
    const struct gpu_tracked *tracked, const uint64_t *gpu_ids, uint32_t n_devices,
    struct gpu_process_list *list);

#endif
