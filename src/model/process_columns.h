/*
 * Columns of the processes of a session, in base units, and of the sums of those that are not
 * listed.
 */
#pragma once

#include "base/column.h"

#include <gputracker/measurement.h>

#define PROCESS_COLUMNS 18
extern const struct column process_columns[PROCESS_COLUMNS];

/* Further columns of a struct gput_processes. */
#define OTHER_PROCESS_COLUMNS 8
extern const struct column other_process_columns[OTHER_PROCESS_COLUMNS];

/* Returns the name of a column of RAM in formats that choose a unit ("peak_ram"), and sets which
 * unit it is in. NULL: not a column of RAM. */
const char *process_column_in_unit(const struct column *column, enum gput_quantity *quantity);
