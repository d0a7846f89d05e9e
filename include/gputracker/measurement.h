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
    GPUT_DESCENDANTS_RAM,          /**< RSS of its descendants; shared pages count once */
    GPUT_COMBINED_RAM,             /**< RSS of both; shared pages count once */
    GPUT_SYSTEM_RAM,               /**< RAM in use on the machine, by any process */
    GPUT_MAIN_GPU_RAM,             /**< GPU RAM, as drivers list it for processes */
    GPUT_DESCENDANTS_GPU_RAM,      /**< GPU RAM of its descendants */
    GPUT_COMBINED_GPU_RAM,         /**< GPU RAM of both; shared memory counts once */
    GPUT_SYSTEM_GPU_RAM,           /**< GPU RAM in use on all GPUs, by any process */
    GPUT_GPU_SUM_UTILIZATION,      /**< sum over the selected GPUs: 100 is one GPU */
    GPUT_GPU_HARDWARE_UTILIZATION, /**< the mean of the selected GPUs */
    GPUT_MAIN_THREADS,             /**< threads of the main process */
    GPUT_DESCENDANTS_THREADS,      /**< the sum over the descendants that live */
    GPUT_COMBINED_THREADS,         /**< the sum of both */
    GPUT_CPU_SYSTEM_SUM,           /**< sum over all cores of the machine: 100 is one core */
    GPUT_CPU_SYSTEM_HARDWARE,      /**< the sum divided by the number of cores */
    GPUT_CPU_MAIN_SUM,             /**< the same for the main process, since the previous sample */
    GPUT_CPU_MAIN_HARDWARE,        /**< the sum divided by the expected cores */
    GPUT_CPU_DESCENDANTS_SUM,      /**< children that exit between samples count once reaped */
    GPUT_CPU_DESCENDANTS_HARDWARE, /**< the sum divided by the expected cores */
    GPUT_CPU_COMBINED_SUM,         /**< of main and descendants */
    GPUT_CPU_COMBINED_HARDWARE,    /**< the sum divided by the expected cores */
    GPUT_MAIN_PRIVATE_RAM,         /**< pages that no other process maps */
    GPUT_MAIN_SHARED_RAM,          /**< pages that other processes map, too */
    GPUT_DESCENDANTS_PRIVATE_RAM,  /**< the sum over the descendants */
    GPUT_DESCENDANTS_SHARED_RAM,   /**< each page once */
    GPUT_COMBINED_PRIVATE_RAM,     /**< of main and descendants */
    GPUT_COMBINED_SHARED_RAM,      /**< each page once */
    /* Where the time since the previous sample went, in percent. These add up to 100. */
    GPUT_TIME_COMPUTING,       /**< main ran, or the children that it waited for did */
    GPUT_TIME_CPU,             /**< waited for a CPU */
    GPUT_TIME_QUOTA,           /**< was throttled by a CPU quota */
    GPUT_TIME_STORAGE,         /**< waited for storage */
    GPUT_TIME_PAGING,          /**< waited for pages of memory */
    GPUT_TIME_STOPPED,         /**< was stopped */
    GPUT_TIME_PIPE,            /**< waited in a pipe */
    GPUT_TIME_SOCKET,          /**< waited in a socket */
    GPUT_TIME_LOCK,            /**< waited in a lock, or otherwise for another thread */
    GPUT_TIME_POLL,            /**< waited until one of several descriptors was ready */
    GPUT_TIME_CHILD,           /**< waited for a child of which nothing more is known */
    GPUT_TIME_TIMER,           /**< waited for a time that it had chosen */
    GPUT_TIME_GPU,             /**< waited in a driver of a GPU */
    GPUT_TIME_OTHER,           /**< waited for something else */
    GPUT_TIME_UNKNOWN,         /**< did not run; no sample says why */
    GPUT_COMBINED_SWAPPED_RAM, /**< RAM of main and descendants that is in swap instead */
    GPUT_MEASUREMENT_COUNT,    /**< grows with later versions */
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
    const char *read_from; /**< source of the figure, for people */
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
    int64_t time_ns; /**< time of the sample, nanoseconds since the epoch */
    double values[GPUT_MEASUREMENT_COUNT];
};

#ifdef __cplusplus
}
#endif

#endif
