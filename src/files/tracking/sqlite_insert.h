/*
 * A prepared insert of rows into a table of a SQLite tracking file.
 */
#pragma once

#include "files/tracking/tracking_format.h"

#include <sqlite3.h>

#include <stdbool.h>
#include <stddef.h>

/* The caller sets all but the statement. */
struct sqlite_insert {
    sqlite3 *database; /* not owned */
    const char *path;  /* for messages; not owned */
    const char *name;  /* of the table; not owned, used until it is prepared */
    size_t columns;
    sqlite3_stmt *statement; /* sqlite_insert_finish() frees it */
};

/* Prepares the insert into a table that exists. */
int sqlite_insert_prepare(struct sqlite_insert *insert, struct gput_error *error);

/* The same, after the table was created with these columns. */
int sqlite_insert_create_table(
    struct sqlite_insert *insert, const struct tracking_column *columns, struct gput_error *error);

/* Binds one value a column. Texts must live until the row is inserted. */
void sqlite_insert_bind(const struct sqlite_insert *insert, const struct tracking_value *values);

/* Inserts the row whose values are bound; false: SQLite has the error. */
bool sqlite_insert_run(const struct sqlite_insert *insert);

/* Frees the statement; several calls do no harm. */
void sqlite_insert_finish(struct sqlite_insert *insert);
