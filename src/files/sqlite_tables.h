/*
 * The further tables of a tracking file that is a database: gpu_data, energy_data, io_data,
 * process_data, and all others besides `data` and `static_data`.
 */
#pragma once

#include "base/error.h"
#include "base/table.h"

#include "model/results.h"

#include <sqlite3.h>

/* The unit of a column of such a table, which of GPUs may be a CSV file, too; NULL: its name says
 * it, or the table is an unknown one. Static text. */
const char *further_table_unit(
    const char *table, const char *column, const struct gput_static_data *data);

/*
 * Adds each to `building`, its rows in the order of the file, its columns by their declared types
 * (INTEGER, TEXT, all others numbers). Columns of our tables have units, RAM those of the static
 * data. Errors: GPUT_ERROR_FORMAT (a value that is not of its column's type), GPUT_ERROR_IO,
 * GPUT_ERROR_MEMORY.
 */
int sqlite_tables_read(sqlite3 *database, const char *path, const struct gput_static_data *data,
    struct gput_tables *building, struct gput_error *error);
