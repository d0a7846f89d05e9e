#include "model/units.h"

#include "base/nearest.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    double factor;
} ram_units[] = {
    [GPUT_RAM_UNIT_BYTES] = {"bytes", 1.0},
    [GPUT_RAM_UNIT_KILOBYTES] = {"kilobytes", 1e-3},
    [GPUT_RAM_UNIT_MEGABYTES] = {"megabytes", 1e-6},
    [GPUT_RAM_UNIT_GIGABYTES] = {"gigabytes", 1e-9},
    [GPUT_RAM_UNIT_TERABYTES] = {"terabytes", 1e-12},
};

static const struct {
    const char *word;
    double seconds;
} time_units[] = {
    [GPUT_TIME_UNIT_SECONDS] = {"seconds", 1.0},
    [GPUT_TIME_UNIT_MINUTES] = {"minutes", 60.0},
    [GPUT_TIME_UNIT_HOURS] = {"hours", 3600.0},
    [GPUT_TIME_UNIT_DAYS] = {"days", 86400.0},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *gput_ram_unit_name(enum gput_ram_unit unit)
{
    return ram_units[unit].word;
}

const char *gput_time_unit_name(enum gput_time_unit unit)
{
    return time_units[unit].word;
}

double gput_ram_unit_factor(enum gput_ram_unit unit)
{
    return ram_units[unit].factor;
}

double gput_time_unit_seconds(enum gput_time_unit unit)
{
    return time_units[unit].seconds;
}

int ram_unit_parse(
    const char *word, const char *what, enum gput_ram_unit *unit, struct gput_error *error)
{
    for (size_t i = 0; i < COUNT(ram_units); i++) {
        if (strcmp(word, ram_units[i].word) == 0) {
            *unit = (enum gput_ram_unit)i;
            return GPUT_OK;
        }
    }
    char noun[64];
    snprintf(noun, sizeof noun, "%s unit", what);
    return nearest_refuse("bytes, gigabytes, kilobytes, megabytes, terabytes", word, noun, error);
}

int time_unit_parse(const char *word, enum gput_time_unit *unit, struct gput_error *error)
{
    for (size_t i = 0; i < COUNT(time_units); i++) {
        if (strcmp(word, time_units[i].word) == 0) {
            *unit = (enum gput_time_unit)i;
            return GPUT_OK;
        }
    }
    return nearest_refuse("days, hours, minutes, seconds", word, "time unit", error);
}
