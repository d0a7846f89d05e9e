/*
 * A row of a CSV sub-tracking file, parsed.
 */
#pragma once

#include "files/marks/sub_tracking_csv.h"

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
