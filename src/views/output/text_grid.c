#include "views/output/text_grid.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DROPPED SIZE_MAX

void text_grid_finish(struct text_grid *grid)
{
    free(grid->columns);
    free(grid->widths);
    str_finish(&grid->cells);
    *grid = (struct text_grid){0};
}

void text_grid_add_column(struct text_grid *grid, struct text_grid_column column)
{
    if (ARRAY_EXTEND(grid->columns, grid->n_columns))
        grid->columns[grid->n_columns++] = column;
    else
        grid->cells.failed = true;
}

void text_grid_add_names_and_numbers(struct text_grid *grid, size_t count)
{
    text_grid_add_column(grid, (struct text_grid_column){.is_left = true});
    for (size_t i = 0; i < count; i++)
        text_grid_add_column(grid, (struct text_grid_column){0});
}

void text_grid_put(struct text_grid *grid, const char *cell)
{
    str_append_bytes(&grid->cells, cell, strlen(cell) + 1);
    grid->n_cells++;
}

/* The columns of a terminal that a line takes. The last column of a grid is never dropped. */
static size_t line_width(const struct text_grid *grid)
{
    size_t width = grid->margin;
    for (size_t i = 0; i < grid->n_columns; i++)
        if (grid->widths[i] != DROPPED)
            width += grid->widths[i] + (i + 1 < grid->n_columns ? grid->gap : 0);
    return width;
}

/* Makes each column as wide as its widest cell, and as its min_width unless the screen is narrow.
 * A last column that is cut has what it wants. */
static void measure(struct text_grid *grid, bool is_narrow)
{
    for (size_t i = 0; i < grid->n_columns; i++)
        grid->widths[i] = is_narrow ? 0 : grid->columns[i].min_width;
    const char *cell = str_text(&grid->cells);
    for (size_t i = 0; i < grid->n_cells; i++, cell += strlen(cell) + 1) {
        size_t width = utf8_width(cell), *column = &grid->widths[i % grid->n_columns];
        *column = width > *column ? width : *column;
    }
    const struct text_grid_column *last = &grid->columns[grid->n_columns - 1];
    if (grid->screen > 0 && last->least_width > 0)
        grid->widths[grid->n_columns - 1] = is_narrow ? last->least_width : last->wanted_width;
}

/* Finds the next column to drop; n_columns: none may go. */
static size_t find_dispensable(const struct text_grid *grid)
{
    size_t found = grid->n_columns;
    for (size_t i = 0; i < grid->n_columns; i++) {
        unsigned drop = grid->columns[i].drop;
        if (drop > 0 && grid->widths[i] != DROPPED &&
            (found == grid->n_columns || drop < grid->columns[found].drop))
            found = i;
    }
    return found;
}

/* Computes the widths that a screen holds: first the columns lose their min_width, then those go
 * that may be dropped, and the last column gets what is left. */
static void fit(struct text_grid *grid)
{
    measure(grid, false);
    if (grid->screen == 0)
        return;
    if (line_width(grid) > grid->screen)
        measure(grid, true);
    size_t column;
    while (line_width(grid) > grid->screen && (column = find_dispensable(grid)) < grid->n_columns)
        grid->widths[column] = DROPPED;
    size_t last = grid->n_columns - 1, used = line_width(grid) - grid->widths[last];
    if (grid->columns[last].least_width > 0)
        grid->widths[last] = grid->screen > used + 1 ? grid->screen - used : 1;
}

bool text_grid_is_dropped(const struct text_grid *grid, size_t column)
{
    return grid->widths && grid->widths[column] == DROPPED;
}

void text_grid_write_rows(struct text_grid *grid, size_t first, size_t end, struct str *text)
{
    bool is_measured = grid->widths != NULL;
    if (!is_measured)
        grid->widths = calloc(grid->n_columns + 1, sizeof *grid->widths);
    text->failed |= !grid->widths || grid->cells.failed;
    if (text->failed || grid->n_columns == 0)
        return;
    if (!is_measured)
        fit(grid);
    const char *cell = str_text(&grid->cells);
    for (size_t i = 0; i < grid->n_cells; i++, cell += strlen(cell) + 1) {
        size_t row = i / grid->n_columns, column = i % grid->n_columns;
        if (row < first || row >= end)
            continue;
        if (column == 0) {
            str_append_repeated(text, '\t', grid->indent);
            str_append_repeated(text, ' ', grid->margin);
        }
        if (grid->widths[column] != DROPPED) {
            /* Write a cell, cut where its column is, and the gap after it. Blanks end a line only
             * where names are all it has. */
            CLEANUP_STR struct str cut = {0};
            const struct text_grid_column *options = &grid->columns[column];
            const char *shown = cell;
            size_t width = grid->widths[column], used = utf8_width(cell);
            size_t blanks = used < width ? width - used : 0;
            if (used > width) {
                str_append(&cut, cell);
                utf8_cut(&cut, width);
                shown = str_text(&cut);
            }
            if (!options->is_left)
                str_append_repeated(text, ' ', blanks);
            str_append(text, shown);
            bool is_last = column + 1 == grid->n_columns;
            if (options->is_left && (!is_last || column == 0))
                str_append_repeated(text, ' ', blanks);
            if (!is_last)
                str_append_repeated(text, ' ', grid->gap);
        }
        if (column + 1 == grid->n_columns)
            str_append_char(text, '\n');
    }
}

void text_grid_write(struct text_grid *grid, struct str *text)
{
    text_grid_write_rows(grid, 0, SIZE_MAX, text);
}

/* ---- As pandas prints its tables ---- */

void text_grid_put_number(struct text_grid *grid, double value)
{
    char number[NUMBER_TEXT_SIZE] = "NaN";
    if (!isnan(value))
        number_format_rounded(value, 8, number);
    text_grid_put(grid, number);
}

void text_grid_put_wide(struct text_grid *grid, const char *text)
{
    str_append_char(&grid->cells, ' ');
    text_grid_put(grid, text);
}

void text_append_title(struct str *text, const char *name)
{
    bool inside = false;
    for (; *name; name++) {
        bool letter = isalpha((unsigned char)*name);
        char byte = *name == '_' ? ' ' : *name;
        if (letter)
            byte = (char)(inside ? tolower(byte) : toupper(byte));
        str_append_char(text, byte);
        inside = letter;
    }
}
