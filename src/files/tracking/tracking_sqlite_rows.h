/*
 * Rows of an SQLite tracking file, by ranges of their row ids, which a function of SQL takes: each
 * thread has a connection of its own. Rows of numbers only, with a timestamp: nearly all are. At
 * anything else, also at damage, the ranges end, and tracking_sqlite.c reads on.
 */
#pragma once

#include "files/tracking/tracking_format.h"

#include <sqlite3.h>

/* The columns of the table, by their order in it. */
struct sqlite_columns {
    size_t count;
    int *all; /* index of tracking_format.h; -1: unknown */
};

/* Reads the row at which the statement is; the values that it lacks are NaN. Returns the place of
 * the cell that is not a number, or not a possible one, or -1. */
int sqlite_columns_read(
    const struct sqlite_columns *columns, sqlite3_stmt *statement, double *values);

struct sqlite_ranges;

/*
 * For at most `cores` threads that include the caller; `columns` stays the caller's. `last` is the
 * highest row id. NULL where ranges are not worth it or not possible: few rows, a view, row ids
 * with large gaps, an SQLite without threads.
 */
struct sqlite_ranges *sqlite_ranges_create(
    const char *path, const struct sqlite_columns *columns, int64_t last, unsigned cores);

/* Adds the next rows in the order of the file. Fewer than there is space for: they end, and the
 * next row has at least the row id `*next`. */
size_t sqlite_ranges_take(
    struct sqlite_ranges *ranges, struct tracking_row *rows, size_t capacity, int64_t *next);

void sqlite_ranges_destroy(struct sqlite_ranges *ranges); /* NULL is fine */
