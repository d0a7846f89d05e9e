/*
 * Power now: the mean of each figure of energy over the last second or so. Shorter intervals are
 * noisy, because devices update their counters at times of their own.
 */
#pragma once

#include <gputracker/energy.h>

#include <stdbool.h>
#include <stdint.h>

struct energy_power {
    double watts[GPUT_ENERGY_FIGURE_COUNT]; /* NaN: not known */

    int64_t since_ns;                        /* start of the interval being measured; 0: none yet */
    double joules[GPUT_ENERGY_FIGURE_COUNT]; /* then */
    bool known[GPUT_ENERGY_FIGURE_COUNT];    /* known at some time so far */
};

void energy_power_init(struct energy_power *power);

/* Sets the joules so far (NaN: not known; none before it is first known). Power is known after 100
 * ms, and then updated at most every second. */
void energy_power_add(
    struct energy_power *power, const double joules[GPUT_ENERGY_FIGURE_COUNT], int64_t now_ns);
