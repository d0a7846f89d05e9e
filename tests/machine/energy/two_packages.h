/*
 * A machine with two packages and their counters, for tests of the energy meter.
 */
#pragma once

#include "base/clock.h"
#include "fake_sysfs.h"
#include "machine/energy/metered.h"

#define set_joules fake_sysfs_set_joules
#define root fake_sysfs

static inline int make_machine(void **state)
{
    (void)state;
    if (fake_sysfs_create() != 0)
        return -1;
    fake_sysfs_make_two_packages();
    return 0;
}

#define ON_MACHINE(test) TEST_WITH(test, make_machine, fake_sysfs_remove)
