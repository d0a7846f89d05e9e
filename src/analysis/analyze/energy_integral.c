#include "analysis/analyze/energy_integral.h"

#include <math.h>
#include <stdbool.h>

struct point {
    int64_t time_us;
    double value;
};

/* The point of the line from a to b at that time. */
static struct point point_at(struct point a, struct point b, int64_t time_us)
{
    if (time_us == a.time_us || time_us == b.time_us)
        return time_us == a.time_us ? a : b;
    double part = (double)(time_us - a.time_us) / (double)(b.time_us - a.time_us);
    return (struct point){time_us, a.value + part * (b.value - a.value)};
}

static void raise_max(struct energy_integral *integral, double value)
{
    if (!(value <= integral->max))
        integral->max = value;
}

/* Adds the part of the line from a to b within the bounds; false: there is none. */
static bool add_line(struct energy_integral *integral, struct point a, struct point b,
    int64_t start_us, int64_t end_us)
{
    if (b.time_us < start_us || a.time_us > end_us || b.time_us < a.time_us)
        return false;
    struct point from = point_at(a, b, a.time_us > start_us ? a.time_us : start_us);
    struct point to = point_at(a, b, b.time_us < end_us ? b.time_us : end_us);
    double seconds = (double)(to.time_us - from.time_us) / 1e6;
    integral->total += seconds * (to.value + from.value) / 2;
    integral->seconds += seconds;
    raise_max(integral, from.value);
    raise_max(integral, to.value);
    return true;
}

struct energy_integral energy_integrate(const int64_t *times_us, const uint32_t *segments,
    const double *values, size_t count, int64_t start_us, int64_t end_us)
{
    struct energy_integral integral = {.max = NAN, .single = NAN};
    struct point before = {0};
    bool has_before = false, is_counted = false; /* the segment so far */
    uint32_t segment = 0;
    for (size_t i = 0; i < count; i++) {
        struct point point = {times_us[i], values[i]};
        if (isnan(point.value))
            continue;
        if (!has_before || segments[i] != segment)
            has_before = is_counted = false;
        bool is_inside = point.time_us >= start_us && point.time_us <= end_us;
        bool is_new = has_before && add_line(&integral, before, point, start_us, end_us);
        if ((is_new || is_inside) && !is_counted) {
            is_counted = true;
            integral.segments++;
        }
        if (is_inside) {
            raise_max(&integral, point.value);
            integral.single = point.value;
            integral.points++;
        }
        before = point;
        segment = segments[i];
        has_before = true;
    }
    /* A moment has no joules. */
    if (!(integral.seconds > 0))
        integral.total = NAN;
    return integral;
}
