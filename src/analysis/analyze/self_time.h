/*
 * The self time of code blocks: each moment of a process (or thread, where the file has thread ids)
 * counts for the running block that was entered last. A block's self time is the time of its calls
 * minus that of the calls inside them.
 */
#pragma once

#include "analysis/analyze/call_table.h"

/*
 * Fills `seconds`, one for each lane of a paired table.
 * Errors: GPUT_ERROR_MEMORY.
 */
int self_time_compute(const struct call_table *table, double *seconds, struct gput_error *error);
