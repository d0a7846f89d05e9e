/*
 * The database of a history: a table `sessions` with a column for each of a row, and `number`,
 * which names a session on the command line. Older ones lack columns, which are added when a row
 * is; newer ones may have more, which stay as they are.
 */
#pragma once

#include "files/history/history_row.h"

#include <stdbool.h>
#include <stdint.h>

struct history_database;

/*
 * Opens a database for adding rows, or makes it. Waits for other writers for a few milliseconds
 * alone, and never for the disk, so that no end of a session is delayed. The caller closes it by
 * history_database_close(). Errors: GPUT_ERROR_UNSUPPORTED (no SQLite), GPUT_ERROR_IO (it is
 * locked, or its log is long), GPUT_ERROR_FORMAT (it is damaged, or of a newer form), those of the
 * system.
 */
int history_database_open(
    const char *path, struct history_database **database, struct gput_error *error);

/* The same, waiting longer: for somebody who reads. `is_network`: a database that is made has no
 * write-ahead log, which needs memory that all its users share. */
int history_database_open_patiently(const char *path, bool is_network,
    struct history_database **database, struct gput_error *error);

/* NULL is fine. */
void history_database_close(struct history_database *database);

/* Several rows are added by one transaction: begin, add, commit. Closing without a commit adds none
 * of them. Errors: as of opening. */
int history_database_begin(struct history_database *database, struct gput_error *error);
int history_database_commit(struct history_database *database, struct gput_error *error);

/* Copies the log of writes into the database, which waits for the disk. */
void history_database_shorten_log(struct history_database *database);

/* Adds a row; a session that is there already stays as it is. Errors: as of opening. */
int history_database_add(
    struct history_database *database, const struct history_row *row, struct gput_error *error);

/* Which rows are read, or forgotten. All of what is set has to be so. */
struct history_filter {
    const char *name;       /* is a part of the command's name; NULL: any */
    double since_seconds;   /* since the epoch; NaN: any */
    const int64_t *numbers; /* any of these; NULL: any */
    size_t n_numbers;
    uint64_t last;               /* only the last rows in their order; 0: all */
    enum history_column_id sort; /* a figure that they are sorted by; missing ones are the first */
    bool is_whole_name;          /* `name` is all of it, but for folders; not with `last` */
};

/* Receives a row, during the call. `number` is 0 for one that waits.
 */
typedef int history_receiver(
    void *user, int64_t number, const struct history_row *row, struct gput_error *error);

/*
 * Reads rows. *is_damaged: rows are missing that could not be read. Nothing where there is no such
 * file. Errors: those of the receiver,
 * GPUT_ERROR_UNSUPPORTED, GPUT_ERROR_FORMAT (nothing of it can be read), those of the system.
 */
int history_database_read(const char *path, const struct history_filter *filter,
    history_receiver *receive, void *user, bool *is_damaged, struct gput_error *error);

/* Removes rows; *n_removed is how many. What they held is overwritten. Errors: as of opening. */
int history_database_forget(struct history_database *database, const struct history_filter *filter,
    uint64_t *n_removed, struct gput_error *error);

/* Whether a row passes a filter, but for its number and place. What receives rows of a database has
 * to ask for names that are whole. */
bool history_filter_passes(const struct history_filter *filter, const struct history_row *row);
/* The same by what the filter asks for. `name` may be NULL. */
bool history_filter_passes_session(
    const struct history_filter *filter, const char *name, double start_seconds);
