/*
 * Sessions from what they wrote, as if they were in a history: reports in JSON, what was kept of
 * killed ones, tracking files, and manifests (".session.json"). The catalogue says which files are
 * of one session.
 *
 * Files are read twice: all of them as far as is needed to choose sessions and to order them, and
 * those of the chosen ones for their figures. So memory is some hundred bytes a file.
 */
#pragma once

#include "files/history/history_database.h"
#include "files/history/history_row.h"

#include <gputracker/history.h>
#include <gputracker/table.h>

#include <stdint.h>

struct history_part {
    struct gput_tables *tables;
    struct gput_table *table;
    gput_table_receiver *receive;
    void *user;
    size_t n_rows;   /* of the part */
    uint64_t n_seen; /* of all parts */
};

/* Errors: those of the receiver, and of a file that is named itself. One in a folder that cannot be
 * read is a warning of the query. */
int history_files_read(const char *const *paths, size_t count,
    const struct gput_history_query *query, const struct history_filter *filter,
    struct history_part *part, struct gput_error *error);

/* Begins the first part; the caller ends it by history_part_finish(). Errors: GPUT_ERROR_MEMORY. */
int history_part_begin(
    struct history_part *part, gput_table_receiver *receive, void *user, struct gput_error *error);

/* Puts a row; `number`: 0 where it has none. Errors: also those of the receiver. */
int history_part_put(struct history_part *part, int64_t number, const struct history_row *row,
    struct gput_error *error);

/* Passes on what is left: at least one part, which may have no row. */
int history_part_end(struct history_part *part, struct gput_error *error);

void history_part_finish(struct history_part *part);
