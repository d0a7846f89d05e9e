/*
 * What is known of each process of a session, in base units, and of those that are not listed.
 */
#pragma once

#include "base/column.h"

#include <gputracker/measurement.h>

#define PROCESS_COLUMNS 18
extern const struct column process_columns[PROCESS_COLUMNS];

/* Of a struct gput_processes. */
#define OTHER_PROCESS_COLUMNS 8
extern const struct column other_process_columns[OTHER_PROCESS_COLUMNS];

/* Formats that have RAM in a unit: the name of a column there ("peak_ram") and which unit it is of.
 * NULL: it is not a column of RAM. */
const char *process_column_in_unit(const struct column *column, enum gput_quantity *quantity);
