/*
 * Power drawn from batteries: <sysfs>/class/power_supply. While a machine runs on them, it is the
 * power of the whole machine.
 */
#ifndef ENERGY_BATTERY_H
#define ENERGY_BATTERY_H

#include "base/error.h"

/*
 * Watts drawn from all batteries that discharge, but for those of attached devices (mice, …). NaN:
 * none does.
 * Errors: GPUT_ERROR_UNSUPPORTED when the machine has no battery that tells.
 */
int battery_read(const char *sysfs_root, double *watts);

#endif
