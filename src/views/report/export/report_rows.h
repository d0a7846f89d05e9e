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
    const struct doc *const *list; /* owned */
    size_t list_length;

    /* Rows of a list are objects with members of these names, or arrays. */
    bool is_member;
};

/* A column of objects, as callers know it; a name of NULL ends a list of them. */
struct report_member {
    const char *name, *unit; /* no unit: NULL */
    enum gput_column_type type;
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

/* An empty table of that name; what a file name should not have becomes "_". */
void report_rows_init(struct report_rows *rows, const char *name);
void report_rows_finish(struct report_rows *rows);

/* Adds a column of the payload, unless it is NULL. All of a table have the same number of rows. */
int report_rows_add_numbers(struct report_rows *rows, const struct report_payload *payload,
    const char *name, const char *unit, const struct doc *column, struct gput_error *error);

/* Likewise of whole numbers: ids and counts. */
int report_rows_add_integers(struct report_rows *rows, const struct report_payload *payload,
    const char *name, const struct doc *column, struct gput_error *error);

/* Likewise of texts: its numbers are places in `list`, of texts, or of objects with that member. */
int report_rows_add_texts(struct report_rows *rows, const struct report_payload *payload,
    const char *name, const struct doc *column, const struct doc *list, const char *key,
    struct gput_error *error);

/* Rows are the items of `items`, objects; their members are columns. */
int report_rows_of_objects(struct report_rows *rows, const struct doc *items,
    const struct report_member *members, struct gput_error *error);

/* Rows are a table of the document: "columns" and "rows". */
int report_rows_of_table(
    struct report_rows *rows, const struct doc *table, struct gput_error *error);

/* Fills in the cells of the next row, rows->count of them. False after the last one. Texts are
 * valid as long as the document. Errors: those of report_column_reader_next(). */
int report_rows_next(
    struct report_rows *rows, struct report_cell *cells, bool *there, struct gput_error *error);
