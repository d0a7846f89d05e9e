/* The joules of code blocks, from the table of energy of a tracking file. */
#pragma once

#include "analysis/analyze/block_energy.h"

/*
 * Reads the curve of energy of a tracking file, whose times `origin` brings to the clock of the
 * calls, and gives the session and each target their joules, as block_energy_compute() does.
 * `*joules` is NULL where the file has no such table, or after an error; free() it. Errors:
 * GPUT_ERROR_MEMORY, and those of reading.
 */
int analysis_energy_read(const char *tracking_file, double origin, const struct sweep_input *input,
    struct session_energy *session, double (**joules)[GPUT_ENERGY_FIGURE_COUNT],
    struct gput_error *error);
