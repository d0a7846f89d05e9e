/*
 * Adds up numbers of ranges.
 */
#pragma once

#include "regions.h"

/* Adds a number of a range that begins. `unit` is static text. What cannot be kept is skipped. */
void region_value_add(
    struct regions *regions, const struct region_name *name, const char *unit, double value);
