/*
 * The words of units in files and options.
 */
#pragma once

#include <gputracker/units.h>

/* Reads the word of a unit. `what` is "RAM" or "GPU RAM". Errors: GPUT_ERROR_INVALID with the valid
 * words, sorted. */
int ram_unit_parse(
    const char *word, const char *what, enum gput_ram_unit *unit, struct gput_error *error);

/* The same of a unit of times. */
int time_unit_parse(const char *word, enum gput_time_unit *unit, struct gput_error *error);
