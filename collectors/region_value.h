/*
 * Adds up the numbers that ranges come with.
 */
#pragma once

#include "regions.h"

/* Adds a number of a range that begins. `unit` is static text. If there is no space, it is
 * skipped. */
void region_value_add(
    struct regions *regions, const struct region_name *name, const char *unit, double value);
