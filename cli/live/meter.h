/*
 * Colours by value, and bars of which the full length is all there is.
 */
#pragma once

#include "grid.h"

/* What a high value means. */
enum palette {
    PALETTE_PLAIN,  /* nothing by itself */
    PALETTE_USE,    /* what was paid for is used: blue, cyan, green */
    PALETTE_SCARCE, /* it runs out: green, yellow from 70 %, red from 90 % */
    PALETTE_WAIT,   /* somebody waits: green, yellow from 10 %, red from 40 % */
};

/* `share`: of what there is, 0 to 1; NaN: not known. */
unsigned meter_style(enum palette palette, double share);

/* Fills a cell from below, in eighths, or in ASCII where the grid is. */
void meter_put(
    struct grid *grid, int row, int column, enum palette palette, double share, int eighths);

/* Draws a bar in eighths of a cell, or in ASCII where the grid is; dots are what is left. */
void meter_draw(
    struct grid *grid, int row, int column, int columns, enum palette palette, double share);

/* What threads do, in threads: 1.5 is one all the time and one half of it. NaN: not known. */
struct activity {
    double computing, cpu_wait, storage;
};

/* Scales it to shares of 1, of which nothing is left where a thread was always busy. */
struct activity activity_shares(struct activity activity);

/* Draws these shares one after the other, each with a glyph and a colour of its own; dots are time
 * asleep. Blank where it is not known. */
void meter_draw_activity(
    struct grid *grid, int row, int column, int columns, struct activity activity);
