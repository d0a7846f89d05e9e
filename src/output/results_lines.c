#include "output/results_lines.h"

#include "import/results_read_pickle.h"

#include <math.h>

static bool is_limited(const struct gput_results *results)
{
    return !isnan(results->static_data.allowed_ram_bytes) ||
           !isnan(results->static_data.allowed_cores);
}

/* Of any domain: core, uncore and psys are in no total. */
static bool has_energy(const struct gput_results *results)
{
    double joules[GPUT_ENERGY_FIGURE_COUNT];
    energy_figures(&results->energy, joules);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (!isnan(joules[i]))
            return true;
    }
    return false;
}

static bool has_passed_limit(const struct gput_results *results)
{
    return results->limit.kind_name[0] != '\0';
}

static bool has_later_limits(const struct gput_results *results)
{
    return results->n_later_limits > 0;
}

static bool has_gpus(const struct gput_results *results)
{
    return results->n_gpus > 0;
}

#define AT(member) offsetof(struct gput_results, member)
#define MAX(id) (AT(max) + sizeof(double) * (id))
#define MEAN(id) (AT(mean) + sizeof(double) * (id))

/* clang-format off */
#define DOCUMENTED(level, key, kind, offset) {level, key, kind, true, offset, NULL, 0}
#define OWN(level, key, kind, offset) {level, key, kind, false, offset, NULL, 0}
#define OWN_TEXT(level, key, member) \
    {level, key, TEXT, false, AT(member), NULL, sizeof ((struct gput_results *)0)->member}

