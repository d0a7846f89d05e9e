/*
 * Tables of a report for other programs: rows of cells from columns of the payload, or from lists
 * of its document.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"
#include "views/report/document/report_column_reader.h"

#include <gputracker/table.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_row_column {
    char *name;       /* owned */
    const char *unit; /* NULL: none */
    enum gput_column_type type;

    /* From a column of the payload; `list`, which may be NULL, has the text of each number. */
    struct report_column_reader reader;
    const struct doc **list; /* owned */
    size_t list_length;

    /* Rows of a list are objects with members of these names, or arrays. */
    bool is_member;
};

struct report_rows {
    char name[64];                     /* of its file, without an extension */
    struct report_row_column *columns; /* owned */
    size_t count, capacity;
    const struct doc *items; /* the next row of a list; NULL: none, or rows are columns */
    bool of_items;
    uint64_t row, row_count;
};

struct report_cell {
    double number;    /* NaN: missing, or a text */
    int decimals;     /* as of report_append_number() */
    const char *text; /* NULL: missing, or a number */
};

/* Fills in the cells of the next row, rows->count of them. False after the last one. Texts are
 * valid as long as the document. Errors: those of report_column_reader_next(). */
int report_rows_next(
    struct report_rows *rows, struct report_cell *cells, bool *there, struct gput_error *error);

/* Writes one table, which it does not keep. Anything but GPUT_OK ends it. */
typedef int report_table_receiver(void *user, struct report_rows *rows, struct gput_error *error);

/*
 * Passes each table that has rows: "sessions", then of each session "samples" (a table for each
 * time axis), "series", "calls", "blocks", "processes", "steps", "figures", "sources" and the
 * tables of the page. With several sessions names begin with the number of theirs: "2-samples".
 * Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO, and those of the receiver.
 */
int report_export_tables(const struct report_payload *payload, report_table_receiver *receive,
    void *user, struct gput_error *error);
