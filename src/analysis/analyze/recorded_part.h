/* Rows of recorded tables, given to the caller in parts. */
#pragma once

#include "base/table.h"

#include <gputracker/recorded.h>

/* Call it after each row of a table (NULL: not wanted): it passes the rows to the caller's
 * function when there are enough. Errors: those of that function, GPUT_ERROR_MEMORY. */
int recorded_pass_full(const struct gput_recorded_options *options, struct gput_table *table,
    struct gput_error *error);
/* After the last row: those that are left. */
int recorded_pass_rest(const struct gput_recorded_options *options, struct gput_table *table,
    struct gput_error *error);
