/*
 * What AMD GPUs have beyond other DRM cards: amdgpu's binary table gpu_metrics, whose layout
 * depends on its version, and the compute driver (KFD).
 */
#pragma once

#include "machine/gpu/drm_card.h"
#include "machine/gpu/source.h"
#include "model/card.h"

#include <stddef.h>
#include <stdint.h>

/* The longest part of it that is read. */
#define GPU_METRICS_SIZE 256

/* The energy counter in joules. NaN: it has none, or its layout is unknown. */
double gpu_metrics_energy_joules(const void *table, size_t length);

/* Sets those figures of the card that it has; others stay as they are. */
void gpu_metrics_fill(const void *table, size_t length, struct card_reading *reading);

/*
 * For how long a card was slowed, added up from the counters of two tables (versions 1.6 and 1.7):
 * each counts ticks of the controller that the reason lasted, out of all ticks. All zeroes at
 * first.
 */
struct gpu_metrics_slowed {
    bool has_before;
    uint64_t clock_ns;
    uint32_t ticks, counts[5]; /* of the table before */
    double power_cap_seconds, thermal_seconds, hardware_thermal_seconds;
};

/* Adds a table, and sets the seconds so far in `reading`; nothing where it has no such counters. */
void gpu_metrics_add_slowed(struct gpu_metrics_slowed *slowed, const void *table, size_t length,
    struct card_reading *reading);

/*
 * AMD's compute driver (KFD): memory of each process on each GPU. The clients of the graphics card
 * lack ROCm programs, or a part of their memory.
 */

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
