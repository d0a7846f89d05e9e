/*
 * amdgpu's binary table gpu_metrics, whose layout depends on its version.
 */
#pragma once

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
