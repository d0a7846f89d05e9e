#include <gputracker/measurement.h>

#include <stddef.h>
#include <string.h>

#define RAM_SOURCE "smaps, smaps_rollup and statm of each process"
#define GPU_RAM_SOURCE "the GPU driver"
#define CPU_SOURCE "the CPU clock of each process"
#define THREADS_SOURCE "stat of each process"

/* clang-format off */
static const struct gput_measurement measurements[GPUT_MEASUREMENT_COUNT] = {
#define ROW(id, name, quantity, source) [id] = {id, name, GPUT_QUANTITY_##quantity, source}
    ROW(GPUT_MAIN_RAM, "main_ram", RAM, RAM_SOURCE),
    ROW(GPUT_DESCENDANTS_RAM, "descendants_ram", RAM, RAM_SOURCE),
    ROW(GPUT_COMBINED_RAM, "combined_ram", RAM, RAM_SOURCE),
    ROW(GPUT_SYSTEM_RAM, "system_ram", RAM, "/proc/meminfo"),
    ROW(GPUT_MAIN_GPU_RAM, "main_gpu_ram", GPU_RAM, GPU_RAM_SOURCE),
    ROW(GPUT_DESCENDANTS_GPU_RAM, "descendants_gpu_ram", GPU_RAM, GPU_RAM_SOURCE),
    ROW(GPUT_COMBINED_GPU_RAM, "combined_gpu_ram", GPU_RAM, GPU_RAM_SOURCE),
    ROW(GPUT_SYSTEM_GPU_RAM, "system_gpu_ram", GPU_RAM, GPU_RAM_SOURCE),
    ROW(GPUT_GPU_SUM_UTILIZATION, "gpu_sum_utilization_percent", PERCENT, GPU_RAM_SOURCE),
    ROW(GPUT_GPU_HARDWARE_UTILIZATION, "gpu_hardware_utilization_percent", PERCENT, GPU_RAM_SOURCE),
    ROW(GPUT_MAIN_THREADS, "main_n_threads", COUNT, THREADS_SOURCE),
    ROW(GPUT_DESCENDANTS_THREADS, "descendants_n_threads", COUNT, THREADS_SOURCE),
    ROW(GPUT_COMBINED_THREADS, "combined_n_threads", COUNT, THREADS_SOURCE),
    ROW(GPUT_CPU_SYSTEM_SUM, "cpu_system_sum_utilization_percent", PERCENT, "/proc/stat"),
    ROW(GPUT_CPU_SYSTEM_HARDWARE, "cpu_system_hardware_utilization_percent", PERCENT, "/proc/stat"),
    ROW(GPUT_CPU_MAIN_SUM, "cpu_main_sum_utilization_percent", PERCENT, CPU_SOURCE),
    ROW(GPUT_CPU_MAIN_HARDWARE, "cpu_main_hardware_utilization_percent", PERCENT, CPU_SOURCE),
    ROW(GPUT_CPU_DESCENDANTS_SUM, "cpu_descendants_sum_utilization_percent", PERCENT, CPU_SOURCE),
    ROW(GPUT_CPU_DESCENDANTS_HARDWARE, "cpu_descendants_hardware_utilization_percent", PERCENT, CPU_SOURCE),
    ROW(GPUT_CPU_COMBINED_SUM, "cpu_combined_sum_utilization_percent", PERCENT, CPU_SOURCE),
    ROW(GPUT_CPU_COMBINED_HARDWARE, "cpu_combined_hardware_utilization_percent", PERCENT, CPU_SOURCE),
    ROW(GPUT_MAIN_PRIVATE_RAM, "main_private_ram", RAM, RAM_SOURCE),
    ROW(GPUT_MAIN_SHARED_RAM, "main_shared_ram", RAM, RAM_SOURCE),
    ROW(GPUT_DESCENDANTS_PRIVATE_RAM, "descendants_private_ram", RAM, RAM_SOURCE),
    ROW(GPUT_DESCENDANTS_SHARED_RAM, "descendants_shared_ram", RAM, RAM_SOURCE),
    ROW(GPUT_COMBINED_PRIVATE_RAM, "combined_private_ram", RAM, RAM_SOURCE),
    ROW(GPUT_COMBINED_SHARED_RAM, "combined_shared_ram", RAM, RAM_SOURCE),
#undef ROW
};
/* clang-format on */

const struct gput_measurement *gput_measurement(enum gput_measurement_id id)
{
    return &measurements[id];
}

const struct gput_measurement *gput_measurement_find(const char *name)
{
    for (size_t i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        if (strcmp(measurements[i].name, name) == 0)
            return &measurements[i];
    }
    return NULL;
}
