/*
 * Which ranks of a job ran or worked far longer than the median of those that did not fail.
 */
#pragma once

#include <stdbool.h>

#define STRAGGLER_SLOW_FACTOR 1.1
#define STRAGGLER_BUSY_FACTOR 1.25
/* Smaller differences do not matter, whatever their factor. */
#define STRAGGLER_MIN_SECONDS 1.0

/* True where a time is far above another one. */
static inline bool straggler_is_far(double seconds, double other, double factor)
{
    return seconds > factor * other && seconds > other + STRAGGLER_MIN_SECONDS;
}

/* True where a rank stands out by its time or its CPU time; NaN: not known. */
static inline bool straggler_is(
    double seconds, double median_seconds, double cpu_seconds, double median_cpu_seconds)
{
    return straggler_is_far(seconds, median_seconds, STRAGGLER_SLOW_FACTOR) ||
           straggler_is_far(cpu_seconds, median_cpu_seconds, STRAGGLER_BUSY_FACTOR);
}
