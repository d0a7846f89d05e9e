#include "machine/energy/energy_peak.h"

#include <math.h>
#include <string.h>

/* One second, so that ticks ten times as fast cover a burst of that length, whatever their phase.
 */
#define STRETCH_SECONDS 0.88

void energy_peak_init(struct energy_peak *peak)
{
    *peak = (struct energy_peak){.watts = NAN};
}

void energy_peak_break(struct energy_peak *peak)
{
    peak->count = 0;
}

static double sum(const double *values, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += values[i];
    return total;
}

static void append(struct energy_peak *peak, double joules, double seconds)
{
    if (peak->count == ENERGY_PEAK_INTERVALS) {
        peak->joules[peak->count - 1] += joules;
        peak->seconds[peak->count - 1] += seconds;
        return;
    }
    peak->joules[peak->count] = joules;
    peak->seconds[peak->count++] = seconds;
}

/* Keeps the shortest interval that ends now and is long enough. */
static void shorten(struct energy_peak *peak)
{
    size_t first = 0;
    while (first + 1 < peak->count &&
           sum(peak->seconds + first + 1, peak->count - first - 1) >= STRETCH_SECONDS)
        first++;
    peak->count -= first;
    memmove(peak->joules, peak->joules + first, peak->count * sizeof *peak->joules);
    memmove(peak->seconds, peak->seconds + first, peak->count * sizeof *peak->seconds);
}

void energy_peak_add(struct energy_peak *peak, double joules, double seconds)
{
    append(peak, joules, seconds);
    shorten(peak);
    double length = sum(peak->seconds, peak->count);
    double watts = sum(peak->joules, peak->count) / length;
    bool is_long = length >= STRETCH_SECONDS;
    if (length > 0 && (!peak->has_stretch || (is_long && watts > peak->watts)))
        peak->watts = watts;
    peak->has_stretch |= is_long;
}
