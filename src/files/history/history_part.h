/*
 * The table of sessions that a reader gets, part by part, so that memory does not grow with them.
 */
#pragma once

#include "files/history/history_row.h"

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

/* Begins the first part; the caller ends it by history_part_finish(). Errors: GPUT_ERROR_MEMORY. */
int history_part_begin(
    struct history_part *part, gput_table_receiver *receive, void *user, struct gput_error *error);

/* Puts a row; `number`: 0 where it has none. Errors: also those of the receiver. */
int history_part_put(struct history_part *part, int64_t number, const struct history_row *row,
    struct gput_error *error);

/* Passes on what is left: at least one part, which may have no row. */
int history_part_end(struct history_part *part, struct gput_error *error);

void history_part_finish(struct history_part *part);
