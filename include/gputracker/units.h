/*
 * Units of reports and files, and their names. All sizes are decimal: a kilobyte is 1000 bytes.
 * Inside the library everything is bytes, seconds and percent.
 *
 *     double factor = gput_ram_unit_factor(GPUT_RAM_UNIT_GIGABYTES);
 *     printf("%g %s\n", gput_results_max(results, GPUT_MAIN_RAM) * factor,
 *         gput_ram_unit_name(GPUT_RAM_UNIT_GIGABYTES));
 */
#ifndef GPUTRACKER_UNITS_H
#define GPUTRACKER_UNITS_H

#include <gputracker/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A unit of sizes. There are none of 1024: what a driver counts in MiB is converted. */
enum gput_ram_unit {
    GPUT_RAM_UNIT_BYTES,
    GPUT_RAM_UNIT_KILOBYTES, /**< 1e3 bytes */
    GPUT_RAM_UNIT_MEGABYTES, /**< 1e6 bytes */
    GPUT_RAM_UNIT_GIGABYTES, /**< 1e9 bytes; the default of sessions */
    GPUT_RAM_UNIT_TERABYTES, /**< 1e12 bytes */
};

/** A unit of times. */
enum gput_time_unit {
    GPUT_TIME_UNIT_SECONDS,
    GPUT_TIME_UNIT_MINUTES, /**< 60 s */
    GPUT_TIME_UNIT_HOURS,   /**< 3600 s; the default of sessions */
    GPUT_TIME_UNIT_DAYS,    /**< 86400 s */
};

/** The name of a unit: "gigabytes". Static text. */
GPUT_API const char *gput_ram_unit_name(enum gput_ram_unit unit);
/** The name of a unit: "hours". Static text. */
GPUT_API const char *gput_time_unit_name(enum gput_time_unit unit);

/** The factor from bytes to that unit: 1e-9 for gigabytes. */
GPUT_API double gput_ram_unit_factor(enum gput_ram_unit unit);
/** The seconds of that unit: 3600 for hours. */
GPUT_API double gput_time_unit_seconds(enum gput_time_unit unit);

#ifdef __cplusplus
}
#endif

#endif
