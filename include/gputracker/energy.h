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
 *         printf("%g Wh\n", joules / gput_energy_unit_joules(GPUT_ENERGY_UNIT_WATT_HOURS));
 */
#ifndef GPUTRACKER_ENERGY_H
#define GPUTRACKER_ENERGY_H

#include <gputracker/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Units of energy in reports; inside the library energy is in joules. */
enum gput_energy_unit {
    GPUT_ENERGY_UNIT_JOULES,
    GPUT_ENERGY_UNIT_WATT_HOURS,
    GPUT_ENERGY_UNIT_KILOWATT_HOURS
};

/** "joules", "watt-hours" or "kilowatt-hours". Static text. */
GPUT_API const char *gput_energy_unit_name(enum gput_energy_unit unit);
/** Joules per unit: 3600 for watt-hours. */
GPUT_API double gput_energy_unit_joules(enum gput_energy_unit unit);
/** The figures of energy that a tracking file keeps, and that analysis gives for code blocks. */
enum gput_energy_figure {
    GPUT_ENERGY_PACKAGE, /**< of the machine: the CPU packages, cores included */
    GPUT_ENERGY_CORE,    /**< the cores of the packages */
    GPUT_ENERGY_UNCORE,  /**< other parts of the packages with a counter: as a rule the integrated
                            GPU */
    GPUT_ENERGY_DRAM,    /**< the memory */
    GPUT_ENERGY_PSYS,    /**< the whole board, where it has a counter */
    GPUT_ENERGY_GPU,     /**< all GPUs outside of the packages */
    GPUT_ENERGY_TOTAL,   /**< packages, DRAM and GPUs; or the battery where there is only that */
    GPUT_ENERGY_MAIN,    /**< the share of the main process */
    GPUT_ENERGY_DESCENDANTS, /**< the share of what it started */
    GPUT_ENERGY_COMBINED,    /**< the share of both */
    GPUT_ENERGY_FIGURE_COUNT,
};

/** "package", "total", "combined" …. Static text. NULL: this version of the library has no such
 * figure. */
GPUT_API const char *gput_energy_figure_name(enum gput_energy_figure figure);

/** File format of a recording of power; see gputracker/energy_recording.h. */
enum gput_energy_driver {
    GPUT_ENERGY_DRIVER_JSON,   /**< power_metrics.json, as AIPowerMeter has it */
    GPUT_ENERGY_DRIVER_SQLITE, /**< power_metrics.sqlite: the table power_metrics, a row for each
                                  number */
};

/**
 * Carbon intensity of a country's electricity: a mean over a year. Shared: see gputracker/sized.h.
 */
struct gput_carbon_intensity {
    const char *code;      /**< ISO 3166-1: "FR" */
    const char *long_code; /**< "FRA" */
    const char *country;
    double grams; /**< CO2 equivalents per kWh */
    int year;
};

/** The country of that code, of two or three letters in any case; static data.
 * Errors: GPUT_ERROR_NOT_FOUND. */
GPUT_API int gput_carbon_intensity_find(
    const char *country, const struct gput_carbon_intensity **intensity, struct gput_error *error);

/** Origin and version of these figures. Static text. */
GPUT_API const char *gput_carbon_intensity_source(void);

#ifdef __cplusplus
}
#endif

#endif
