/*
 * Building tables. Columns first, then row by row, cell by cell in the order of the columns. Memory
 * that runs out marks the list, which tables_finish_building() reports once, at the end.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "base/error.h"

#include <gputracker/table.h>

struct gput_tables *tables_create(void); /* NULL without memory */

/* Adds a table. NULL without memory, which all functions below then take in silence. */
struct gput_table *tables_add(struct gput_tables *tables, const char *name);
struct gput_table *tables_add_record(struct gput_tables *tables, const char *name);

void table_add_column(struct gput_table *table, const char *name, enum gput_column_type type);
/* Says in which unit the column added last is; needless where its name ends in one ("_bytes"). */
void table_set_unit(struct gput_table *table, const char *unit);

/* The next cell, in a new row after the last column. */
void table_put_int(struct gput_table *table, int64_t value);
void table_put_double(struct gput_table *table, double value);    /* NaN: missing */
void table_put_text(struct gput_table *table, const char *value); /* NULL: missing */
void table_put_missing(struct gput_table *table);

/* Has the rows of tables handed on part by part: each time a table has `rows` of them, and when it
 * ends. They are gone from it afterwards. */
typedef int table_sink(void *user, const struct gput_tables *tables, const struct gput_table *part,
    struct gput_error *error);
void tables_set_sink(struct gput_tables *tables, size_t rows, table_sink *sink, void *user);

/* After a row, and after the last one of a table: hands its rows on, if there is a sink and they
 * are enough, or it has ended. */
int table_flow(struct gput_table *table, bool ended, struct gput_error *error);

/* Hands the list out, or destroys it when memory ran out somewhere. */
int tables_finish_building(
    struct gput_tables *building, struct gput_tables **tables, struct gput_error *error);

#endif
