/*
 * Rows of plain numbers in a CSV tracking file: without quotes and blanks, a cell for each column.
 * Nearly all are. What is anything else takes the slow path of tracking_csv.c.
 */
#pragma once

#include "base/file_windows.h"
#include "files/tracking/tracking_format.h"

/* The columns of a file, by their order in it. */
struct csv_columns {
    size_t count;
    int *all; /* index of tracking_format.h; -1: unknown */
};

/* Parses the row between these; the values that it lacks are NaN. False for other rows. */
bool csv_columns_parse(
    const struct csv_columns *columns, const char *at, const char *end, double *values);

/* Rows that a thread has parsed; `user` of the windows are the columns. */
struct csv_row_window {
    struct file_window window;
    struct tracking_row *rows;
    size_t count, capacity;
};

extern const struct file_window_class csv_row_windows;
