/*
 * What a terminal has to receive so that it shows a grid: only the cells that differ from what it
 * shows already, and never a command that erases the screen.
 *
 * There is no ncurses. The command is also one static program, on machines without a terminfo
 * database. What is written are ten sequences that all terminals share. ncurses draws no whole
 * frames (mode 2026), and takes widths of characters from the locale.
 */
#pragma once

#include "base/str.h"
#include "grid.h"

struct frame_options {
    bool has_colors;      /* else attributes alone (NO_COLOR) */
    bool is_synchronized; /* the terminal draws a frame at once (mode 2026) */
};

/* Appends it to `out`: nothing when nothing differs. `shown` is what the terminal shows; of another
 * size, or NULL: not known, and all is drawn. */
void frame_write(struct str *out, const struct grid *shown, const struct grid *wanted,
    const struct frame_options *options);

/* What a terminal shows, and what it is to show next. All zeroes is empty. */
struct frame {
    struct grid shown, wanted; /* owned */
    struct frame_options options;
    bool knows_shown; /* `shown` is what the terminal shows */
};

/* Begins a frame for a terminal with such glyphs (see struct grid) and colours. */
void frame_init(struct frame *frame, bool is_ascii, bool is_coarse, bool has_colors);
void frame_finish(struct frame *frame);

/* Draws `wanted` to `out`, which is empty, and takes it for shown; `wanted` has the same size then,
 * and any content. False without memory: nothing is drawn, and the next one is whole. */
bool frame_show(struct frame *frame, struct str *out);
