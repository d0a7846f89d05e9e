/*
 * The maximum power: the highest mean over about a second. Shorter intervals would show when
 * devices update their counters.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Intervals of 0.1 s or more in a second, and a few more. */
#define ENERGY_PEAK_INTERVALS 16

struct energy_peak {
    double watts; /* NaN: none yet. Until an interval is long enough, the mean so far */

    bool has_stretch; /* some interval was long enough */
    size_t count;     /* of the intervals up to now */
    double joules[ENERGY_PEAK_INTERVALS], seconds[ENERGY_PEAK_INTERVALS];
};

void energy_peak_init(struct energy_peak *peak);

/* Adds the interval that follows the last one. */
void energy_peak_add(struct energy_peak *peak, double joules, double seconds);

/* The next interval does not follow: between them joules are not known. */
void energy_peak_break(struct energy_peak *peak);
