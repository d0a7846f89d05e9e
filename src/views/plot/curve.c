#include "views/plot/curve.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>

/* Beyond this, differences of values may be none. */
#define CURVE_MAX 1e300

enum { FIRST, LOWEST, HIGHEST, LAST };

static const struct drawing_point no_point = {NAN, NAN};

void curve_init(struct curve *curve, double start, double end, unsigned columns)
{
    *curve = (struct curve){
        .lowest = NAN,
        .highest = NAN,
        .start = start,
        .end = end,
        .columns = columns,
        .column = NAN,
        .previous = no_point,
        .previous_time = NAN,
    };
}

void curve_finish(struct curve *curve)
{
    free(curve->points);
    curve->points = NULL;
    curve->count = 0;
}

static bool is_gap(struct drawing_point point)
{
    return isnan(point.x) || isnan(point.y);
}

/* Adds a point to the curve; `failed` is set when memory runs out. */
static void put(struct curve *curve, struct drawing_point point)
{
    if (curve->failed || !ARRAY_EXTEND(curve->points, curve->count)) {
        curve->failed = true;
        return;
    }
    curve->points[curve->count++] = point;
}

static bool is_same(struct drawing_point a, struct drawing_point b)
{
    return a.x == b.x && a.y == b.y;
}

/* Moves the points of the column to those that are drawn. */
static void end_column(struct curve *curve)
{
    if (isnan(curve->column))
        return;
    struct drawing_point *kept = curve->kept;
    /* Which comes first: a column may go back in time, so the order of coming is kept in FIRST and
     * LAST, and in that of LOWEST and HIGHEST. */
    int order[] = {FIRST, LOWEST, HIGHEST, LAST};
    if (kept[HIGHEST].x < kept[LOWEST].x || is_same(kept[HIGHEST], kept[FIRST])) {
        order[1] = HIGHEST;
        order[2] = LOWEST;
    }
    for (int i = 0; i < 4; i++) {
        if (i == 0 || !is_same(kept[order[i]], curve->points[curve->count - 1])) {
            /* Replace the end of a level line if the point continues it. */
            struct drawing_point point = kept[order[i]];
            const struct drawing_point *last = curve->points + curve->count;
            if (curve->count >= 2 && last[-1].y == point.y && last[-2].y == point.y &&
                last[-1].x >= last[-2].x && point.x >= last[-1].x)
                curve->count--;
            put(curve, point);
        }

        if (curve->failed)
            return;
    }
    curve->lowest = fmin(curve->lowest, kept[LOWEST].y);
    curve->highest = fmax(curve->highest, kept[HIGHEST].y);
    curve->column = NAN;
}

/* Adds a point within the time of the chart to its column. */
static void add_inside(struct curve *curve, struct drawing_point point)
{
    double span = curve->end - curve->start;
    double column = span > 0 ? floor((point.x - curve->start) / span * curve->columns) : 0;
    if (column != curve->column)
        end_column(curve);
    if (isnan(curve->column)) {
        for (int i = 0; i < 4; i++)
            curve->kept[i] = point;
        curve->column = column;
        return;
    }
    /* A step counts at its end, where its value was read. */
    if (point.y <= curve->kept[LOWEST].y)
        curve->kept[LOWEST] = point;
    if (point.y >= curve->kept[HIGHEST].y)
        curve->kept[HIGHEST] = point;
    curve->kept[LAST] = point;
}

/* Ends the line, so that the next point begins a new one. */
static void interrupt(struct curve *curve)
{
    end_column(curve);
    if (curve->count > 0 && !is_gap(curve->points[curve->count - 1]))
        put(curve, no_point);
}

static bool is_inside(const struct curve *curve, struct drawing_point point)
{
    return point.x >= curve->start && point.x <= curve->end;
}

/* Returns where the line between two points crosses that time. */
static struct drawing_point cross(struct drawing_point a, struct drawing_point b, double time)
{
    double part = (time - a.x) / (b.x - a.x);
    return (struct drawing_point){time, a.y + part * (b.y - a.y)};
}

/* Adds a point, or a gap where it has no value. */
static void add_point(struct curve *curve, double time, double value)
{
    struct drawing_point point = {time, value}, previous = curve->previous;
    if (!isfinite(time) || !(fabs(value) < CURVE_MAX))
        point = no_point;
    curve->previous = point;
    if (is_gap(point)) {
        interrupt(curve);
        return;
    }
    bool is_line = !is_gap(previous);
    if (is_line && (!is_inside(curve, previous) || !is_inside(curve, point))) {
        /* Clip a line of which at least one end is outside the window. */
        double first = previous.x < curve->start ? curve->start : curve->end;
        double last = point.x < curve->start ? curve->start : curve->end;
        bool crosses =
            fmax(previous.x, point.x) >= curve->start && fmin(previous.x, point.x) <= curve->end;
        if (crosses) {
            if (!is_inside(curve, previous)) {
                interrupt(curve);
                add_inside(curve, cross(previous, point, first));
            }
            if (!is_inside(curve, point)) {
                add_inside(curve, cross(previous, point, last));
                interrupt(curve);
            }
        }
    }

    if (is_inside(curve, point))
        add_inside(curve, point);
}

void curve_add(struct curve *curve, double time, double value)
{
    if (curve->is_of_intervals && !isnan(curve->previous_time) && !isnan(value))
        add_point(curve, curve->previous_time, value);
    add_point(curve, time, value);
    curve->previous_time = time;
}

void curve_end(struct curve *curve)
{
    end_column(curve);
}
