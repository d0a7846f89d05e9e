/*
 * AMD's compute driver (KFD): memory of each process on each GPU. The clients of the graphics card
 * lack ROCm programs, or a part of their memory.
 */
#pragma once

#include "machine/gpu/drm_card.h"
#include "machine/gpu/source.h"

/* As many partitions a card can have (MI300X: 8). */
#define KFD_MAX_PARTITIONS 16

/* A card in KFD's topology: a node, or one for each partition (compute modes DPX, QPX, CPX). */
struct kfd_card {
    uint64_t gpu_ids[KFD_MAX_PARTITIONS];
    unsigned n_ids; /* 0: KFD does not have the card */
    long number;    /* of its first node: ROCm counts GPUs in this order */
    bool has_cores; /* CPU cores too: an APU */
};

/*
 * Finds the topology nodes of a card, by its PCI address or its render node (-1: unknown); without
 * either, the only node belongs to the only card (`is_only`). Nodes of its partitions have the
 * card's bus and device with another function, and render nodes of their own.
 */
void kfd_find_card(const char *sysfs_root, const struct drm_card *card, long render_number,
    bool is_only, struct kfd_card *found);

/*
 * Adds KFD's figures of each process to `list`, which has the clients of the same cards: where both
 * have one, the larger figure counts. Its pids are those of the first namespace: in another one
 * pids_unproven is set, and no figures are compared. Sets lacks_compute, and, when KFD lists pids
 * that are not visible or unproven, none_tracked_has_files. `cards` has one a device.
 */
void kfd_processes_read(const char *sysfs_root, const char *procfs_root,
    const struct gpu_tracked *tracked, const struct kfd_card *cards, uint32_t n_devices,
    struct gpu_process_list *list);
