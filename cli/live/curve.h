/*
 * The last minutes of one figure, and a small curve of them.
 */
#pragma once

#include "meter.h"

#include <stddef.h>

/* How many samples are kept: ten minutes at two a second. */
#define CURVE_SAMPLES 1200

/* Moments that are less apart are the same. */
#define ROUNDING_SECONDS 0.01

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

/* The value `back` seconds before the latest sample; NaN: not known then. */
double live_curve_value(const struct curve *curve, double back);

/*
 * The highest value of each of `count` intervals of `span` seconds in all; the last one has the
 * sample of `back` seconds before the latest one. Intervals begin at multiples of their length, so
 * that the curve moves by whole columns. An interval between two samples has the value before it,
 * unless they are far apart: then it is NaN, as before the first one.
 */
void live_curve_reduce(
    const struct curve *curve, double span, double back, double *values, int count);

/* Where a curve is drawn. */
struct curve_place {
    int row, column, columns, rows; /* the upper left cell, and the size */
    double span;                    /* seconds from left to right */
    double back;                    /* from the right end to the latest sample */
    double full;                    /* the value at the upper end; NaN: the highest one shown */
    enum palette palette;
};

/* Draws it in eighths of cells, or in ASCII where the grid is. The uppermost eighth stays blank, so
 * that curves below each other stay apart. */
void live_curve_draw(const struct curve *curve, struct grid *grid, const struct curve_place *place);
