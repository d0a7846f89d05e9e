/*
 * The highest power: the highest mean over about a second. Shorter stretches would tell how devices
 * bring their counters up to date.
 */
#ifndef ENERGY_ENERGY_PEAK_H
#define ENERGY_ENERGY_PEAK_H

#include <stdbool.h>
#include <stddef.h>

/* Intervals of 0.1 s or more that a second is made of, and some. */
#define ENERGY_PEAK_INTERVALS 16

struct energy_peak {
    double watts; /* NaN: none yet. Until some stretch is long enough, the mean so far */

    bool has_stretch; /* some was long enough */
    size_t count;     /* of the intervals of the stretch that ends now */
    double joules[ENERGY_PEAK_INTERVALS], seconds[ENERGY_PEAK_INTERVALS];
};

void energy_peak_init(struct energy_peak *peak);

/* The interval that follows on the last one. */
void energy_peak_add(struct energy_peak *peak, double joules, double seconds);

/* The next interval does not follow: in between, joules are not known. */
void energy_peak_break(struct energy_peak *peak);

#endif
