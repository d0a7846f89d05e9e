/*
 * Building tables: columns first, then cells, row by row in the order of the columns. When memory
 * runs out the list is marked, and tables_finish_building() reports it at the end.
 */
#pragma once

#include "base/cleanup.h"
#include "base/column.h"
#include "base/error.h"
#include "base/str.h"

#include <gputracker/table.h>

#include <stddef.h>

struct gput_tables *tables_create(void); /* NULL without memory */

CLEANUP_DEFINE(struct gput_tables, gput_tables_destroy)

/*
 * How texts for people show tables whose names and values are those of another program: names with
 * blanks for underscores, values with these words. Other formats have them as they are.
 */
struct table_words {
    const char *left_out;     /* of every text; NULL: nothing */
    const char *not_recorded; /* a text that says so; a negative integer says so, too, unless its
                                 column is a time ("_us") */
};

/* Sets the words of the tables that are added from here on. `words` is kept, not copied. */
void tables_set_words(struct gput_tables *tables, const struct table_words *words);
/* NULL: the table has none. */
const struct table_words *table_words(const struct gput_table *table);

/* Adds a table. NULL without memory, which all functions below ignore. */
struct gput_table *tables_add(struct gput_tables *tables, const char *name);
struct gput_table *tables_add_record(struct gput_tables *tables, const char *name);

void table_add_column(struct gput_table *table, const char *name, enum gput_column_type type);
/* Adds several of one type; NULL follows the last name. */
void table_add_columns_of(struct gput_table *table, enum gput_column_type type, ...)
    __attribute__((sentinel));
/* Sets the unit of the column added last; not needed where its name ends in one ("_bytes"). */
void table_set_unit(struct gput_table *table, const char *unit);

/* Adds columns as they are described, each name after `prefix`, in `unit` unless it is NULL. */
void table_add_columns(struct gput_table *table, const char *prefix, const char *unit,
    const struct column *columns, size_t count);
/* Sets the next cells: those of an item. */
void table_put_columns(
    struct gput_table *table, const struct column *columns, size_t count, const void *item);

/* Sets the next cell, in a new row after the last column. */
void table_put_int(struct gput_table *table, int64_t value);
void table_put_double(struct gput_table *table, double value);    /* NaN: missing */
void table_put_text(struct gput_table *table, const char *value); /* NULL: missing */
/* A text that could not be made for lack of memory fails the table as its own cells do. */
void table_put_str(struct gput_table *table, const struct str *value);
void table_put_missing(struct gput_table *table);
void table_put_known(struct gput_table *table, int64_t value); /* negative: missing */

/* Makes the tables pass their rows on in parts: each time a table has `rows` of them, and when it
 * ends. Passed rows are removed from the table. */
typedef int table_receiver(void *user, const struct gput_tables *tables,
    const struct gput_table *part, struct gput_error *error);
void tables_set_receiver(
    struct gput_tables *tables, size_t rows, table_receiver *receiver, void *user);

/* Passes the rows of a table (NULL: none) to the receiver, if there is one. To be called after each
 * row: when there are enough. */
int table_pass_full(struct gput_table *table, struct gput_error *error);
/* After the last row: those that are left, and that the table has ended. */
int table_pass_rest(struct gput_table *table, struct gput_error *error);

/* Moves the rows of a table into a list of their own, with a table of the same name and columns;
 * the caller owns `*part`. Errors: GPUT_ERROR_MEMORY. */
int table_take_rows(struct gput_table *table, struct gput_tables **part, struct gput_error *error);

/* Returns the list, or destroys it when memory ran out somewhere. */
int tables_finish_building(
    struct gput_tables *building, struct gput_tables **tables, struct gput_error *error);

/*
 * Cells of tables whose columns are found by name, for files that may lack some.
 */
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
