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
