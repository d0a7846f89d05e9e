#include "machine/energy/energy_power.h"

#include "base/clock.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- Now ---- */

#define INTERVAL_NS NS_PER_SECOND
#define FIRST_INTERVAL_NS (NS_PER_SECOND / 10)

void energy_power_init(struct energy_power *power)
{
    *power = (struct energy_power){0};
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        power->watts[i] = power->joules[i] = NAN;
}

/* Whether the power of some figure is known. */
static bool is_known(const struct energy_power *power)
{
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (!isnan(power->watts[i]))
            return true;
    }
    return false;
}

void energy_power_add(
    struct energy_power *power, const double joules[GPUT_ENERGY_FIGURE_COUNT], int64_t now_ns)
{
    int64_t passed_ns = now_ns - power->since_ns;
    bool first = power->since_ns == 0;
    if (!first && passed_ns < (is_known(power) ? INTERVAL_NS : FIRST_INTERVAL_NS))
        return;
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        /* At the end they are less where too much was extrapolated: that is not a power. */
        if (!first && !(joules[i] < power->joules[i]))
            power->watts[i] =
                (joules[i] - power->joules[i]) * (double)NS_PER_SECOND / (double)passed_ns;
        power->known[i] |= !isnan(joules[i]);
        /* A figure is first known at the end of its first interval. */
        power->joules[i] = power->known[i] ? joules[i] : 0;
    }
    power->since_ns = now_ns;
}

/* ---- At most ---- */

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

/* Returns the sum of values. */
static double sum(const double *values, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += values[i];
    return total;
}

void energy_peak_add(struct energy_peak *peak, double joules, double seconds)
{
    if (peak->count == ENERGY_PEAK_INTERVALS) {
        peak->joules[peak->count - 1] += joules;
        peak->seconds[peak->count - 1] += seconds;
    } else {
        peak->joules[peak->count] = joules;
        peak->seconds[peak->count++] = seconds;
    }

    /* The shortest stretch that ends now and is long enough is kept. */
    size_t first = 0;
    while (first + 1 < peak->count &&
           sum(peak->seconds + first + 1, peak->count - first - 1) >= STRETCH_SECONDS)
        first++;
    peak->count -= first;
    memmove(peak->joules, peak->joules + first, peak->count * sizeof *peak->joules);
    memmove(peak->seconds, peak->seconds + first, peak->count * sizeof *peak->seconds);

    double length = sum(peak->seconds, peak->count);
    double watts = sum(peak->joules, peak->count) / length;
    bool is_long = length >= STRETCH_SECONDS;
    if (length > 0 && (!peak->has_stretch || (is_long && watts > peak->watts)))
        peak->watts = watts;
    peak->has_stretch |= is_long;
}
