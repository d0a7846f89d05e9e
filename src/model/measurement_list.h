/*
 * All that is known of each measurement, in one row: the table of measurements, the columns of the
 * results and the curves of HTML reports are made of it. Rows are in the order of the results.
 *
 *     X(ID, name, QUANTITY, OVER, read_from, source, label, group, scope, meaning)
 *
 *     ID         of enum gput_measurement_id, without GPUT_
 *     name       of its column
 *     QUANTITY   of enum gput_quantity, without GPUT_QUANTITY_
 *     OVER       MOMENT: what is there when it is read;
 *                INTERVAL: the mean since the sample before, as of a rate
 *     read_from  where the figure comes from, for people
 *     source     the source of the results that says how far it can be trusted
 *     label      of its curve, as are group and scope
 *     group      curves of one group share an axis
 *     scope      whose figure it is
 *     meaning    what it is
 */
#pragma once

#include "model/wall_causes.h"

#include <gputracker/measurement.h>

#include <stdbool.h>

#define FROM_SMAPS "smaps, smaps_rollup and statm of each process"
#define FROM_DRIVER "the GPU driver"
#define FROM_CLOCKS "the CPU clock of each process"
#define FROM_STAT "stat of each process"
#define FROM_STATUS "status of each process (VmSwap)"
#define FROM_THREADS "schedstat, wchan and syscall of each thread"

/* clang-format off */
#define MEASUREMENTS_OF(X, ID, whose, of, who) \
    X(ID##_RAM, whose "_ram", RAM, MOMENT, FROM_SMAPS, "ram", \
        "RAM" of, "ram", whose, "RAM of " who) \
    X(ID##_PRIVATE_RAM, whose "_private_ram", RAM, MOMENT, FROM_SMAPS, "ram", \
        "Private RAM" of, "ram", whose, "RAM that only " who " used") \
    X(ID##_SHARED_RAM, whose "_shared_ram", RAM, MOMENT, FROM_SMAPS, "ram", \
        "Shared RAM" of, "ram", whose, "RAM of " who " that could be shared") \
    X(ID##_GPU_RAM, whose "_gpu_ram", GPU_RAM, MOMENT, FROM_DRIVER, "process_gpu_ram", \
        "GPU RAM" of, "gpu_ram", whose, "GPU RAM of " who) \
    X(ID##_THREADS, whose "_n_threads", COUNT, MOMENT, FROM_STAT, "threads", \
        "Threads" of, "threads", whose, "threads of " who) \
    X(CPU_##ID##_SUM, "cpu_" whose "_sum_utilization_percent", PERCENT, INTERVAL, FROM_CLOCKS, "cpu_time", \
        "CPU" of, "cpu", whose, "CPU use of " who ", 100 being one core") \
    X(CPU_##ID##_HARDWARE, "cpu_" whose "_hardware_utilization_percent", PERCENT, INTERVAL, FROM_CLOCKS, "cpu_time", \
        "CPU" of ", of all cores", "cpu_hardware", whose, "CPU use of " who ", 100 being all expected cores")

/* The share of a cause in the wall time of main, including its children while it waited for
 * them. */
#define MEASUREMENT_OF_CAUSE(X, ID, name, word, meaning) \
    X(TIME_##ID, "time_" #name "_percent", PERCENT, INTERVAL, FROM_THREADS, "time_went", \
        word, "time_went", "main", "part of the time in which main, or what it waited for, " meaning)

