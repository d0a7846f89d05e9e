/*
 * The last minutes of one figure, and a small curve of them.
 */
#pragma once

#include "grid.h"

#include <stddef.h>

/* How many samples are kept: a minute at ten a second. */
#define CURVE_SAMPLES 600

/* All zeroes is empty. */
struct curve {
    struct curve_point {
        double seconds, value; /* NaN: not known then */
    } points[CURVE_SAMPLES];   /* a ring */
    size_t first, count;
    double now;  /* the latest value */
    double peak; /* the highest ever; NaN: none was known */
};

/* `seconds` never decreases. */
void live_curve_add(struct curve *curve, double seconds, double value);

/*
 * The highest value of each of `count` intervals of `span` seconds in all; the last one has the
 * latest sample. Intervals begin at multiples of their length, so that the curve moves by whole
 * columns. An interval between two samples has the value before it, unless they are far apart: then
 * it is NaN, as before the first one.
 */
void live_curve_reduce(const struct curve *curve, double span, double *values, int count);

/* Where a curve is drawn. */
struct curve_place {
    int row, column, columns, rows; /* the upper left cell, and the size */
    double span;                    /* seconds from left to right */
    double full;                    /* the value at the upper end; NaN: the highest one shown */
    unsigned style;
};

/* Draws it in eighths of cells, or in ASCII where the grid is. */
void live_curve_draw(const struct curve *curve, struct grid *grid, const struct curve_place *place);
