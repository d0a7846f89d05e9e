#include <gputracker/energy.h>

#include "base/error.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *word;
    double joules;
} units[] = {
    [GPUT_JOULES] = {"joules", 1},
    [GPUT_WATT_HOURS] = {"watt-hours", 3600},
    [GPUT_KILOWATT_HOURS] = {"kilowatt-hours", 3.6e6},
};

const char *gput_energy_unit_name(enum gput_energy_unit unit)
{
    return units[unit].word;
}

double gput_energy_unit_joules(enum gput_energy_unit unit)
{
    return units[unit].joules;
}

int gput_energy_unit_parse(const char *word, enum gput_energy_unit *unit, struct gput_error *error)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(word, units[i].word) == 0) {
            *unit = (enum gput_energy_unit)i;
            return GPUT_OK;
        }
    }
    return error_set(error, GPUT_ERROR_INVALID,
        "\"%s\" is not a valid energy unit. Valid values are joules, kilowatt-hours, watt-hours",
        word);
}
