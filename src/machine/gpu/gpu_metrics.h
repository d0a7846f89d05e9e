/*
 * <card>/gpu_metrics: amdgpu's binary table of sensors. Only the energy counter is read.
 */
#pragma once

#include <stddef.h>

/* Joules counted by the device; NaN when the table has no counter at a known offset. The layout was
 * not verified on hardware. */
double gpu_metrics_energy_joules(const void *table, size_t length);
