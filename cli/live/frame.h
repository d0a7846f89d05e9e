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
