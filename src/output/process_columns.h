/*
 * What is known of each process of a session, in base units, and of those that are not listed.
 */
#ifndef OUTPUT_PROCESS_COLUMNS_H
#define OUTPUT_PROCESS_COLUMNS_H

#include "base/column.h"

/* Of a struct gput_process. */
extern const struct column process_columns[];
extern const size_t process_column_count;

/* Of a struct gput_processes. */
extern const struct column other_process_columns[];
extern const size_t other_process_column_count;

#endif
