/*
 * Energy of a session: what the machine used by domain, and the share of the tracked processes.
 *
 * The CPU's counters (RAPL) and the GPUs' count for the whole device. The tracked processes get a
 * share: of CPU time for the packages, of RAM in use for DRAM, of processor (SM) use or else memory
 * in use for GPUs. Shares are taken over the same interval as the energy and never sum to more than
 * the device.
 *
 *     double joules = gput_results_energy(results, GPUT_ENERGY_COMBINED);
 *     if (!isnan(joules))
 *         printf("%g Wh\n", joules / gput_energy_unit_joules(GPUT_WATT_HOURS));
 */
#ifndef GPUTRACKER_ENERGY_H
#define GPUTRACKER_ENERGY_H

#include <gputracker/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gput_energy_unit { GPUT_JOULES, GPUT_WATT_HOURS, GPUT_KILOWATT_HOURS };

/** "joules", "watt-hours" or "kilowatt-hours". Static text. */
GPUT_API const char *gput_energy_unit_name(enum gput_energy_unit unit);
/** What a number of joules is divided by to be in that unit: 3600 for watt-hours. */
GPUT_API double gput_energy_unit_joules(enum gput_energy_unit unit);
/** Reads a unit's word. Errors: GPUT_ERROR_INVALID with the valid words. */
GPUT_API int gput_energy_unit_parse(
    const char *word, enum gput_energy_unit *unit, struct gput_error *error);

/** The figures of energy that a tracking file keeps, and that analysis gives for code blocks. */
enum gput_energy_figure {
    GPUT_ENERGY_PACKAGE,
    GPUT_ENERGY_CORE,
    GPUT_ENERGY_UNCORE,
    GPUT_ENERGY_DRAM,
    GPUT_ENERGY_PSYS,
    GPUT_ENERGY_GPU,
    GPUT_ENERGY_TOTAL, /**< of the machine */
    GPUT_ENERGY_MAIN,
    GPUT_ENERGY_DESCENDANTS,
    GPUT_ENERGY_COMBINED,
    GPUT_ENERGY_FIGURE_COUNT,
};

/** "package", "total", "combined" …. Static text. */
GPUT_API const char *gput_energy_figure_name(enum gput_energy_figure figure);

/** How a recording of power is kept; see gputracker/energy_recording.h. */
enum gput_energy_driver {
    GPUT_ENERGY_JSON,   /**< power_metrics.json, as AIPowerMeter has it */
    GPUT_ENERGY_SQLITE, /**< power_metrics.sqlite: the table power_metrics, a row for each number */
};

/**
 * Carbon intensity of a country's electricity: a mean over a year. Shared: see gputracker/sized.h.
 */
struct gput_carbon_intensity {
    const char *code;      /**< ISO 3166-1: "FR" */
    const char *long_code; /**< "FRA" */
    const char *country;
    double grams; /**< of CO2 equivalents for a kWh */
    int year;
};

/** The country of that code, of two or three letters in any case; static data.
 * Errors: GPUT_ERROR_NOT_FOUND. */
GPUT_API int gput_carbon_intensity_find(
    const char *country, const struct gput_carbon_intensity **intensity, struct gput_error *error);

/** Whose figures these are, and of which version. Static text. */
GPUT_API const char *gput_carbon_intensity_source(void);

#ifdef __cplusplus
}
#endif

#endif
