/*
 * Writing tables: which of them, in which form, where to.
 */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include "arguments.h"

#include <gputracker/table.h>

/* Reads --format: text, json or csv. Errors: GPUT_ERROR_INVALID. */
int tables_read_format(
    const struct arguments *arguments, enum gput_format *format, struct gput_error *error);

/* Writes tables as --table, --format and --output say. */
int tables_write(
    const struct arguments *arguments, struct gput_tables *tables, struct gput_error *error);

#endif
