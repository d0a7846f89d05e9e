/*
 * The points of a curve, reduced as they come to what a picture can show: of all points within one
 * column of the picture the first, the lowest, the highest and the last remain, in their order. No
 * peak is lost, and the line covers the same as that through all points.
 */
#pragma once

#include "views/plot/drawing.h"

#include <stdbool.h>

struct curve {
    struct drawing_point *points; /* time and value; NaN: the line is interrupted; owned */
    size_t count;
    double lowest, highest; /* of the points; NaN: there is none */

    bool is_of_intervals; /* each value is that of the time since the point before: drawn as a step;
                             to be set before the first */
    double start, end;    /* what is before or after is skipped */
    double columns;
    double column;                 /* the one of the following; NaN: none */
    struct drawing_point kept[4];  /* first, lowest, highest, last of the column */
    struct drawing_point previous; /* the last one added, in the window or not */
    double previous_time;          /* of it, be its value missing; NaN: none */
    bool failed;                   /* memory ran out */
};

void curve_init(struct curve *curve, double start, double end, unsigned columns);
void curve_finish(struct curve *curve);

/* Adds a point; a value or time that is NaN interrupts the line. At the edges of the window the
 * line is cut where it crosses them. */
void curve_add(struct curve *curve, double time, double value);

/* After the last point. */
void curve_end(struct curve *curve);
