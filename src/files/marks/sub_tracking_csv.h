/*
 * Rows of sub-tracking files as CSV text, for their reader and all that write them.
 */
#pragma once

#include "base/csv.h"
#include "base/file_windows.h"
#include "base/str.h"
#include "files/marks/sub_tracking_columns.h"

/* The column of each field of a line. */
struct sub_tracking_csv_layout {
    unsigned count;
    enum sub_tracking_column *fields; /* owned */
};

/* The layout of a new file with these optional columns. False without memory. */
bool sub_tracking_csv_layout_init(struct sub_tracking_csv_layout *layout, unsigned columns);

/*
 * Reads a header record, which is used up. `*have` becomes the set of 1 << column.
 * GPUT_ERROR_MEMORY, or GPUT_OK: the caller checks whether all required columns are there.
 */
int sub_tracking_csv_layout_parse(struct sub_tracking_csv_layout *layout, struct csv_record *header,
    unsigned *have, struct gput_error *error);

/*
 * Reads the header of the file at `path`, for appending to it. The caller finishes `*layout`, also
 * on failure. Errors: as sub_tracking_reader_open().
 */
int sub_tracking_csv_layout_read(
    struct sub_tracking_csv_layout *layout, const char *path, struct gput_error *error);

/* Its optional columns, a set of enum sub_tracking_columns. */
unsigned sub_tracking_csv_layout_columns(const struct sub_tracking_csv_layout *layout);

void sub_tracking_csv_layout_finish(struct sub_tracking_csv_layout *layout);

/* Appends the header line or a row's line, newline included. */
void sub_tracking_csv_append_header(struct str *text, const struct sub_tracking_csv_layout *layout);
void sub_tracking_csv_append_row(struct str *text, const struct sub_tracking_csv_layout *layout,
    const struct sub_tracking_mark *row, const char *name, size_t name_length);

#define SUB_TRACKING_CSV_ROW_FINE (-1)
#define SUB_TRACKING_CSV_ROW_TOO_LONG (-2)

/*
 * Parses the text of a row, without its line end: one of the values above, or the number of the
 * field that is wrong. The row's name is not set: `*name` lies in the text. A name in quotes is
 * changed there, and nothing else.
 */
int sub_tracking_csv_row_parse(const struct sub_tracking_csv_layout *layout, char *text, char *end,
    struct sub_tracking_mark *row, struct csv_cell *name);

/* Whether the second line of a text that has no end is a row of its own: then a damaged quote in
 * the first one has joined them. */
bool sub_tracking_csv_row_joins(
    const struct sub_tracking_csv_layout *layout, const char *text, const char *end);

/* ---- Lines ---- */

/* Plain lines of a file, as they stand in another one: without quotes, each a row of a code block.
 * Nearly all are. Several threads make them; anything else is left to the reader of the file in
 * order. */
struct csv_lines {
    struct file_window window;
    struct str text;
    size_t rows;
    struct csv_cell name; /* of the row before, which is a block's; no text: there is none */
};

/* The lines that come next in a reader of CSV, in the layout of another file; made by `cores`
 * threads. They hold until the reader goes on. NULL: what follows is not plain, or it is not CSV.
 */
const struct csv_lines *sub_tracking_csv_take_lines(
    struct sub_tracking_reader *reader, const struct sub_tracking_csv_layout *to, unsigned cores);

/* Goes on after those lines. */
int sub_tracking_csv_skip_lines(
    struct sub_tracking_reader *reader, const struct csv_lines *lines, struct gput_error *error);
