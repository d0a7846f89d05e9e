/*
 * Power: the mean of each figure of energy over the last second or so, and the highest mean over
 * about a second. Shorter intervals would show when devices update their counters, which they do at
 * times of their own.
 */
#pragma once

#include <gputracker/energy.h>

#include <stdbool.h>
#include <stddef.h>
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

/* ---- The maximum ---- */

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
