/* Rows of recorded tables, given to the caller in parts. */
#pragma once

#include "base/table.h"

#include <gputracker/recorded.h>

#include <stdbool.h>

/* To be called after each row, and after the last one of a table. Errors: those of the caller's
 * function, GPUT_ERROR_MEMORY. */
int recorded_pass(const struct gput_recorded_options *options, struct gput_table *table, bool ended,
    struct gput_error *error);
