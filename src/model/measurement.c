#include "model/measurement_list.h"

#include <stddef.h>
#include <string.h>

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