#define MEASUREMENTS(X) \
    MEASUREMENTS_OF(X, MAIN, "main", " of main", "the main process") \
    MEASUREMENTS_OF(X, DESCENDANTS, "descendants", " of descendants", "its descendants") \
    MEASUREMENTS_OF(X, COMBINED, "combined", "", "the main process and its descendants") \
    X(COMBINED_SWAPPED_RAM, "combined_swapped_ram", RAM, MOMENT, FROM_STATUS, "swap", \
        "In swap", "ram", "swapped", "memory of the main process and its descendants that is in swap") \
    X(SYSTEM_RAM, "system_ram", RAM, MOMENT, "/proc/meminfo", "system", \
        "RAM of the system", "ram", "system", "RAM in use on the machine") \
    X(SYSTEM_GPU_RAM, "system_gpu_ram", GPU_RAM, MOMENT, FROM_DRIVER, "gpu", \
        "GPU RAM of the system", "gpu_ram", "system", "RAM in use on all GPUs") \
    X(CPU_SYSTEM_SUM, "cpu_system_sum_utilization_percent", PERCENT, INTERVAL, "/proc/stat", "system", \
        "CPU of the system", "cpu", "system", "CPU use of the machine, 100 being one core") \
    X(CPU_SYSTEM_HARDWARE, "cpu_system_hardware_utilization_percent", PERCENT, INTERVAL, "/proc/stat", "system", \
        "CPU of the system, of all cores", "cpu_hardware", "system", "CPU use of the machine, 100 being all cores") \
    X(GPU_SUM_UTILIZATION, "gpu_sum_utilization_percent", PERCENT, MOMENT, FROM_DRIVER, "gpu", \
        "GPU utilization, sum", "gpu", "sum", "use of the selected GPUs, 100 being one of them") \
    X(GPU_HARDWARE_UTILIZATION, "gpu_hardware_utilization_percent", PERCENT, MOMENT, FROM_DRIVER, "gpu", \
        "GPU utilization, mean", "gpu", "hardware", "use of the selected GPUs, 100 being all of them") \
    WALL_CAUSES_OF(MEASUREMENT_OF_CAUSE, X)
/* clang-format on */

/*
 * The columns of tracking files, in their order. Other programs read them by position, so a new
 * column is added at the end, after the timestamp. Measurements that are not listed here are not in
 * tracking files.
 */
/* clang-format off */
#define COLUMN_OF_CAUSE(COLUMN, ID, name, word, meaning) COLUMN(TIME_##ID)
#define TRACKING_FILE_COLUMNS(COLUMN, TIMESTAMP) \
    COLUMN(MAIN_RAM) \
    COLUMN(DESCENDANTS_RAM) \
    COLUMN(COMBINED_RAM) \
    COLUMN(SYSTEM_RAM) \
    COLUMN(MAIN_GPU_RAM) \
    COLUMN(DESCENDANTS_GPU_RAM) \
    COLUMN(COMBINED_GPU_RAM) \
    COLUMN(SYSTEM_GPU_RAM) \
    COLUMN(GPU_SUM_UTILIZATION) \
    COLUMN(GPU_HARDWARE_UTILIZATION) \
    COLUMN(MAIN_THREADS) \
    COLUMN(DESCENDANTS_THREADS) \
    COLUMN(COMBINED_THREADS) \
    COLUMN(CPU_SYSTEM_SUM) \
    COLUMN(CPU_SYSTEM_HARDWARE) \
    COLUMN(CPU_MAIN_SUM) \
    COLUMN(CPU_MAIN_HARDWARE) \
    COLUMN(CPU_DESCENDANTS_SUM) \
    COLUMN(CPU_DESCENDANTS_HARDWARE) \
    COLUMN(CPU_COMBINED_SUM) \
    COLUMN(CPU_COMBINED_HARDWARE) \
    TIMESTAMP() \
    COLUMN(COMBINED_SWAPPED_RAM) \
    WALL_CAUSES_OF(COLUMN_OF_CAUSE, COLUMN)
/* clang-format on */

#define TRACKED_PLACE(ID) TRACKED_##ID,
#define TRACKED_TIMESTAMP() TRACKED_TIME,
#define TRACKED_NONE()
enum {
    TRACKING_FILE_COLUMNS(TRACKED_PLACE, TRACKED_TIMESTAMP) TRACKED_COLUMNS,
    TRACKED_MEASUREMENTS = TRACKED_COLUMNS - 1
};

/* The measurements among those columns, in their order. */
extern const enum gput_measurement_id tracked_measurements[TRACKED_MEASUREMENTS];

/* True for columns after the timestamp, which were added later: a file or analysis without them
 * is complete. */
bool measurement_came_later(enum gput_measurement_id id);

enum measurement_over { MEASUREMENT_MOMENT, MEASUREMENT_INTERVAL };

/* How the curve of a measurement is shown. */
struct measurement_curve {
    const char *label, *group, *scope;
    bool is_of_interval; /* a value covers the time since the previous one */
};

/* Curves, by enum gput_measurement_id. */
extern const struct measurement_curve measurement_curves[];
