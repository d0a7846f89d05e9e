/*
 * A recording of power for people: what the machine drew next to what the command had of it, a row
 * a GPU, and units that fit.
 */
#pragma once

#include "base/str.h"

#include <gputracker/energy_recording.h>

void energy_overview_write(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, struct str *text);
