/*
 * Plain lines of a CSV sub-tracking file, as they stand in another one: without quotes, each a row
 * of a code block. Nearly all are. Several threads make them; what is anything else is left to who
 * reads the file in order.
 */
#pragma once

#include "base/file_windows.h"
#include "files/marks/sub_tracking_csv.h"

/* The `user` of the windows. */
struct csv_line_layouts {
    const struct sub_tracking_csv_layout *from, *to;
};

struct csv_lines {
    struct file_window window;
    struct str text;
    size_t rows;
    struct csv_cell name; /* of the row before, which is a block's; no text: there is none */
};

extern const struct file_window_class csv_line_windows;

/* The lines that come next in a reader of CSV, in the layout of another file; made by `cores`
 * threads. They hold until the reader goes on. NULL: what follows is not plain, or it is not CSV.
 */
const struct csv_lines *sub_tracking_csv_take_lines(
    struct sub_tracking_reader *reader, const struct sub_tracking_csv_layout *to, unsigned cores);

/* Goes on after those lines. */
int sub_tracking_csv_skip_lines(
    struct sub_tracking_reader *reader, const struct csv_lines *lines, struct gput_error *error);
