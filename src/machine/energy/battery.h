/*
 * Power drawn from batteries: <sysfs>/class/power_supply. While the machine runs on battery, it is
 * the power of the whole machine.
 */
#pragma once

#include "base/error.h"

/*
 * Watts drawn from all discharging batteries, except those of attached devices (mice, …). NaN: none
 * discharges. Errors: GPUT_ERROR_UNSUPPORTED when the machine has no battery that gives its power;
 * others when their folder cannot be read.
 */
int battery_read(const char *sysfs_root, double *watts, struct gput_error *error);
