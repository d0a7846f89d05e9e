/*
 * The table of measurements: the figures of a sample, one row each. Tracking files, reports,
 * analysis and comparison use this table.
 *
 *     for (int id = 0; id < GPUT_MEASUREMENT_COUNT; id++) {
 *         double max = gput_results_max(results, (enum gput_measurement_id)id);
 *         printf("%s %g\n", gput_measurement((enum gput_measurement_id)id)->name, max);
 *     }
 */
#ifndef GPUTRACKER_MEASUREMENT_H
#define GPUTRACKER_MEASUREMENT_H

#include <gputracker/error.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Index of a measurement in the table and in `gput_sample.values`. Later versions add to the end.
 */
enum gput_measurement_id {
    GPUT_MAIN_RAM,                 /**< RSS of the main process */
    GPUT_DESCENDANTS_RAM,          /**< of what it started; pages that they share count once */
    GPUT_COMBINED_RAM,             /**< of both; pages that they share count once */
    GPUT_SYSTEM_RAM,               /**< in use on the machine, by any process */
    GPUT_MAIN_GPU_RAM,             /**< GPU RAM, as drivers list it for processes */
    GPUT_DESCENDANTS_GPU_RAM,      /**< of what it started */
    GPUT_COMBINED_GPU_RAM,         /**< of both; memory that they share counts once */
    GPUT_SYSTEM_GPU_RAM,           /**< in use on all GPUs, by any process */
    GPUT_GPU_SUM_UTILIZATION,      /**< of the selected GPUs, added up: 100 is one GPU */
    GPUT_GPU_HARDWARE_UTILIZATION, /**< the mean of the selected GPUs */
    GPUT_MAIN_THREADS,             /**< as /proc/PID/stat has it */
    GPUT_DESCENDANTS_THREADS,      /**< the sum over the descendants that live */
    GPUT_COMBINED_THREADS,         /**< the sum of both */
    GPUT_CPU_SYSTEM_SUM,           /**< of all cores, added up: 100 is one core */
    GPUT_CPU_SYSTEM_HARDWARE,      /**< the sum divided by the number of cores */
    GPUT_CPU_MAIN_SUM,             /**< the same of the main process, since the sample before */
    GPUT_CPU_MAIN_HARDWARE,        /**< the sum divided by the expected cores */
    GPUT_CPU_DESCENDANTS_SUM, /**< what died between two samples is in it once it was collected */
    GPUT_CPU_DESCENDANTS_HARDWARE, /**< the sum divided by the expected cores */
    GPUT_CPU_COMBINED_SUM,         /**< of main and descendants */
    GPUT_CPU_COMBINED_HARDWARE,    /**< the sum divided by the expected cores */
    GPUT_MAIN_PRIVATE_RAM,         /**< what no other process maps */
    GPUT_MAIN_SHARED_RAM,          /**< what others map as well */
    GPUT_DESCENDANTS_PRIVATE_RAM,  /**< the sum over the descendants */
    GPUT_DESCENDANTS_SHARED_RAM,   /**< each page once */
    GPUT_COMBINED_PRIVATE_RAM,     /**< of main and descendants */
    GPUT_COMBINED_SHARED_RAM,      /**< each page once */
    GPUT_MEASUREMENT_COUNT,        /**< grows with later versions */
};

/** The quantity of a measurement, which decides its unit and number format. */
enum gput_quantity {
    GPUT_QUANTITY_RAM,     /**< bytes, shown in the RAM unit */
    GPUT_QUANTITY_GPU_RAM, /**< bytes, shown in the GPU RAM unit */
    GPUT_QUANTITY_PERCENT, /**< 100 is one core or one GPU */
    GPUT_QUANTITY_COUNT,   /**< a whole number */
};

/** A row of the table. Shared: see gputracker/sized.h. */
struct gput_measurement {
    enum gput_measurement_id id;
    const char *name; /**< column name: "main_ram", "cpu_main_sum_utilization_percent" */
    enum gput_quantity quantity;
    const char *read_from; /**< where the figure comes from, for people */
};

/** The measurement of that id. Static. NULL: this version of the library has none. */
GPUT_API const struct gput_measurement *gput_measurement(enum gput_measurement_id id);

/** The measurement of that column name, or NULL. */
GPUT_API const struct gput_measurement *gput_measurement_find(const char *name);

/**
 * All measurements at one moment, in base units (bytes, percent, counts). A figure that could not
 * be read is NaN, never 0. Shared: see gputracker/sized.h.
 */
struct gput_sample {
    int64_t time_ns; /**< when it was taken: nanoseconds since the epoch */
    double values[GPUT_MEASUREMENT_COUNT];
};

#ifdef __cplusplus
}
#endif

#endif
