#include "frame.h"

#include "base/str.h"
#include "base/utf8.h"

/* Unchanged cells between two changed ones are written too when they are cheaper than a move. */
#define CHEAP_GAP 4
#define UNKNOWN_STYLE 0x100u

struct pen {
    struct str *out;
    const struct frame_options *options;
    const struct grid *grid;
    unsigned style;
    int row, column; /* of the cursor; -1: not known */
};

static void move(struct pen *pen, int row, int column)
{
    if (pen->row == row && pen->column == column)
        return;
    str_printf(pen->out, "\033[%d;%dH", row + 1, column + 1);
    pen->row = row;
    pen->column = column;
}

/* Switches the terminal to a style, where it has another one. */
static void set_style(struct pen *pen, unsigned style)
{
    if (!pen->options->has_colors)
        style &= ~(unsigned)STYLE_COLOR;
    if (pen->style == style)
        return;
    unsigned color = style & STYLE_COLOR;
    str_append(pen->out, "\033[0");
    if (style & STYLE_BOLD)
        str_append(pen->out, ";1");
    if (style & STYLE_REVERSE)
        str_append(pen->out, ";7");
    if (color)
        str_printf(pen->out, ";%u", color < 8 ? 30 + color : 90 + color - 8);
    str_append(pen->out, "m");
    pen->style = style;
}

static const struct cell *cell_at(const struct grid *grid, int row, int column)
{
    return &grid->cells[(size_t)row * (size_t)grid->columns + (size_t)column];
}

/* Terminals differ in the width of some glyphs: after one of them the cursor is placed anew. */
static bool is_of_doubtful_width(const struct cell *cell)
{
    bool is_drawing = cell->code >= 0x2500 && cell->code < 0x25A0;
    return cell->columns == 2 || (cell->code >= 0x300 && !is_drawing);
}

/* Draws the glyph of a cell; the right half of a wide one is drawn with its left one. */
static void draw(struct pen *pen, int row, int column)
{
    const struct cell *cell = cell_at(pen->grid, row, column);
    if (cell->columns == 0)
        return;
    char text[4];
    move(pen, row, column);
    set_style(pen, cell->style);
    str_append_bytes(pen->out, text, utf8_bytes_of(cell->code, text));
    pen->column += cell->columns;
    /* In the last column the cursor waits there, or is in the next row. */
    if (is_of_doubtful_width(cell) || pen->column >= pen->grid->columns)
        pen->row = pen->column = -1;
}

/* The column from which on a row is blank. */
static int end_of_row(const struct grid *grid, int row)
{
    static const struct cell blank = {.code = ' ', .columns = 1};
    int end = grid->columns;
    while (end > 0 && cell_equals(cell_at(grid, row, end - 1), &blank))
        end--;
    return end;
}

static void erase_to_end(struct pen *pen, int row, int column)
{
    if (column >= pen->grid->columns)
        return;
    move(pen, row, column);
    set_style(pen, STYLE_PLAIN);
    str_append(pen->out, "\033[K");
}

static void draw_whole_row(struct pen *pen, int row)
{
    int end = end_of_row(pen->grid, row);
    for (int column = 0; column < end; column++)
        draw(pen, row, column);
    erase_to_end(pen, row, end);
}

/* Draws the cells of a row that differ from what is shown. */
static void draw_changes(struct pen *pen, const struct grid *shown, int row)
{
    int columns = pen->grid->columns;
    int end = end_of_row(pen->grid, row), old_end = end_of_row(shown, row);
    for (int column = 0; column < end; column++) {
        if (cell_equals(cell_at(shown, row, column), cell_at(pen->grid, row, column)))
            continue;
        /* The right half of a glyph comes with its left one. */
        if (cell_at(pen->grid, row, column)->columns == 0 && column > 0)
            draw(pen, row, column - 1);
        if (pen->row == row && pen->column >= 0 && column - pen->column < CHEAP_GAP)
            for (int gap = pen->column; gap < column; gap++)
                draw(pen, row, gap);
        draw(pen, row, column);
    }
    if (old_end - end > 8 || (old_end > end && old_end == columns))
        erase_to_end(pen, row, end);
    else
        for (int column = end; column < old_end; column++)
            draw(pen, row, column);
}

void frame_write(struct str *out, const struct grid *shown, const struct grid *wanted,
    const struct frame_options *options)
{
    struct str body = {0};
    struct pen pen = {.out = &body,
        .options = options,
        .grid = wanted,
        .style = UNKNOWN_STYLE,
        .row = -1,
        .column = -1};
    bool knows = shown && shown->columns == wanted->columns && shown->rows == wanted->rows;
    for (int row = 0; row < wanted->rows; row++) {
        if (knows)
            draw_changes(&pen, shown, row);
        else
            draw_whole_row(&pen, row);
    }
    if (body.length > 0 && options->is_synchronized)
        str_append(out, "\033[?2026h");
    str_append_bytes(out, body.data, body.length);
    if (body.length > 0 && options->is_synchronized)
        str_append(out, "\033[?2026l");
    out->failed |= body.failed;
    str_finish(&body);
}

void frame_init(struct frame *frame, bool is_ascii, bool is_coarse, bool has_colors)
{
    *frame = (struct frame){.options.has_colors = has_colors};
    frame->shown.is_ascii = frame->wanted.is_ascii = is_ascii;
    frame->shown.is_coarse = frame->wanted.is_coarse = is_coarse;
}

void frame_finish(struct frame *frame)
{
    grid_finish(&frame->shown);
    grid_finish(&frame->wanted);
}

bool frame_show(struct frame *frame, struct str *out)
{
    frame_write(out, frame->knows_shown ? &frame->shown : NULL, &frame->wanted, &frame->options);
    frame->knows_shown = !out->failed;
    if (out->failed) { /* half a frame cannot be shown */
        str_restart(out);
        return false;
    }
    struct grid drawn = frame->wanted;
    frame->wanted = frame->shown;
    frame->shown = drawn;
    if (frame->wanted.columns != drawn.columns || frame->wanted.rows != drawn.rows)
        grid_resize(&frame->wanted, drawn.columns, drawn.rows);
    return true;
}
