#include "curve.h"

#include <math.h>
#include <stdbool.h>

#define LEVELS 8
#define MAX_COLUMNS 512
/* Samples farther apart than this many times the usual distance, and seconds, have a gap between.
 */
#define GAP_SECONDS 5

void live_curve_add(struct curve *curve, double seconds, double value)
{
    if (curve->count == 0)
        curve->peak = NAN;
    size_t next = (curve->first + curve->count) % CURVE_SAMPLES;
    curve->points[next] = (struct curve_point){seconds, value};
    if (curve->count < CURVE_SAMPLES)
        curve->count++;
    else
        curve->first = (curve->first + 1) % CURVE_SAMPLES;
    curve->now = value;
    curve->peak = fmax(curve->peak, value);
}

static const struct curve_point *point(const struct curve *curve, size_t index)
{
    return &curve->points[(curve->first + index) % CURVE_SAMPLES];
}

double live_curve_value(const struct curve *curve, double back)
{
    if (curve->count == 0)
        return NAN;
    double wanted = point(curve, curve->count - 1)->seconds - back;
    for (size_t i = curve->count; i-- > 0;) {
        if (point(curve, i)->seconds <= wanted + ROUNDING_SECONDS)
            return point(curve, i)->value;
    }
    return NAN;
}

/* Intervals without a sample of their own have the value before them. */
static void fill_gaps(const struct curve *curve, double width, double first, double *values,
    const bool *has_sample, int count)
{
    size_t next = 0;
    for (int i = 0; i < count; i++) {
        double begin = (first + i) * width;
        while (next < curve->count && point(curve, next)->seconds < begin)
            next++;
        if (has_sample[i] || next == 0)
            continue;
        const struct curve_point *before = point(curve, next - 1);
        if (next < curve->count && point(curve, next)->seconds - before->seconds <= GAP_SECONDS)
            values[i] = before->value;
    }
}

void live_curve_reduce(
    const struct curve *curve, double span, double back, double *values, int count)
{
    bool has_sample[MAX_COLUMNS] = {false};
    for (int i = 0; i < count; i++)
        values[i] = NAN;
    if (curve->count == 0 || count <= 0 || count > MAX_COLUMNS)
        return;
    double width = span / count;
    double last = floor((point(curve, curve->count - 1)->seconds - back) / width);
    double first = last - count + 1;
    for (size_t i = curve->count; i-- > 0;) {
        double at = floor(point(curve, i)->seconds / width) - first;
        if (at < 0)
            break;
        if (at >= count)
            continue;
        values[(int)at] = fmax(values[(int)at], point(curve, i)->value);
        has_sample[(int)at] = true;
    }
    fill_gaps(curve, width, first, values, has_sample, count);
}

/* What is above 0 shows. */
static int level_of(double value, double full, int levels)
{
    if (!(value > 0) || !(full > 0))
        return 0;
    int level = (int)(value / full * levels + 0.5);
    return level < 1 ? 1 : level > levels ? levels : level;
}

void live_curve_draw(const struct curve *curve, struct grid *grid, const struct curve_place *place)
{
    double values[MAX_COLUMNS];
    int columns = place->columns < MAX_COLUMNS ? place->columns : MAX_COLUMNS;
    double full = place->full;
    live_curve_reduce(curve, place->span, place->back, values, columns);
    for (int i = 0; isnan(place->full) && i < columns; i++)
        full = fmax(full, values[i]);
    for (int i = 0; i < columns; i++) {
        int level = level_of(values[i], full, place->rows * LEVELS - 1);
        for (int row = place->rows; row-- > 0 && level > 0; level -= LEVELS)
            meter_put(grid, place->row + row, place->column + i, place->palette, values[i] / full,
                level < LEVELS ? level : LEVELS);
    }
}
