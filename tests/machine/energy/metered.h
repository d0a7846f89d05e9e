/*
 * Helpers for tests of metered energy.
 */
#pragma once

#include "machine/energy/energy_meter.h"
#include "testing.h"

#include <math.h>

/* The faults of the GPUs. Valid until the next call. */
static inline const char *gpu_faults(const struct energy_meter *meter)
{
    static char text[512];
    energy_meter_explain_gpus(meter, text, sizeof text);
    return text;
}

static inline double figure(const struct energy_meter *meter, enum gput_energy_figure figure)
{
    double joules[GPUT_ENERGY_FIGURE_COUNT];
    energy_meter_figures(meter, joules);
    return joules[figure];
}

static inline void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-3 * fabs(expected)))
        fail_msg("%.6f is not %.6f", actual, expected);
}
