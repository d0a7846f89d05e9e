/*
 * A further table of a CSV tracking file, which is a CSV file next to it: "x.csv.gpu_data". Its
 * first line is the header, and any reader of CSV takes it. Its name does not end in ".csv":
 * whoever reads "*.csv" wants tracking files.
 */
#pragma once

#include "base/table.h"
#include "files/tracking/tracking_file.h"

struct csv_table;

/*
 * Creates the file with its header. One of an earlier session is replaced. The columns are used
 * only during the call. On success the caller owns `*table`. Errors: GPUT_ERROR_EXISTS: the file is
 * another one; GPUT_ERROR_MEMORY, those of the system.
 */
int csv_table_create(const char *tracking_file, const char *name,
    const struct tracking_column *columns, size_t count, struct csv_table **table,
    struct gput_error *error);

/* Adds a row, which waits for csv_table_flush() as far as there is space. Errors: those of that. */
int csv_table_add(
    struct csv_table *table, const struct tracking_value *values, struct gput_error *error);

/* Writes the rows that wait. Those that do not fit are lost, none in part. Errors: those of the
 * system. */
int csv_table_flush(struct csv_table *table, struct gput_error *error);

/* How many rows were lost so far. */
uint64_t csv_table_rows_lost(const struct csv_table *table);

/* Writes a file that was removed meanwhile again. Errors: as of file_restore(). */
int csv_table_restore(struct csv_table *table, struct gput_error *error);

/* Closes the file; rows that still wait are not written. NULL is fine. */
void csv_table_destroy(struct csv_table *table);

/* Removes such a table of an earlier session that had the same tracking file. */
void csv_table_remove(const char *tracking_file, const char *name);

/*
 * Adds such a table to `building`. A last line that is not complete is left out. Errors:
 * GPUT_ERROR_INVALID: there is none; GPUT_ERROR_FORMAT, GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
int csv_table_read(const char *tracking_file, const char *name,
    const struct gput_static_data *static_data, struct gput_tables *building,
    struct gput_error *error);
