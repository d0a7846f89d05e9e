#include "model/energy.h"

#include "base/nearest.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    double joules;
} units[] = {
    [GPUT_ENERGY_UNIT_JOULES] = {"joules", 1},
    [GPUT_ENERGY_UNIT_WATT_HOURS] = {"watt-hours", 3600},
    [GPUT_ENERGY_UNIT_KILOWATT_HOURS] = {"kilowatt-hours", 3.6e6},
};

static const char *const figure_names[GPUT_ENERGY_FIGURE_COUNT] = {
    [GPUT_ENERGY_PACKAGE] = "package",
    [GPUT_ENERGY_CORE] = "core",
    [GPUT_ENERGY_UNCORE] = "uncore",
    [GPUT_ENERGY_DRAM] = "dram",
    [GPUT_ENERGY_PSYS] = "psys",
    [GPUT_ENERGY_GPU] = "gpu",
    [GPUT_ENERGY_TOTAL] = "total",
    [GPUT_ENERGY_MAIN] = "main",
    [GPUT_ENERGY_DESCENDANTS] = "descendants",
    [GPUT_ENERGY_COMBINED] = "combined",
};

const char *gput_energy_figure_name(enum gput_energy_figure figure)
{
    return (size_t)figure < GPUT_ENERGY_FIGURE_COUNT ? figure_names[figure] : NULL;
}

double energy_device_watts(double watts)
{
    return watts >= 0 && watts <= ENERGY_DEVICE_MAX_WATTS ? watts : NAN;
}

void energy_figures(const struct gput_energy *energy, double joules[GPUT_ENERGY_FIGURE_COUNT])
{
    joules[GPUT_ENERGY_PACKAGE] = energy->machine.package;
    joules[GPUT_ENERGY_CORE] = energy->machine.core;
    joules[GPUT_ENERGY_UNCORE] = energy->machine.uncore;
    joules[GPUT_ENERGY_DRAM] = energy->machine.dram;
    joules[GPUT_ENERGY_PSYS] = energy->machine.psys;
    joules[GPUT_ENERGY_GPU] = energy->machine.gpu;
    joules[GPUT_ENERGY_TOTAL] = energy->machine.total;
    joules[GPUT_ENERGY_MAIN] = energy->main;
    joules[GPUT_ENERGY_DESCENDANTS] = energy->descendants;
    joules[GPUT_ENERGY_COMBINED] = energy->combined;
}

void energy_parts_words(double package, double dram, double gpus, char text[ENERGY_PARTS_SIZE])
{
    static const char *const words[] = {"CPU packages", "DRAM", "GPUs"};
    const double joules[] = {package, dram, gpus};
    const char *known[3];
    size_t count = 0;
    for (size_t i = 0; i < 3; i++) {
        if (!isnan(joules[i]))
            known[count++] = words[i];
    }
    snprintf(text, ENERGY_PARTS_SIZE, "%s%s%s%s%s", count > 0 ? known[0] : "the machine",
        count > 2 ? ", " : "", count > 2 ? known[1] : "", count > 1 ? " and " : "",
        count > 1 ? known[count - 1] : "");
}

void energy_total_words(const struct gput_energy *energy, char text[ENERGY_PARTS_SIZE])
{
    if (isnan(energy->machine.package) && !isnan(energy->machine.battery))
        snprintf(text, ENERGY_PARTS_SIZE, "the whole machine");
    else
        energy_parts_words(
            energy->machine.package, energy->machine.dram, energy->machine.gpu, text);
}

const char *gput_energy_unit_name(enum gput_energy_unit unit)
{
    return units[unit].word;
}

double gput_energy_unit_joules(enum gput_energy_unit unit)
{
    return units[unit].joules;
}

int energy_unit_parse(const char *word, enum gput_energy_unit *unit, struct gput_error *error)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(word, units[i].word) == 0) {
            *unit = (enum gput_energy_unit)i;
            return GPUT_OK;
        }
    }
    return nearest_refuse("joules, kilowatt-hours, watt-hours", word, "energy unit", error);
}
