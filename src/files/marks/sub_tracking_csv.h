/*
 * Rows of sub-tracking files as CSV text, for all writers of such files.
 */
#pragma once

#include "base/csv.h"
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

/*
 * The end of the field that begins at `text`: its comma, or `end`. A field that begins with a quote
 * may have commas between its quotes; elsewhere a quote has no meaning.
 */
const char *sub_tracking_csv_field_end(const char *text, const char *end);

/* Appends the header line or a row's line, newline included. */
void sub_tracking_csv_append_header(struct str *text, const struct sub_tracking_csv_layout *layout);
void sub_tracking_csv_append_row(struct str *text, const struct sub_tracking_csv_layout *layout,
    const struct sub_tracking_mark *row, const char *name, size_t name_length);
