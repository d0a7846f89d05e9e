/*
 * Helpers for SQLite: opening, error messages, quoted names.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Opens an existing database for reading. The write-ahead log of a killed writer is recovered;
 * where that is impossible, because the folder is not writable, the file is refused rather than
 * read without it. The caller owns `*database` (sqlite3_close()). Errors: GPUT_ERROR_NOT_FOUND,
 * GPUT_ERROR_PERMISSION, GPUT_ERROR_FORMAT (not an SQLite database). Tables alone can be read, no
 * views; and a statement fails that has far more rows than the file has space for.
 */
int sqlite_file_open(const char *path, sqlite3 **database, struct gput_error *error);

/* The same for a database that may be truncated or damaged: the part that can be reached can be
 * read. */
int sqlite_file_salvage(const char *path, sqlite3 **database, struct gput_error *error);

/*
 * Opens a database for writing, or makes it, where no other process writes to it: also on a file
 * system without locks. The caller owns `*database` (sqlite3_close()). Errors: GPUT_ERROR_MEMORY,
 * GPUT_ERROR_UNSUPPORTED, those of the system.
 */
int sqlite_file_open_alone(const char *path, sqlite3 **database, struct gput_error *error);

/*
 * The same where others may write to it, for which SQLite needs locks. Error: GPUT_ERROR_IO where
 * the file system has none.
 */
int sqlite_file_open_shared(const char *path, sqlite3 **database, struct gput_error *error);

/*
 * Creates a database, or opens the one at `path` for writing. `is_alone`: no other process writes
 * to it. It has a write-ahead log where the file system supports that, so that a commit is one
 * write without a sync. The caller owns `*database` and ends it by sqlite_file_finish().
 */
int sqlite_file_create(
    const char *path, bool is_alone, sqlite3 **database, struct gput_error *error);

/* Sets a write-ahead log for an open database. It is copied to the database when it has 4 MB, or
 * earlier where little space is left on the disk. */
void sqlite_file_use_log(sqlite3 *database);

/* Whether another program truncated the index of the log (the file with "-shm"), which then is
 * memory of this process alone. Commits are refused from then on: the database is to be closed and
 * opened again, for which SQLite makes the index anew. No transaction may be open. False for a file
 * that was removed or renamed. */
bool sqlite_file_has_lost_index(sqlite3 *database);

/* Whether the last failure was one of space: a full disk, or a limit of file sizes. */
bool sqlite_file_is_full(sqlite3 *database);

/* After such a failure: copies the write-ahead log to the database, so that the next transaction
 * has its space. Does not wait for readers. No transaction may be open. False: the log is still
 * needed, or was empty. */
bool sqlite_file_make_space(sqlite3 *database);

/* Checkpoints the log, removes the journal and closes the database, also on failure. All statements
 * must be finalized. A file that was removed meanwhile stays removed, and one that replaced it is
 * not changed. */
int sqlite_file_finish(sqlite3 *database, const char *path, struct gput_error *error);

/* sqlite3_close() of a database that has had sqlite_file_use_log(), without a checkpoint. NULL is
 * fine. */
int sqlite_file_close(sqlite3 *database);

/* Sets the size that the database may have; less than it has is as much as it has. */
void sqlite_file_set_limit(sqlite3 *database, uint64_t bytes);

/* Whether it has that size. */
bool sqlite_file_is_at_limit(sqlite3 *database);

/* Writes a copy of an open database, of which the file may have been removed. `path` is for
 * messages. */
int sqlite_file_copy(
    sqlite3 *database, const char *target, const char *path, struct gput_error *error);

/* Whether the file was removed, renamed or replaced since it was opened. */
bool sqlite_file_has_moved(sqlite3 *database);

/* Removes a database file, its log and its journal. Missing files are fine. */
int sqlite_file_remove(const char *path, struct gput_error *error);

/* Fills `error` with the last error of SQLite: `Cannot write x: database or disk is full`. `what`
 * is "read" or "write". */
int sqlite_file_error(
    sqlite3 *database, const char *what, const char *path, struct gput_error *error);

/* Runs SQL that returns no rows. */
int sqlite_file_run(sqlite3 *database, const char *sql, const char *path, struct gput_error *error);

/* The caller owns `*statement` (sqlite3_finalize()). */
int sqlite_file_prepare(sqlite3 *database, const char *sql, const char *path,
    sqlite3_stmt **statement, struct gput_error *error);

/* Whether it has a table of that name; none where its list of tables cannot be read.
 * Errors: GPUT_ERROR_MEMORY. */
int sqlite_file_find_table(
    sqlite3 *database, const char *name, bool *found, struct gput_error *error);

/* Whether pages of it are missing or wrong. Reads all of it. */
bool sqlite_file_is_damaged(sqlite3 *database);

/* Whether the last call failed because memory ran out: of a text or a name that is NULL. */
bool sqlite_file_lacks_memory(sqlite3 *database);

/* Appends a table's or column's name, quoted. */
void sqlite_file_append_name(struct str *sql, const char *name);
