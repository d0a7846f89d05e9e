#include "views/output/metric.h"

#include "base/text.h"
#include "model/results_identity.h"

#include <math.h>
#include <string.h>

static bool has_gpus(const struct gput_results *results)
{
    return results->static_data.system_gpu_count > 0;
}

/* Not of files that say nothing of their tracker. */
static bool has_ticks(const struct gput_results *results)
{
    return results->tracker.ticks > 0;
}

static bool has_process(const struct gput_results *results)
{
    return results->accounting.processes_seen > 0;
}

/* clang-format off */

/* ---- Prometheus ---- */

#define ROW(name, kind, column, help, applies) {name, kind, column, help, applies, NULL, NULL, NULL, NULL, NULL}
/* Rows of one name, which a label distinguishes. Shares of a time are divided anew at each sample, so none of them is a
 * counter: they add up. */
#define TIME_WENT(ID, cause, word, meaning) \
    {"gputracker_time_went_seconds", METRIC_SUM, "time_went." #cause "_seconds", \
        "What the time of the main thread, or of the child that it waits for, went to so far.", NULL, NULL, "cause", #cause, NULL, NULL},
#define PROCESSES(who, whose) \
    ROW("gputracker_" who "_memory_bytes", METRIC_GAUGE, "now." who "_ram", "RAM of " whose ", each page once.", NULL), \
    ROW("gputracker_" who "_private_memory_bytes", METRIC_GAUGE, "now." who "_private_ram", "RAM that only " whose " used.", NULL), \
    ROW("gputracker_" who "_shared_memory_bytes", METRIC_GAUGE, "now." who "_shared_ram", "RAM of " whose " that could be shared.", NULL), \
    ROW("gputracker_" who "_peak_memory_bytes", METRIC_GAUGE, "max." who "_ram", "Highest RAM of " whose " so far.", NULL), \
    ROW("gputracker_" who "_gpu_memory_bytes", METRIC_GAUGE, "now." who "_gpu_ram", "GPU RAM of " whose ".", has_gpus), \
    ROW("gputracker_" who "_cpu_utilization_ratio", METRIC_GAUGE, "now.cpu_" who "_hardware_utilization_percent", \
        "CPU use of " whose ", 1 being all expected cores.", NULL), \
    ROW("gputracker_" who "_threads", METRIC_GAUGE, "now." who "_n_threads", "Threads of " whose ".", NULL)

static const struct metric prometheus[] = {
    ROW("gputracker_elapsed_seconds", METRIC_COUNTER, "elapsed_seconds",
        "Time from the start of tracking to the last sample.", NULL),
    ROW("gputracker_session_start_timestamp_seconds", METRIC_GAUGE, "identity.start",
        "When tracking began, in seconds since 1970.", NULL),
    ROW("gputracker_session_end_timestamp_seconds", METRIC_GAUGE, "identity.end",
        "When it ended, in seconds since 1970.", NULL),
    ROW("gputracker_main_exit_status", METRIC_GAUGE, "identity.exit_status", "Exit status of the command.", NULL),
    ROW("gputracker_main_signal", METRIC_GAUGE, "identity.signal", "Number of the signal that ended the command.", NULL),
    ROW("gputracker_allowed_cores", METRIC_GAUGE, "allowed.cores",
        "Cores that the command may use, where these are fewer than the machine has.", NULL),
    ROW("gputracker_combined_swapped_memory_bytes", METRIC_GAUGE, "now.combined_swapped_ram", "Memory of the command that is in swap.", NULL),
    ROW("gputracker_allowed_memory_bytes", METRIC_GAUGE, "allowed.ram_bytes",
        "RAM that the command may use, where this is less than the machine has.", NULL),
    ROW("gputracker_system_cores", METRIC_GAUGE, "static_data.system_core_count", "Online cores of the machine.", NULL),
    ROW("gputracker_system_cpu_seconds", METRIC_COUNTER, "now.system_cpu_seconds",
        "CPU time of all processes of the machine since the start.", NULL),
    ROW("gputracker_system_cpu_utilization_ratio", METRIC_GAUGE, "now.cpu_system_hardware_utilization_percent",
        "CPU use of the machine, 1 being all cores.", NULL),
    ROW("gputracker_system_memory_capacity_bytes", METRIC_GAUGE, "static_data.ram_system_capacity_bytes",
        "RAM of the machine.", NULL),
    ROW("gputracker_system_memory_used_bytes", METRIC_GAUGE, "now.system_ram", "RAM in use on the machine.", NULL),
    ROW("gputracker_system_gpus", METRIC_GAUGE, "static_data.system_gpu_count",
        "GPUs of the machine that could be found.", NULL),
    ROW("gputracker_system_gpu_memory_capacity_bytes", METRIC_GAUGE, "static_data.gpu_ram_system_capacity_bytes",
        "RAM of all GPUs.", has_gpus),
    ROW("gputracker_system_gpu_memory_used_bytes", METRIC_GAUGE, "now.system_gpu_ram", "RAM in use on all GPUs.", has_gpus),
    ROW("gputracker_system_gpu_utilization_ratio", METRIC_GAUGE, "now.gpu_hardware_utilization_percent",
        "Use of the selected GPUs, 1 being all.", has_gpus),
    ROW("gputracker_system_network_received_bytes", METRIC_COUNTER, "accounting.bytes.system_network_received",
        "Bytes that the system received since the start, without the loopback.", NULL),
    ROW("gputracker_system_network_sent_bytes", METRIC_COUNTER, "accounting.bytes.system_network_sent",
        "Bytes that the system sent since the start, without the loopback.", NULL),
    ROW("gputracker_system_energy_joules", METRIC_COUNTER, "energy.machine.total_joules",
        "Energy of the machine since the start: CPU packages, DRAM and GPUs, as far as known.", NULL),
    ROW("gputracker_system_package_energy_joules", METRIC_COUNTER, "energy.machine.package_joules",
        "Energy of the CPU packages, cores and uncore included.", NULL),
    ROW("gputracker_system_core_energy_joules", METRIC_COUNTER, "energy.machine.core_joules", "Energy of the CPU cores.", NULL),
    ROW("gputracker_system_uncore_energy_joules", METRIC_COUNTER, "energy.machine.uncore_joules",
        "Energy of what else is in the CPU packages, such as graphics.", NULL),
    ROW("gputracker_system_dram_energy_joules", METRIC_COUNTER, "energy.machine.dram_joules", "Energy of the RAM.", NULL),
    ROW("gputracker_system_psys_energy_joules", METRIC_COUNTER, "energy.machine.psys_joules",
        "Energy of the platform as a whole; not in the total.", NULL),
    ROW("gputracker_system_gpu_energy_joules", METRIC_COUNTER, "energy.machine.gpu_joules", "Energy of all GPUs.", NULL),
    ROW("gputracker_system_battery_energy_joules", METRIC_COUNTER, "energy.machine.battery_joules",
        "Energy drawn from batteries: the whole machine.", NULL),
    PROCESSES("main", "the main process"),
    PROCESSES("descendants", "its descendants"),
    PROCESSES("combined", "the main process and its descendants"),
    ROW("gputracker_main_cpu_seconds", METRIC_COUNTER, "now.main_cpu_seconds",
        "CPU time of the main process since the start.", NULL),
    ROW("gputracker_descendants_cpu_seconds", METRIC_COUNTER, "now.descendants_cpu_seconds",
        "CPU time of its descendants since the start, ended ones too.", NULL),
    ROW("gputracker_combined_cpu_seconds", METRIC_COUNTER, "accounting.cpu_seconds.sampled",
        "CPU time of the main process and its descendants since the start.", NULL),
    ROW("gputracker_combined_read_bytes", METRIC_COUNTER, "accounting.bytes.read",
        "Bytes that the main process and its descendants read by read() and the like, not by recv().", NULL),
    ROW("gputracker_combined_written_bytes", METRIC_COUNTER, "accounting.bytes.written",
        "Bytes that they wrote by write() and the like, not by send().", NULL),
    ROW("gputracker_combined_storage_read_bytes", METRIC_COUNTER, "accounting.bytes.read_from_storage",
        "Bytes that were fetched from storage for them.", NULL),
    ROW("gputracker_combined_storage_written_bytes", METRIC_COUNTER, "accounting.bytes.dirtied",
        "Bytes dirtied in the page cache for storage, files removed since included.", NULL),
    ROW("gputracker_main_energy_joules", METRIC_COUNTER, "energy.main_joules", "The main process's share of the energy.", NULL),
    ROW("gputracker_descendants_energy_joules", METRIC_COUNTER, "energy.descendants_joules",
        "Its descendants' share of the energy.", NULL),
    ROW("gputracker_combined_energy_joules", METRIC_COUNTER, "energy.combined_joules",
        "The main process's and its descendants' share of the energy.", NULL),
    ROW("gputracker_combined_co2e_grams", METRIC_COUNTER, "energy.co2e_grams", "CO2 equivalents of that energy.", NULL),
    ROW("gputracker_processes", METRIC_COUNTER, "accounting.processes.seen",
        "Processes known of since the start, the main process included.", has_process),
    WALL_CAUSES(TIME_WENT)
    ROW("gputracker_tracker_cpu_seconds", METRIC_COUNTER, "tracker.cpu_seconds", "CPU time of gpu-tracker itself.", NULL),
    ROW("gputracker_tracker_memory_bytes", METRIC_GAUGE, "tracker.rss_bytes", "RAM of gpu-tracker itself.", NULL),
    ROW("gputracker_tracker_ticks", METRIC_COUNTER, "tracker.ticks", "Samples taken.", has_ticks),
    ROW("gputracker_tracker_late_ticks", METRIC_COUNTER, "tracker.late_ticks",
        "Samples that began more than a tenth of the interval late.", has_ticks),
    ROW("gputracker_tracker_missed_ticks", METRIC_COUNTER, "tracker.missed_ticks",
        "Samples skipped because an earlier one took too long.", has_ticks),

    /* The names of AIPowerMeter; all of them are of the whole machine. */
    ROW("power_draw_cpu", METRIC_GAUGE, "now.watts.core", "Power of the CPU cores in watts.", NULL),
    ROW("intel_power", METRIC_GAUGE, "now.watts.package", "Power of the CPU packages in watts.", NULL),
    ROW("mem_used_cpu", METRIC_GAUGE, "now.system_ram", "RAM in use in bytes.", NULL),
    ROW("mem_used_gpu", METRIC_GAUGE, "now.system_gpu_ram", "GPU RAM in use in bytes.", has_gpus),
    ROW("power_draw_gpu", METRIC_GAUGE, "now.watts.gpu", "Power of all GPUs in watts.", NULL),
};

static const struct metric prometheus_gpus[] = {
    ROW("gputracker_gpu_memory_capacity_bytes", METRIC_GAUGE, "ram_capacity_bytes", "RAM of the GPU.", NULL),
    ROW("gputracker_gpu_memory_used_bytes", METRIC_GAUGE, "now.ram_bytes", "RAM in use on the GPU.", NULL),
    ROW("gputracker_gpu_combined_memory_bytes", METRIC_GAUGE, "now.combined_ram_bytes",
        "RAM of the GPU that the main process and its descendants use.", NULL),
    ROW("gputracker_gpu_utilization_ratio", METRIC_GAUGE, "now.utilization_percent",
        "Use of the GPU by any process, 1 being all of the time.", NULL),
    ROW("gputracker_gpu_power_watts", METRIC_GAUGE, "now.power_watts", "Power of the GPU.", NULL),
    ROW("gputracker_gpu_energy_joules", METRIC_COUNTER, "now.joules", "Energy of the GPU since the start.", NULL),
    ROW("gputracker_gpu_power_limit_watts", METRIC_GAUGE, "power_limit_watts", "Limit of the GPU's power.", NULL),
    ROW("gputracker_gpu_temperature_celsius", METRIC_GAUGE, "now.temperature_celsius", "Temperature of the chip.", NULL),
    ROW("gputracker_gpu_graphics_clock_megahertz", METRIC_GAUGE, "now.graphics_clock_mhz", "Clock of the GPU's processors.", NULL),
    ROW("gputracker_gpu_slowed_by_power_cap_seconds", METRIC_COUNTER, "power_cap_seconds",
        "Time for which the GPU was slowed by its power limit, since it was first read.", NULL),
    ROW("gputracker_gpu_slowed_by_sync_boost_seconds", METRIC_COUNTER, "sync_boost_seconds",
        "Time for which the GPU was slowed to the clocks of other cards.", NULL),
    ROW("gputracker_gpu_slowed_by_thermal_seconds", METRIC_COUNTER, "thermal_seconds",
        "Time for which the driver slowed the GPU because of heat.", NULL),
    ROW("gputracker_gpu_slowed_by_hardware_thermal_seconds", METRIC_COUNTER, "hardware_thermal_seconds",
        "Time for which the chip slowed itself because of heat.", NULL),
    ROW("gputracker_gpu_slowed_by_power_brake_seconds", METRIC_COUNTER, "power_brake_seconds",
        "Time for which the power supply slowed the GPU.", NULL),
    ROW("gputracker_gpu_pcie_transmitted_bytes", METRIC_COUNTER, "pcie_transmitted_bytes", "Bytes sent over PCIe, at least.", NULL),
    ROW("gputracker_gpu_pcie_received_bytes", METRIC_COUNTER, "pcie_received_bytes", "Bytes received over PCIe, at least.", NULL),
    ROW("gputracker_gpu_nvlink_transmitted_bytes", METRIC_COUNTER, "nvlink_transmitted_bytes", "Bytes sent over NVLink.", NULL),
    ROW("gputracker_gpu_nvlink_received_bytes", METRIC_COUNTER, "nvlink_received_bytes", "Bytes received over NVLink.", NULL),
    ROW("gputracker_gpu_ecc_corrected_errors", METRIC_COUNTER, "ecc_corrected_errors", "Memory errors that were corrected.", NULL),
    ROW("gputracker_gpu_ecc_uncorrected_errors", METRIC_COUNTER, "ecc_uncorrected_errors",
        "Memory errors that could not be corrected.", NULL),
    ROW("gputracker_gpu_xid_errors", METRIC_COUNTER, "xid_errors", "Errors of the GPU in the kernel's log (NVIDIA's Xid).", NULL),
    ROW("gputracker_gpu_sm_active_ratio", METRIC_GAUGE, "now.sm_active_percent", "Processors of the GPU that had work.", NULL),
    ROW("gputracker_gpu_sm_occupancy_ratio", METRIC_GAUGE, "now.sm_occupancy_percent", "Warps in its processors, of those that fit.", NULL),
    ROW("gputracker_gpu_tensor_active_ratio", METRIC_GAUGE, "now.tensor_active_percent", "Share of time in which tensor cores worked.", NULL),
    ROW("gputracker_gpu_dram_bandwidth_ratio", METRIC_GAUGE, "now.dram_bandwidth_percent", "Bandwidth of its memory in use.", NULL),
};

/* ---- OpenTelemetry ---- */

/* The conventions speak of a process. Ours is the command: the main process and its descendants. */
#define OTEL(name, kind, unit, column, help) {name, kind, column, help, NULL, unit, NULL, NULL, NULL, NULL}
#define OTEL_OF(name, kind, unit, attribute, word, column, help) {name, kind, column, help, NULL, unit, attribute, word, NULL, NULL}
#define OTEL_PART(name, kind, unit, id, type, column, help) {name, kind, column, help, NULL, unit, NULL, NULL, id, type}
static const struct metric opentelemetry[] = {
    OTEL("process.cpu.time", METRIC_COUNTER, "s", "accounting.cpu_seconds.sampled", "CPU time of the command."),
    OTEL("process.cpu.utilization", METRIC_GAUGE, "1", "now.cpu_combined_hardware_utilization_percent",
        "CPU use of the command, 1 being all expected cores."),
    OTEL("process.memory.usage", METRIC_SUM, "By", "now.combined_ram", "RAM of the command, each page once."),
    OTEL("process.thread.count", METRIC_SUM, "{thread}", "now.combined_n_threads", "Threads of the command."),
    OTEL("process.uptime", METRIC_GAUGE, "s", "elapsed_seconds", "Time from the start of tracking to the last sample."),
    OTEL_OF("process.disk.io", METRIC_COUNTER, "By", "disk.io.direction", "read", "accounting.bytes.read_from_storage",
        "Bytes fetched from storage, and dirtied to be written to it."),
    OTEL_OF("process.disk.io", METRIC_COUNTER, "By", "disk.io.direction", "write", "accounting.bytes.dirtied", ""),
    OTEL_OF("process.context_switches", METRIC_COUNTER, "{context_switch}", "process.context_switch.type", "voluntary",
        "accounting.context_switches.voluntary", "Context switches of the command, once they are known."),
    OTEL_OF("process.context_switches", METRIC_COUNTER, "{context_switch}", "process.context_switch.type", "involuntary",
        "accounting.context_switches.involuntary", ""),
    OTEL_OF("process.paging.faults", METRIC_COUNTER, "{fault}", "system.paging.fault.type", "minor",
        "accounting.page_faults.minor", "Page faults of the command, once they are known."),
    OTEL_OF("process.paging.faults", METRIC_COUNTER, "{fault}", "system.paging.fault.type", "major",
        "accounting.page_faults.major", ""),
    OTEL("system.cpu.logical.count", METRIC_SUM, "{cpu}", "static_data.system_core_count", "Online cores of the machine."),
    OTEL("system.cpu.time", METRIC_COUNTER, "s", "now.system_cpu_seconds", "CPU time of all processes of the machine since the start."),
    OTEL("system.cpu.utilization", METRIC_GAUGE, "1", "now.cpu_system_hardware_utilization_percent",
        "CPU use of the machine, 1 being all cores."),
    OTEL("system.memory.limit", METRIC_SUM, "By", "static_data.ram_system_capacity_bytes", "RAM of the machine."),
    OTEL_OF("system.memory.usage", METRIC_SUM, "By", "system.memory.state", "used", "now.system_ram", "RAM in use on the machine."),
    OTEL_OF("system.network.io", METRIC_COUNTER, "By", "network.io.direction", "receive",
        "accounting.bytes.system_network_received", "Bytes through the network since the start, without the loopback."),
    OTEL_OF("system.network.io", METRIC_COUNTER, "By", "network.io.direction", "transmit", "accounting.bytes.system_network_sent", ""),
    OTEL("hw.host.energy", METRIC_COUNTER, "J", "energy.machine.psys_joules", "Energy of the platform as a whole since the start."),
    OTEL("hw.host.power", METRIC_GAUGE, "W", "now.watts.psys", "Power of the platform as a whole."),
    OTEL_PART("hw.energy", METRIC_COUNTER, "J", "packages", "cpu", "energy.machine.package_joules",
        "Energy since the start: of the CPU packages, the RAM, and each GPU."),
    OTEL_PART("hw.energy", METRIC_COUNTER, "J", "dram", "memory", "energy.machine.dram_joules", ""),
    OTEL_PART("hw.power", METRIC_GAUGE, "W", "packages", "cpu", "now.watts.package", "Power of the CPU packages, the RAM, and each GPU."),
    OTEL_PART("hw.power", METRIC_GAUGE, "W", "dram", "memory", "now.watts.dram", ""),
};

static const struct metric opentelemetry_gpus[] = {
    OTEL("hw.gpu.memory.limit", METRIC_SUM, "By", "ram_capacity_bytes", "RAM of the GPU."),
    OTEL("hw.gpu.memory.usage", METRIC_SUM, "By", "now.ram_bytes", "RAM in use on the GPU."),
    OTEL("hw.gpu.utilization", METRIC_GAUGE, "1", "now.utilization_percent", "Use of the GPU by any process, 1 being all of the time."),
    OTEL("hw.energy", METRIC_COUNTER, "J", "now.joules", "Energy of the GPU since the start."),
    OTEL("hw.power", METRIC_GAUGE, "W", "now.power_watts", "Power of the GPU."),
    OTEL("hw.temperature", METRIC_GAUGE, "Cel", "now.temperature_celsius", "Temperature of the chip."),
    OTEL_OF("hw.errors", METRIC_COUNTER, "{error}", "error.type", "corrected", "ecc_corrected_errors",
        "Errors of the GPU: of its memory, and in the kernel's log (NVIDIA's Xid)."),
    OTEL_OF("hw.errors", METRIC_COUNTER, "{error}", "error.type", "uncorrected", "ecc_uncorrected_errors", ""),
    OTEL_OF("hw.errors", METRIC_COUNTER, "{error}", "error.type", "xid", "xid_errors", ""),
    OTEL("hw.gpu.power.limit", METRIC_GAUGE, "W", "power_limit_watts", "Limit of the GPU's power."),
    OTEL("hw.gpu.clock", METRIC_GAUGE, "MHz", "now.graphics_clock_mhz", "Clock of the GPU's processors."),
    OTEL_OF("hw.gpu.part.utilization", METRIC_GAUGE, "1", "hw.gpu.part", "sm", "now.sm_active_percent",
        "Use of parts of the chip, 1 being all of the time."),
    OTEL_OF("hw.gpu.part.utilization", METRIC_GAUGE, "1", "hw.gpu.part", "tensor", "now.tensor_active_percent", ""),
    OTEL_OF("hw.gpu.part.utilization", METRIC_GAUGE, "1", "hw.gpu.part", "dram", "now.dram_bandwidth_percent", ""),
    OTEL_OF("hw.gpu.slowed", METRIC_COUNTER, "s", "hw.gpu.slowdown.reason", "power_cap", "power_cap_seconds",
        "Time for which the GPU was slowed."),
    OTEL_OF("hw.gpu.slowed", METRIC_COUNTER, "s", "hw.gpu.slowdown.reason", "sync_boost", "sync_boost_seconds",
        "Time for which the GPU was slowed."),
    OTEL_OF("hw.gpu.slowed", METRIC_COUNTER, "s", "hw.gpu.slowdown.reason", "thermal", "thermal_seconds",
        "Time for which the GPU was slowed."),
    OTEL_OF("hw.gpu.slowed", METRIC_COUNTER, "s", "hw.gpu.slowdown.reason", "hardware_thermal", "hardware_thermal_seconds",
        "Time for which the GPU was slowed."),
    OTEL_OF("hw.gpu.slowed", METRIC_COUNTER, "s", "hw.gpu.slowdown.reason", "power_brake", "power_brake_seconds",
        "Time for which the GPU was slowed."),
    OTEL_OF("hw.gpu.io", METRIC_COUNTER, "By", "network.io.direction", "transmit", "pcie_transmitted_bytes",
        "Bytes over PCIe, at least."),
    OTEL_OF("hw.gpu.io", METRIC_COUNTER, "By", "network.io.direction", "receive", "pcie_received_bytes",
        "Bytes over PCIe, at least."),
};
/* clang-format on */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define TABLE(rows, gpu_rows)                                                                      \
    {                                                                                              \
        rows, COUNT_OF(rows), gpu_rows, COUNT_OF(gpu_rows)                                         \
    }

const struct metric_table *metrics_of_prometheus(void)
{
    static const struct metric_table table = TABLE(prometheus, prometheus_gpus);
    return &table;
}

const struct metric_table *metrics_of_opentelemetry(void)
{
    static const struct metric_table table = TABLE(opentelemetry, opentelemetry_gpus);
    return &table;
}

/* ---- Values ---- */

const char *metric_unit_of_name(const struct metric *metric)
{
    static const char *const units[] = {"bytes", "ratio", "seconds", "joules", "grams", "watts"};
    const char *end = strrchr(metric->name, '_');
    for (size_t i = 0; end && i < COUNT_OF(units); i++) {
        if (strcmp(end + 1, units[i]) == 0)
            return units[i];
    }
    return NULL;
}

/* The value of a metric's column: of a moment the seconds since the epoch, of percents a ratio. */
static double value_of(
    const struct results_list *list, const struct metric *metric, const void *item)
{
    size_t hint = 0;
    const char *name = metric->column;
    const struct results_column *column = results_column_find(list, name, strlen(name), &hint);
    double value = column->kind == RESULTS_TEXT
                       ? results_identity_seconds(results_column_text(column, item))
                       : results_column_number(column, item);
    return text_ends_with(name, "_percent") ? value * 0.01 : value;
}

double metric_value(const struct metric *metric, const struct gput_results *results)
{
    size_t n_lists;
    if (metric->applies && !metric->applies(results))
        return NAN;
    return value_of(results_lists(&n_lists), metric, results);
}

double metric_gpu_value(const struct metric *metric, const struct gput_gpu *gpu)
{
    return value_of(results_gpu_list(), metric, gpu);
}
