#include "machine/energy/energy_power.h"

#include "base/clock.h"

#include <math.h>
#include <stdbool.h>

#define INTERVAL_NS NS_PER_SECOND
#define FIRST_INTERVAL_NS (NS_PER_SECOND / 10)

void energy_power_init(struct energy_power *power)
{
    *power = (struct energy_power){0};
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        power->watts[i] = power->joules[i] = NAN;
}

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
