/*
 * The points of a curve, reduced while they are added to what a picture can show. For each column
 * of the picture, the first, lowest, highest and last point remain, in their order. No peak is
 * lost, and the line covers the same area as one through all points.
 */
#pragma once

#include "views/plot/drawing.h"

#include <stdbool.h>

struct curve {
    struct drawing_point *points; /* time and value; NaN: the line is interrupted; owned */
    size_t count;
    double lowest, highest; /* lowest and highest value; NaN: no points */

    bool is_of_intervals; /* a value covers the time since the previous point and is drawn as a
                             step; set before the first point */
    double start, end;    /* the window: points outside it are skipped */
    double columns;
    double column;                 /* the column that `kept` belongs to; NaN: none */
    struct drawing_point kept[4];  /* first, lowest, highest, last of the column */
    struct drawing_point previous; /* the last point added, even if outside the window */
    double previous_time; /* time of the last point, even if its value is missing; NaN: none */
    bool failed;          /* memory ran out */
};

void curve_init(struct curve *curve, double start, double end, unsigned columns);
void curve_finish(struct curve *curve);

/* Adds a point; a NaN value or time interrupts the line. The line is cut where it crosses the
 * edges of the window. */
void curve_add(struct curve *curve, double time, double value);

/* Ends the curve after its last point. */
void curve_end(struct curve *curve);
