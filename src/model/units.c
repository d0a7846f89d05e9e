#include "model/units.h"

#include "base/error.h"
#include "base/nearest.h"
#include "model/measurement_list.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *word;
    double factor;
    const char *symbol; /* a symbol that is not valid; the message suggests the word */
} ram_units[] = {
    [GPUT_RAM_UNIT_BYTES] = {"bytes", 1.0, "b"},
    [GPUT_RAM_UNIT_KILOBYTES] = {"kilobytes", 1e-3, "kb"},
    [GPUT_RAM_UNIT_MEGABYTES] = {"megabytes", 1e-6, "mb"},
    [GPUT_RAM_UNIT_GIGABYTES] = {"gigabytes", 1e-9, "gb"},
    [GPUT_RAM_UNIT_TERABYTES] = {"terabytes", 1e-12, "tb"},
};

static const struct {
    const char *word;
    double seconds;
    const char *symbol; /* likewise */
} time_units[] = {
    [GPUT_TIME_UNIT_SECONDS] = {"seconds", 1.0, "s"},
    [GPUT_TIME_UNIT_MINUTES] = {"minutes", 60.0, "min"},
    [GPUT_TIME_UNIT_HOURS] = {"hours", 3600.0, "h"},
    [GPUT_TIME_UNIT_DAYS] = {"days", 86400.0, "d"},
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

/* Refuses a word. `meant` is the unit whose symbol was given, or NULL. */
static int refuse(const char *words, const char *word, const char *noun, const char *meant,
    struct gput_error *error)
{
    if (!meant)
        return nearest_refuse(words, word, noun, error);
    return error_set(error, GPUT_ERROR_INVALID,
        "\"%.80s\" is not a valid %s: did you mean %s? Valid values are %s", word, noun, meant,
        words);
}

int ram_unit_parse(
    const char *word, const char *what, enum gput_ram_unit *unit, struct gput_error *error)
{
    const char *meant = NULL;
    for (size_t i = 0; i < COUNT(ram_units); i++) {
        if (strcmp(word, ram_units[i].word) == 0) {
            *unit = (enum gput_ram_unit)i;
            return GPUT_OK;
        }
        if (strcasecmp(word, ram_units[i].symbol) == 0)
            meant = ram_units[i].word;
    }
    char noun[64];
    snprintf(noun, sizeof noun, "%s unit", what);
    return refuse("bytes, kilobytes, megabytes, gigabytes, terabytes", word, noun, meant, error);
}

int time_unit_parse(const char *word, enum gput_time_unit *unit, struct gput_error *error)
{
    const char *meant = NULL;
    for (size_t i = 0; i < COUNT(time_units); i++) {
        if (strcmp(word, time_units[i].word) == 0) {
            *unit = (enum gput_time_unit)i;
            return GPUT_OK;
        }
        if (strcmp(word, time_units[i].symbol) == 0)
            meant = time_units[i].word;
    }
    return refuse("seconds, minutes, hours, days", word, "time unit", meant, error);
}

/* ---- Measurements ---- */

static const struct gput_measurement measurements[] = {
#define ROW(ID, name, QUANTITY, OVER, read_from, source, label, group, scope, meaning)             \
    [GPUT_##ID] = {GPUT_##ID, name, GPUT_QUANTITY_##QUANTITY, read_from},
    MEASUREMENTS(ROW)
#undef ROW
};

const struct measurement_curve measurement_curves[] = {
#define ROW(ID, name, QUANTITY, OVER, read_from, source, label, group, scope, meaning)             \
    [GPUT_##ID] = {label, group, scope, MEASUREMENT_##OVER == MEASUREMENT_INTERVAL},
    MEASUREMENTS(ROW)
#undef ROW
};

const enum gput_measurement_id tracked_measurements[TRACKED_MEASUREMENTS] = {
#define COLUMN(ID) GPUT_##ID,
    TRACKING_FILE_COLUMNS(COLUMN, TRACKED_NONE)
#undef COLUMN
};

_Static_assert(sizeof measurements / sizeof *measurements == GPUT_MEASUREMENT_COUNT,
    "each has a row, and the last one, too");

const struct gput_measurement *gput_measurement(enum gput_measurement_id id)
{
    return (size_t)id < GPUT_MEASUREMENT_COUNT ? &measurements[id] : NULL;
}

const struct gput_measurement *gput_measurement_find(const char *name)
{
    for (size_t i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        if (strcmp(measurements[i].name, name) == 0)
            return &measurements[i];
    }
    return NULL;
}

bool measurement_came_later(enum gput_measurement_id id)
{
    for (size_t i = TRACKED_TIME; i < TRACKED_MEASUREMENTS; i++) {
        if (tracked_measurements[i] == id)
            return true;
    }
    return false;
}
