/*
 * Cells of tables whose columns are found by name, for files that may lack some.
 */
#pragma once

#include <gputracker/table.h>

#include <stddef.h>

#define TABLE_NO_COLUMN ((size_t)-1)

/* The column of that name, or TABLE_NO_COLUMN. */
size_t table_cells_find(const struct gput_table *table, const char *name);

/* A number, whichever the type of its column; NaN when it is missing or a text, or there is no such
 * column. */
double table_cells_number(const struct gput_table *table, size_t row, size_t column);

/* A text, "" when it is missing. Valid as long as the table. */
const char *table_cells_text(const struct gput_table *table, size_t row, size_t column);

/* The same of the column of that name. */
double table_cells_number_of(const struct gput_table *table, size_t row, const char *name);
const char *table_cells_text_of(const struct gput_table *table, size_t row, const char *name);
