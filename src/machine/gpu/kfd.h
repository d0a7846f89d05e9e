/*
 * AMD's compute driver (KFD): memory of each process on each GPU. The clients of the graphics card
 * lack ROCm programs, or a part of their memory.
 */
#pragma once

#include "machine/gpu/drm_card.h"
#include "machine/gpu/source.h"

struct kfd_node {
    uint64_t gpu_id; /* 0: a CPU */
    bool has_cores;  /* CPU cores too: an APU */
};

/*
 * Finds the topology node of a card, by its PCI address or its render node (-1: unknown); without
 * either, the only node belongs to the only card (`is_only`). False when KFD does not have the
 * card.
 */
bool kfd_find_node(const char *sysfs_root, const struct drm_card *card, long render_number,
    bool is_only, struct kfd_node *node);

/*
 * Adds KFD's figures of each process to `list`, which has the clients of the same cards: where both
 * have one, the larger figure counts. Its pids are those of the first namespace: in another one
 * pids_unproven is set, and no figures are compared. Sets lacks_compute, and, when KFD lists pids
 * that are not visible or unproven, none_tracked_has_files. `gpu_ids` has one id a device, 0: none.
 */
void kfd_processes_read(const char *sysfs_root, const char *procfs_root,
    const struct gpu_tracked *tracked, const uint64_t *gpu_ids, uint32_t n_devices,
    struct gpu_process_list *list);
