#include "grid.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static struct cell *at(struct grid *grid, int row, int column)
{
    return &grid->cells[(size_t)row * (size_t)grid->columns + (size_t)column];
}

static bool is_inside(const struct grid *grid, int row, int column)
{
    return row >= 0 && row < grid->rows && column >= 0 && column < grid->columns;
}

bool grid_resize(struct grid *grid, int columns, int rows)
{
    size_t count = (size_t)(columns > 0 ? columns : 0) * (size_t)(rows > 0 ? rows : 0);
    struct cell *cells = realloc(grid->cells, (count + 1) * sizeof *cells);
    if (!cells) {
        grid_finish(grid);
        return false;
    }
    grid->cells = cells;
    grid->columns = columns > 0 ? columns : 0;
    grid->rows = rows > 0 ? rows : 0;
    grid_clear(grid);
    return true;
}

void grid_finish(struct grid *grid)
{
    free(grid->cells);
    *grid = (struct grid){.is_ascii = grid->is_ascii, .is_coarse = grid->is_coarse};
}

void grid_clear(struct grid *grid)
{
    for (size_t i = 0; i < (size_t)grid->rows * (size_t)grid->columns; i++)
        grid->cells[i] = (struct cell){.code = ' ', .columns = 1};
}

/* Before a cell is written: what is left of a glyph of two columns there becomes a blank. */
static void split(struct grid *grid, int row, int column)
{
    struct cell *cell = at(grid, row, column);
    if (cell->columns == 0 && column > 0)
        *at(grid, row, column - 1) = (struct cell){.code = ' ', .columns = 1};
    if (cell->columns == 2 && column + 1 < grid->columns)
        *at(grid, row, column + 1) = (struct cell){.code = ' ', .columns = 1};
}

/* What is shown for a code point. */
static uint32_t glyph_of(const struct grid *grid, uint32_t code)
{
    bool is_hidden = utf8_columns(code) < 0 || code == UTF8_REPLACEMENT;
    return is_hidden || (grid->is_ascii && code > '~') ? '?' : code;
}

void grid_put(struct grid *grid, int row, int column, uint32_t code, unsigned style)
{
    if (!is_inside(grid, row, column))
        return;
    code = glyph_of(grid, code);
    int columns = utf8_columns(code);
    if (columns == 0)
        return;
    if (columns == 2 && column + 1 >= grid->columns)
        code = ' ', columns = 1;
    split(grid, row, column);
    *at(grid, row, column) =
        (struct cell){.code = code, .style = (uint8_t)style, .columns = (uint8_t)columns};
    if (columns == 1)
        return;
    split(grid, row, column + 1);
    *at(grid, row, column) = (struct cell){.code = code, .style = (uint8_t)style, .columns = 2};
    *at(grid, row, column + 1) = (struct cell){.style = (uint8_t)style};
}

/* Puts a text into at most `width` columns; one that is longer ends with "~". */
static int put_bytes(struct grid *grid, int row, int column, int width, unsigned style,
    const char *text, size_t length)
{
    int used = 0;
    int last = 0; /* where the glyph begins that gives way to "~" */
    for (const char *next = text, *end = text + length; next < end;) {
        uint32_t code = glyph_of(grid, utf8_next(&next, end));
        int columns = utf8_columns(code);
        if (columns == 0)
            continue;
        if (used + columns > width) {
            if (width > 0)
                grid_put(grid, row, column + (used < width ? used : last), '~', style);
            return width > 0 ? width : 0;
        }
        last = used;
        grid_put(grid, row, column + used, code, style);
        used += columns;
    }
    return used;
}

int grid_text(struct grid *grid, int row, int column, int width, unsigned style, const char *text)
{
    return put_bytes(grid, row, column, width, style, text, strlen(text));
}

void grid_text_right(
    struct grid *grid, int row, int column, int width, unsigned style, const char *text)
{
    int columns = (int)utf8_width(text);
    int blank = columns < width ? width - columns : 0;
    grid_text(grid, row, column + blank, width - blank, style, text);
}

void grid_fill(struct grid *grid, int row, int column, int width, unsigned style, uint32_t code)
{
    for (int i = 0; i < width; i++)
        grid_put(grid, row, column + i, code, style);
}

void grid_restyle(struct grid *grid, int row, int column, int width, unsigned style)
{
    for (int i = column; i < column + width; i++)
        if (is_inside(grid, row, i))
            at(grid, row, i)->style = (uint8_t)style;
}

bool cell_equals(const struct cell *a, const struct cell *b)
{
    return a->code == b->code && a->style == b->style && a->columns == b->columns;
}
