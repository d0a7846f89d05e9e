/*
 * A recording of power as analyses see it: <gputracker/energy_recording.h>.
 */
#ifndef ANALYZE_ENERGY_RECORDING_H
#define ANALYZE_ENERGY_RECORDING_H

#include "store/energy_recording.h"

#include <gputracker/energy_recording.h>

struct gput_energy_recording {
    struct energy_record *record; /* owned */
};

/* The moment that seconds of a recording are counted from; 0 where there is none. */
int64_t energy_recording_start_us(const struct gput_energy_recording *recording);

#endif
