/*
 * Reads the energy in a tracking file (SQLite, table energy_data): joules since the start of the
 * session, at moments in time.
 */
#pragma once

#include "base/error.h"

#include <gputracker/energy.h>

#include <stdbool.h>

struct energy_row {
    double timestamp;                        /* seconds since the epoch */
    double joules[GPUT_ENERGY_FIGURE_COUNT]; /* NaN: unknown */
};

struct energy_table;

/*
 * Opens the table of a tracking file. `*table` is NULL when there is none: a CSV file, or a session
 * without energy. Otherwise the caller calls energy_table_close(). Errors: those of reading a
 * tracking file.
 */
int energy_table_open(const char *path, struct energy_table **table, struct gput_error *error);
void energy_table_close(struct energy_table *table); /* NULL is fine */

/* The next row in the order of the file; `*end` is true when there is none. */
int energy_table_next(
    struct energy_table *table, struct energy_row *row, bool *end, struct gput_error *error);
