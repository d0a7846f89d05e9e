/*
 * Figures of a card that sysfs has: sensors (hwmon), clocks, why it is slowed, memory errors. What
 * a driver does not have stays missing.
 */
#pragma once

#include "machine/gpu/drm_card.h"
#include "model/card.h"

/* Files change no faster than that, and some ask the card's controller. */
#define DRM_FIGURES_INTERVAL_NS 1000000000

/* Reads temperatures, their limits, the power limit and the fan from the card's hwmon folder. */
void drm_figures_read_sensors(const struct drm_card *card, struct card_reading *reading);

/* Reads what amdgpu has besides: clocks, use of the memory, errors. */
void drm_figures_read_amdgpu(const struct drm_card *card, struct card_reading *reading);

/* Reads clocks and the reasons for slowdowns of xe and i915. */
void drm_figures_read_intel(const struct drm_card *card, struct card_reading *reading);
