/*
 * What every use of SQLite here shares: opening, errors in words, names in SQL.
 */
#ifndef FORMATS_SQLITE_FILE_H
#define FORMATS_SQLITE_FILE_H

#include "base/error.h"
#include "base/str.h"

#include <sqlite3.h>
#include <stdbool.h>

/*
 * Opens an existing database for reading. What a killed writer left next to it (a write-ahead log)
 * is taken in; where that cannot be done, because the folder cannot be written to, the file is
 * refused rather than read without it. The caller owns `*database` (sqlite3_close()).
 * Errors: GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION, GPUT_ERROR_FORMAT (no SQLite database).
 */
int sqlite_file_open(const char *path, sqlite3 **database, struct gput_error *error);

/* The same for a database that may be cut off or damaged: what can be reached of it can be read. */
int sqlite_file_salvage(const char *path, sqlite3 **database, struct gput_error *error);

/*
 * Makes a database, or opens the one at `path` for writing. Its journal is a write-ahead log
 * where the file system allows that, so that a commit costs one write and no waiting. The caller
 * owns `*database` and ends it by sqlite_file_finish().
 */
int sqlite_file_create(const char *path, sqlite3 **database, struct gput_error *error);

/* The same for a database that was opened. */
void sqlite_file_use_log(sqlite3 *database);

/* Brings everything into the one file, leaves no journal next to it, and closes the database, also
 * when it fails. All statements must be finalized. A file that was removed meanwhile stays so, and
 * another one that has its name is left alone. */
int sqlite_file_finish(sqlite3 *database, const char *path, struct gput_error *error);

/* Removes a database file and what belongs to it. Missing files are fine. */
int sqlite_file_remove(const char *path, struct gput_error *error);

/* Fills `error` with what went wrong last: `Cannot write x: database or disk is full`. `what` is
 * "read" or "write". */
int sqlite_file_error(
    sqlite3 *database, const char *what, const char *path, struct gput_error *error);

/* Runs SQL that gives no rows. */
int sqlite_file_run(sqlite3 *database, const char *sql, const char *path, struct gput_error *error);

/* The caller owns `*statement` (sqlite3_finalize()). */
int sqlite_file_prepare(sqlite3 *database, const char *sql, const char *path,
    sqlite3_stmt **statement, struct gput_error *error);

/* Whether there is a table (or view) of that name. */
bool sqlite_file_has_table(sqlite3 *database, const char *name);

/* Appends a table's or column's name, quoted. */
void sqlite_file_append_name(struct str *sql, const char *name);

#endif
