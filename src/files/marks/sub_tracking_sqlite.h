/*
 * The SQL of sub-tracking files, for all writers of marks to a database.
 */
#pragma once

#include "files/marks/sub_tracking_columns.h"

#include <sqlite3.h>

/*
 * Creates the table `data` where there is none, and prepares the statement that adds a row to it.
 * `path` is for messages. On success the caller owns `*insert` (sqlite3_finalize()).
 */
int sub_tracking_sqlite_prepare(sqlite3 *database, const char *path, unsigned columns,
    sqlite3_stmt **insert, struct gput_error *error);

/* Adds a row by that statement. */
int sub_tracking_sqlite_insert(sqlite3_stmt *insert, const char *path, unsigned columns,
    const struct sub_tracking_mark *row, const char *name, size_t name_length,
    struct gput_error *error);
