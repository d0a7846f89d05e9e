/*
 * The own time of code blocks: for every moment of a process (or thread, where the file tells) the
 * block that was entered last and still runs owns it. A block's own time is its calls' time less
 * that of the calls made inside them.
 */
#ifndef ANALYZE_SELF_TIME_H
#define ANALYZE_SELF_TIME_H

#include "analyze/call_table.h"

/*
 * Fills `seconds`, one for each lane of a paired table.
 * Errors: GPUT_ERROR_MEMORY.
 */
int self_time_compute(const struct call_table *table, double *seconds, struct gput_error *error);

#endif
