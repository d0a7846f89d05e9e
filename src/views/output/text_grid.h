/*
 * A table as text: cells are put row by row, and columns are as wide as their widest cell.
 *
 *     CLEANUP(text_grid_finish) struct text_grid grid = {.gap = 2};
 *     text_grid_add_column(&grid, (struct text_grid_column){.is_left = true});
 *     text_grid_add_column(&grid, (struct text_grid_column){.drop = 1});
 *     text_grid_put(&grid, "name");
 *     text_grid_put(&grid, "RAM");
 *     text_grid_write(&grid, text);
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct text_grid_column {
    bool is_left;     /* texts; numbers are aligned to the right */
    size_t min_width; /* where the screen has it; else as its widest cell */
    unsigned drop;    /* 1: is the first to go where the screen is too narrow; 0: always stays */
    /* For the last column alone, whose longer cells are cut. 0: they are not. */
    size_t wanted_width; /* without it the columns before lose their min_width */
    size_t least_width;  /* without it they are dropped */
};

/* Zero is a grid without columns; what it has is freed by text_grid_finish(). */
struct text_grid {
    size_t gap;    /* blanks between columns */
    size_t indent; /* tabs before each line */
    size_t margin; /* blanks before each line */
    size_t screen; /* columns of the screen; 0: any number */
    struct text_grid_column *columns;
    size_t n_columns;
    size_t *widths;   /* once it was written; SIZE_MAX: dropped */
    struct str cells; /* row by row, a NUL after each */
    size_t n_cells;
};

void text_grid_finish(struct text_grid *grid);

/* Adds a column; all of them before the first cell. */
void text_grid_add_column(struct text_grid *grid, struct text_grid_column column);
/* Adds `count` columns of numbers after one of names. */
void text_grid_add_names_and_numbers(struct text_grid *grid, size_t count);

/* Sets the next cell, in a new row after the last column. */
void text_grid_put(struct text_grid *grid, const char *cell);

/* Appends the rows: the columns, in the order of `drop`, that the screen holds. Without memory the
 * text fails. */
void text_grid_write(struct text_grid *grid, struct str *text);
/* The same of the rows from `first` on, before `end`. */
void text_grid_write_rows(struct text_grid *grid, size_t first, size_t end, struct str *text);
/* Whether a column was dropped; once something was written. */
bool text_grid_is_dropped(const struct text_grid *grid, size_t column);

/* ---- As pandas prints its tables ---- */

/* Puts a number rounded to 8 decimals: "0.08691302", "0.0", "NaN". */
void text_grid_put_number(struct text_grid *grid, double value);
/* Puts a whole number or a text, which pandas makes one wider, as it does the name of a column of
 * numbers. */
void text_grid_put_wide(struct text_grid *grid, const char *text);

/* Appends a name as a title: "main_n_threads" as "Main N Threads". */
void text_append_title(struct str *text, const char *name);