#define RSS_OF(whose, ID)                                               \
    DOCUMENTED(1, whose, SECTION, 0),                                   \
    DOCUMENTED(2, "total_rss", RAM, MAX(GPUT_##ID##_RAM)),              \
    DOCUMENTED(2, "private_rss", RAM, MAX(GPUT_##ID##_PRIVATE_RAM)),    \
    DOCUMENTED(2, "shared_rss", RAM, MAX(GPUT_##ID##_SHARED_RAM))

#define UTILIZATION_OF(whose, SUM, HARDWARE)                            \
    DOCUMENTED(1, whose, SECTION, 0),                                   \
    DOCUMENTED(2, "max_sum_percent", NUMBER, MAX(SUM)),                 \
    DOCUMENTED(2, "max_hardware_percent", NUMBER, MAX(HARDWARE)),       \
    DOCUMENTED(2, "mean_sum_percent", NUMBER, MEAN(SUM)),               \
    DOCUMENTED(2, "mean_hardware_percent", NUMBER, MEAN(HARDWARE))

#define GPU_UTILIZATION_OF(whose, SUM, HARDWARE)                        \
    DOCUMENTED(1, whose, SECTION, 0),                                   \
    DOCUMENTED(2, "max_sum_percent", GPU_PERCENT, MAX(SUM)),            \
    DOCUMENTED(2, "max_hardware_percent", GPU_PERCENT, MAX(HARDWARE)),  \
    DOCUMENTED(2, "mean_sum_percent", GPU_PERCENT, MEAN(SUM)),          \
    DOCUMENTED(2, "mean_hardware_percent", GPU_PERCENT, MEAN(HARDWARE))

#define PEAK_OF(whose, member)                                          \
    OWN(1, whose, RAM, AT(peaks.member.bytes)),                         \
    OWN(1, whose "_at_most", RAM, AT(peaks.member.at_most_bytes)),      \
    OWN_TEXT(1, whose "_source", peaks.member.source)

#define GPU_PEAK_OF(whose, member)                                      \
    OWN(1, whose, GPU_RAM, AT(gpu_peaks.member.bytes)),                 \
    OWN(1, whose "_at_most", GPU_RAM, AT(gpu_peaks.member.at_most_bytes)), \
    OWN_TEXT(1, whose "_source", gpu_peaks.member.source)

const struct results_line results_lines[] = {
    DOCUMENTED(0, "max_ram", SECTION, 0),
    DOCUMENTED(1, "unit", RAM_UNIT, 0),
    DOCUMENTED(1, "system_capacity", RAM, AT(static_data.ram_system_capacity_bytes)),
    DOCUMENTED(1, "system", RAM, MAX(GPUT_SYSTEM_RAM)),
    RSS_OF("main", MAIN),
    RSS_OF("descendants", DESCENDANTS),
    RSS_OF("combined", COMBINED),

    DOCUMENTED(0, "max_gpu_ram", SECTION, 0),
    DOCUMENTED(1, "unit", GPU_RAM_UNIT, 0),
    DOCUMENTED(1, "system_capacity", GPU_RAM, AT(static_data.gpu_ram_system_capacity_bytes)),
    DOCUMENTED(1, "system", GPU_RAM, MAX(GPUT_SYSTEM_GPU_RAM)),
    DOCUMENTED(1, "main", GPU_RAM, MAX(GPUT_MAIN_GPU_RAM)),
    DOCUMENTED(1, "descendants", GPU_RAM, MAX(GPUT_DESCENDANTS_GPU_RAM)),
    DOCUMENTED(1, "combined", GPU_RAM, MAX(GPUT_COMBINED_GPU_RAM)),

    DOCUMENTED(0, "cpu_utilization", SECTION, 0),
    DOCUMENTED(1, "system_core_count", COUNT_32, AT(static_data.system_core_count)),
    DOCUMENTED(1, "n_expected_cores", COUNT_32, AT(static_data.n_expected_cores)),
    UTILIZATION_OF("system", GPUT_CPU_SYSTEM_SUM, GPUT_CPU_SYSTEM_HARDWARE),
    UTILIZATION_OF("main", GPUT_CPU_MAIN_SUM, GPUT_CPU_MAIN_HARDWARE),
    UTILIZATION_OF("descendants", GPUT_CPU_DESCENDANTS_SUM, GPUT_CPU_DESCENDANTS_HARDWARE),
    UTILIZATION_OF("combined", GPUT_CPU_COMBINED_SUM, GPUT_CPU_COMBINED_HARDWARE),
    DOCUMENTED(1, "main_n_threads", WHOLE, MAX(GPUT_MAIN_THREADS)),
    DOCUMENTED(1, "descendants_n_threads", WHOLE, MAX(GPUT_DESCENDANTS_THREADS)),
    DOCUMENTED(1, "combined_n_threads", WHOLE, MAX(GPUT_COMBINED_THREADS)),

    DOCUMENTED(0, "gpu_utilization", SECTION, 0),
    DOCUMENTED(1, "system_gpu_count", COUNT_32, AT(static_data.system_gpu_count)),
    DOCUMENTED(1, "n_expected_gpus", COUNT_32, AT(static_data.n_expected_gpus)),
    GPU_UTILIZATION_OF("gpu_percentages", GPUT_GPU_SUM_UTILIZATION, GPUT_GPU_HARDWARE_UTILIZATION),

    DOCUMENTED(0, "compute_time", SECTION, 0),
    DOCUMENTED(1, "unit", TIME_UNIT, 0),
    DOCUMENTED(1, "time", TIME, AT(elapsed_seconds)),

    {0, "allowed", SECTION, false, 0, is_limited, 0},
    OWN(1, "unit", RAM_UNIT, 0),
    OWN(1, "ram", RAM, AT(static_data.allowed_ram_bytes)),
    OWN(1, "cores", NUMBER, AT(static_data.allowed_cores)),

    {0, "peaks", SECTION, false, 0, results_are_own, 0},
    OWN(1, "unit", RAM_UNIT, 0),
    PEAK_OF("main", main),
    PEAK_OF("descendants", descendants),
    PEAK_OF("combined", combined),
    OWN(1, "control_group", RAM, AT(peaks.control_group.bytes)),
    OWN_TEXT(1, "control_group_source", peaks.control_group.source),

    {0, "gpu_peaks", SECTION, false, 0, has_gpus, 0},
    OWN(1, "unit", GPU_RAM_UNIT, 0),
    GPU_PEAK_OF("main", main),
    GPU_PEAK_OF("descendants", descendants),
    GPU_PEAK_OF("combined", combined),
    OWN(1, "list_age_seconds", NUMBER, AT(gpu_peaks.list_age_seconds)),

    {0, "accounting", SECTION, false, 0, results_are_own, 0},
    OWN(1, "cpu_seconds", SECTION, 0),
    OWN(2, "kernel", NUMBER, AT(accounting.kernel_cpu_seconds)),
    OWN(2, "kernel_user", NUMBER, AT(accounting.kernel_user_cpu_seconds)),
    OWN(2, "kernel_system", NUMBER, AT(accounting.kernel_system_cpu_seconds)),
    OWN(2, "sampled", NUMBER, AT(accounting.sampled_cpu_seconds)),
    OWN(2, "captured_percent", CAPTURED_PERCENT, 0),
    OWN(1, "processes", SECTION, 0),
    OWN(2, "seen", COUNT_64, AT(accounting.processes_seen)),
    OWN(2, "missed", WHOLE, AT(accounting.processes_missed)),
    OWN_TEXT(2, "missed_reason", accounting.processes_missed_reason),
    OWN(1, "page_faults", SECTION, 0),
    OWN(2, "minor", WHOLE, AT(accounting.minor_page_faults)),
    OWN(2, "major", WHOLE, AT(accounting.major_page_faults)),
    OWN(1, "context_switches", SECTION, 0),
    OWN(2, "voluntary", WHOLE, AT(accounting.voluntary_context_switches)),
    OWN(2, "involuntary", WHOLE, AT(accounting.involuntary_context_switches)),
    OWN(1, "bytes", SECTION, 0),
    OWN(2, "read", WHOLE, AT(accounting.read_bytes)),
    OWN(2, "written", WHOLE, AT(accounting.write_bytes)),
    OWN(2, "read_from_storage", WHOLE, AT(accounting.storage_read_bytes)),
    OWN(2, "written_to_storage", WHOLE, AT(accounting.storage_write_bytes)),
    OWN(2, "system_network_received", WHOLE, AT(accounting.system_network_received_bytes)),
    OWN(2, "system_network_sent", WHOLE, AT(accounting.system_network_sent_bytes)),

    {0, "gpus", GPUS, false, 0, has_gpus, 0},

    {0, "tracker", SECTION, false, 0, results_are_own, 0},
    OWN(1, "cpu_seconds", NUMBER, AT(tracker.cpu_seconds)),
    OWN(1, "rss", RAM, AT(tracker.rss_bytes)),
    OWN(1, "ticks", COUNT_64, AT(tracker.ticks)),
    OWN(1, "late_ticks", COUNT_64, AT(tracker.late_ticks)),
    OWN(1, "missed_ticks", COUNT_64, AT(tracker.missed_ticks)),
    OWN(1, "rows_lost", COUNT_64, AT(tracker.rows_lost)),

    {0, "energy", SECTION, false, 0, has_energy, 0},
    OWN(1, "unit", ENERGY_UNIT, 0),
    OWN(1, "machine", SECTION, 0),
    OWN(2, "package", ENERGY, AT(energy.machine.package)),
    OWN(2, "core", ENERGY, AT(energy.machine.core)),
    OWN(2, "uncore", ENERGY, AT(energy.machine.uncore)),
    OWN(2, "dram", ENERGY, AT(energy.machine.dram)),
    OWN(2, "psys", ENERGY, AT(energy.machine.psys)),
    OWN(2, "gpu", ENERGY, AT(energy.machine.gpu)),
    OWN(2, "battery", ENERGY, AT(energy.machine.battery)),
    OWN(2, "total", ENERGY, AT(energy.machine.total)),
    OWN(1, "main", ENERGY, AT(energy.main)),
    OWN(1, "descendants", ENERGY, AT(energy.descendants)),
    OWN(1, "combined", ENERGY, AT(energy.combined)),
    OWN(1, "unattributed", ENERGY, AT(energy.unattributed)),
    OWN(1, "idle_share", NUMBER, AT(energy.idle_share)),
    OWN(1, "mean_watts", NUMBER, AT(energy.mean_watts)),
    OWN(1, "max_watts", NUMBER, AT(energy.max_watts)),
    OWN(1, "co2e_grams", NUMBER, AT(energy.co2e_grams)),
    OWN_TEXT(1, "co2e_source", energy.co2e_source),

    {0, "limit_passed", SECTION, false, 0, has_passed_limit, 0},
    OWN_TEXT(1, "kind", limit.kind_name),
    OWN(1, "value", PASSED_LIMIT, 0),
    OWN(1, "at_seconds", NUMBER, AT(limit.at_seconds)),
    OWN(1, "enforced", FLAG, AT(limit.enforced)),

    {0, "limits_passed_later", LATER_LIMITS, false, 0, has_later_limits, 0},

    OWN(0, "sources", SOURCES, 0),
};
/* clang-format on */

const size_t results_line_count = sizeof results_lines / sizeof results_lines[0];
