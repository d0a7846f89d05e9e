#include <gputracker/energy.h>

#include "base/error.h"

#include <stddef.h>
#include <strings.h>

#include "model/carbon_intensity_table.h"

int gput_carbon_intensity_find(
    const char *country, const struct gput_carbon_intensity **intensity, struct gput_error *error)
{
    for (size_t i = 0; i < sizeof intensities / sizeof intensities[0]; i++) {
        if (strcasecmp(country, intensities[i].code) == 0 ||
            strcasecmp(country, intensities[i].long_code) == 0) {
            *intensity = &intensities[i];
            return GPUT_OK;
        }
    }
    *intensity = NULL;
    return error_set(error, GPUT_ERROR_NOT_FOUND,
        "The carbon intensity of \"%.40s\" is not known. Give the code of a country (FR, FRA), or "
        "grams of CO2 for a kWh.",
        country);
}

const char *gput_carbon_intensity_source(void)
{
    return CARBON_INTENSITY_SOURCE;
}
