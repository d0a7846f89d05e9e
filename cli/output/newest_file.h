/*
 * The file that a command takes when none was named: the newest one of its kind in the working
 * directory. A line on standard error says which it is.
 */
#pragma once

#include <gputracker/error.h>

/*
 * Finds the newest results that a session keeps while it runs (.gpu-tracker_*). `*name` is the
 * caller's; NULL on failure. Errors: GPUT_ERROR_NOT_FOUND with the way out, GPUT_ERROR_IO,
 * GPUT_ERROR_MEMORY.
 */
int newest_file_of_results(char **name, struct gput_error *error);

/* Finds the newest tracking file (.csv, .sqlite) likewise; `command` is its name, for the error:
 * "report". */
int newest_file_of_samples(const char *command, char **name, struct gput_error *error);
