/*
 * The cells of a terminal: what is to be shown. Text is clipped, and can only ever put glyphs into
 * cells: control characters become "?", and what combines with a glyph or turns the direction of
 * text is left out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* One of the colours that every terminal has, and attributes. */
enum style {
    STYLE_PLAIN = 0,
    STYLE_RED = 1,
    STYLE_GREEN,
    STYLE_YELLOW,
    STYLE_BLUE,
    STYLE_MAGENTA,
    STYLE_CYAN,
    STYLE_GRAY = 8,
    STYLE_COLOR = 0x0F, /* the bits of a colour */
    STYLE_BOLD = 0x10,
    STYLE_REVERSE = 0x20,
};

struct cell {
    uint32_t code;
    uint8_t style;   /* enum style */
    uint8_t columns; /* 1 or 2; 0: the right half of the glyph before */
};

/* All zeroes is empty. */
struct grid {
    int columns, rows;
    struct cell *cells; /* owned; row by row */
    bool is_ascii;      /* the terminal has no other glyphs: these are shown as "?" */
    bool is_coarse;     /* its font has blocks of half and of full height, no others */
};

/* Sets the size; the content is blank afterwards. False without memory: the grid is then empty. */
bool grid_resize(struct grid *grid, int columns, int rows);
void grid_finish(struct grid *grid);

/* Blank, in the plain style. */
void grid_clear(struct grid *grid);

/* What is outside is ignored. A glyph of which a half is overwritten becomes a blank. */
void grid_put(struct grid *grid, int row, int column, uint32_t code, unsigned style);

/* Writes text from `column` on in at most `width` columns; returns the columns that it took. Text
 * that does not fit ends with "~". */
int grid_text(struct grid *grid, int row, int column, int width, unsigned style, const char *text);

/* Aligned to the right end of `width` columns. */
void grid_text_right(
    struct grid *grid, int row, int column, int width, unsigned style, const char *text);

/* Fills cells with a glyph. */
void grid_fill(struct grid *grid, int row, int column, int width, unsigned style, uint32_t code);

/* Changes the style of cells, not their glyphs. */
void grid_restyle(struct grid *grid, int row, int column, int width, unsigned style);

/* Whether both show the same. */
bool cell_equals(const struct cell *a, const struct cell *b);
