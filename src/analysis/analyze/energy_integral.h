/*
 * The integral of a curve over time, by trapezoids, segment by segment.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct energy_integral {
    double total; /* NaN without a curve, or for a single moment */
    double max;
    double seconds; /* of the curve, segment by segment */
    double single;  /* the value of the last point */
    size_t points;  /* between the bounds */
    size_t segments;
};

/*
 * Integrates the curve from start_us to end_us. Points without a value (NaN) are skipped: the line
 * continues to the next one of the same segment.
 */
struct energy_integral energy_integrate(const int64_t *times_us, const uint32_t *segments,
    const double *values, size_t count, int64_t start_us, int64_t end_us);
