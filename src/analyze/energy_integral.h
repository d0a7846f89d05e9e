/*
 * What a curve over time comes to: its integral by trapezoids, segment by segment.
 */
#ifndef ANALYZE_ENERGY_INTEGRAL_H
#define ANALYZE_ENERGY_INTEGRAL_H

#include <stddef.h>
#include <stdint.h>

struct energy_integral {
    double total; /* NaN without points */
    double max;
    double seconds; /* from the first to the last point of each segment */
    double single;  /* the last value */
    size_t points, segments;
};

/*
 * Over the points with a value (not NaN) from start_us to end_us. Points that are missing are
 * passed over: the line goes on to the next one of the same segment.
 */
struct energy_integral energy_integrate(const int64_t *times_us, const uint32_t *segments,
    const double *values, size_t count, int64_t start_us, int64_t end_us);

#endif
