/*
 * Tables as text: aligned columns, numbers to the right and texts to the left. On a screen that is
 * too narrow for that, the longest texts are cut first, in the middle: paths and names of kernels
 * differ at both ends. Where that is not enough, the columns follow in several blocks, each after
 * those that say what a row is.
 */
#pragma once

#include "base/str.h"

#include <gputracker/table.h>

#define TABLE_TEXT_COLUMNS 64

struct table_text {
    size_t screen;                     /* columns of the screen; 0: any number */
    size_t widths[TABLE_TEXT_COLUMNS]; /* of the table's columns, so far */
};

/* Its name, as a heading: names of other programs with blanks for underscores. */
void table_text_name(const struct gput_table *table, struct str *text);

/* Appends rows. `first`: the first ones of a table, with its head before them; the head is before
 * each of several blocks, too. */
void table_text_add(
    struct table_text *layout, const struct gput_table *part, bool first, struct str *out);

/* Appends the row of a record: a line a column. */
void table_text_add_record(const struct gput_table *table, struct str *out);
