#include "output/prometheus.h"

#include "import/results_read_pickle.h"

#include "base/number.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- The tables: a metric is a row ---- */

enum type { GAUGE, COUNTER };

enum value { DOUBLE, COUNT_32, COUNT_64 };

struct metric {
    const char *name; /* that of a counter without its _total */
    enum type type;
    const char *unit; /* which the name then ends with; NULL: a plain number */
    enum value value;
    size_t offset; /* in the results, or in the GPU */
    double factor; /* from what is there to that unit */
    const char *help;
    bool (*applies)(const struct gput_results *results); /* NULL: always */
};

static bool has_gpus(const struct gput_results *results)
{
    return results->static_data.system_gpu_count > 0;
}

static bool has_process(const struct gput_results *results)
{
    return results->accounting.processes_seen > 0;
}

#define OF(member) offsetof(struct gput_results, member)
#define OF_GPU(member) offsetof(struct gput_gpu, member)
#define NOW(id) (OF(now.values) + sizeof(double) * (id))
#define MAX(id) (OF(max) + sizeof(double) * (id))
#define WATTS(id) (OF(now.watts) + sizeof(double) * (id))

#define PERCENT 0.01

/* clang-format off */
#define GAUGE_OF(name, unit, offset, help) {name, GAUGE, unit, DOUBLE, offset, 1, help, NULL}
#define BYTES(name, offset, help) GAUGE_OF(name "_bytes", "bytes", offset, help)
#define RATIO(name, offset, help) {name "_ratio", GAUGE, "ratio", DOUBLE, offset, PERCENT, help, NULL}
#define COUNTED(name, unit, offset, help) \
    {name "_" unit, COUNTER, unit, DOUBLE, offset, 1, help, NULL}
#define SECONDS(name, offset, help) COUNTED(name, "seconds", offset, help)
#define JOULES(name, offset, help) COUNTED(name "_energy", "joules", offset, help)

#define PROCESSES(who, ID, whose)                                                                  \
    BYTES("gputracker_" who "_memory", NOW(GPUT_##ID##_RAM),                                       \
        "RAM of " whose ", each page once."),                                                      \
    BYTES("gputracker_" who "_private_memory", NOW(GPUT_##ID##_PRIVATE_RAM),                       \
        "RAM that only " whose " used."),                                                          \
    BYTES("gputracker_" who "_shared_memory", NOW(GPUT_##ID##_SHARED_RAM),                         \
        "RAM of " whose " that could be shared."),                                                 \
    BYTES("gputracker_" who "_peak_memory", MAX(GPUT_##ID##_RAM),                                  \
        "Highest RAM of " whose " so far."),                                                       \
    {"gputracker_" who "_gpu_memory_bytes", GAUGE, "bytes", DOUBLE, NOW(GPUT_##ID##_GPU_RAM), 1,   \
        "GPU RAM of " whose ".", has_gpus},                                                        \
    RATIO("gputracker_" who "_cpu_utilization", NOW(GPUT_CPU_##ID##_HARDWARE),                     \
        "CPU use of " whose ", 1 being all expected cores."),                                      \
    GAUGE_OF("gputracker_" who "_threads", NULL, NOW(GPUT_##ID##_THREADS),                         \
        "Threads of " whose ".")

static const struct metric metrics[] = {
    SECONDS("gputracker_elapsed", OF(elapsed_seconds),
        "Time from the start of tracking to the last sample."),

    {"gputracker_system_cores", GAUGE, NULL, COUNT_32, OF(static_data.system_core_count), 1,
        "Online cores of the machine.", NULL},
    SECONDS("gputracker_system_cpu", OF(now.system_cpu_seconds),
        "CPU time of all processes of the machine since the start."),
    RATIO("gputracker_system_cpu_utilization", NOW(GPUT_CPU_SYSTEM_HARDWARE),
        "CPU use of the machine, 1 being all cores."),
    BYTES("gputracker_system_memory_capacity", OF(static_data.ram_system_capacity_bytes),
        "RAM of the machine."),
    BYTES("gputracker_system_memory_used", NOW(GPUT_SYSTEM_RAM), "RAM in use on the machine."),
    {"gputracker_system_gpus", GAUGE, NULL, COUNT_32, OF(static_data.system_gpu_count), 1,
        "GPUs of the machine that could be found.", NULL},
    {"gputracker_system_gpu_memory_capacity_bytes", GAUGE, "bytes", DOUBLE,
        OF(static_data.gpu_ram_system_capacity_bytes), 1, "RAM of all GPUs.", has_gpus},
    {"gputracker_system_gpu_memory_used_bytes", GAUGE, "bytes", DOUBLE, NOW(GPUT_SYSTEM_GPU_RAM), 1,
        "RAM in use on all GPUs.", has_gpus},
    {"gputracker_system_gpu_utilization_ratio", GAUGE, "ratio", DOUBLE,
        NOW(GPUT_GPU_HARDWARE_UTILIZATION), PERCENT, "Use of the selected GPUs, 1 being all.",
        has_gpus},
    COUNTED("gputracker_system_network_received", "bytes",
        OF(accounting.system_network_received_bytes),
        "Bytes that the system received since the start, without the loopback."),
    COUNTED("gputracker_system_network_sent", "bytes", OF(accounting.system_network_sent_bytes),
        "Bytes that the system sent since the start, without the loopback."),
    JOULES("gputracker_system", OF(energy.machine.total),
        "Energy of the machine since the start: CPU packages, DRAM and GPUs, as far as known."),
    JOULES("gputracker_system_package", OF(energy.machine.package),
        "Energy of the CPU packages, cores and uncore included."),
    JOULES("gputracker_system_core", OF(energy.machine.core), "Energy of the CPU cores."),
    JOULES("gputracker_system_uncore", OF(energy.machine.uncore),
        "Energy of what else is in the CPU packages, such as graphics."),
    JOULES("gputracker_system_dram", OF(energy.machine.dram), "Energy of the RAM."),
    JOULES("gputracker_system_psys", OF(energy.machine.psys),
        "Energy of the platform as a whole; not in the total."),
    JOULES("gputracker_system_gpu", OF(energy.machine.gpu), "Energy of all GPUs."),
    JOULES("gputracker_system_battery", OF(energy.machine.battery),
        "Energy drawn from batteries: the whole machine."),

    PROCESSES("main", MAIN, "the main process"),
    PROCESSES("descendants", DESCENDANTS, "its descendants"),
    PROCESSES("combined", COMBINED, "the main process and its descendants"),
    SECONDS("gputracker_main_cpu", OF(now.main_cpu_seconds),
        "CPU time of the main process since the start."),
    SECONDS("gputracker_descendants_cpu", OF(now.descendants_cpu_seconds),
        "CPU time of its descendants since the start, ended ones too."),
    SECONDS("gputracker_combined_cpu", OF(accounting.sampled_cpu_seconds),
        "CPU time of the main process and its descendants since the start."),
    COUNTED("gputracker_combined_read", "bytes", OF(accounting.read_bytes),
        "Bytes that the main process and its descendants read, pipes and sockets included."),
    COUNTED("gputracker_combined_written", "bytes", OF(accounting.write_bytes),
        "Bytes that they wrote, pipes and sockets included."),
    COUNTED("gputracker_combined_storage_read", "bytes", OF(accounting.storage_read_bytes),
        "Bytes that were fetched from storage for them."),
    COUNTED("gputracker_combined_storage_written", "bytes", OF(accounting.storage_dirtied_bytes),
        "Bytes that they filled to be written to storage, removed files included."),
    JOULES("gputracker_main", OF(energy.main), "The main process's share of the energy."),
    JOULES("gputracker_descendants", OF(energy.descendants),
        "Its descendants' share of the energy."),
    JOULES("gputracker_combined", OF(energy.combined),
        "The main process's and its descendants' share of the energy."),
    COUNTED("gputracker_combined_co2e", "grams", OF(energy.co2e_grams),
        "CO2 equivalents of that energy."),
    {"gputracker_processes", COUNTER, NULL, COUNT_64, OF(accounting.processes_seen), 1,
        "Processes known of since the start, the main process included.", has_process},

    SECONDS("gputracker_tracker_cpu", OF(tracker.cpu_seconds),
        "CPU time of gpu-tracker itself."),
    BYTES("gputracker_tracker_memory", OF(tracker.rss_bytes), "RAM of gpu-tracker itself."),
    {"gputracker_tracker_samples", COUNTER, NULL, COUNT_64, OF(tracker.ticks), 1, "Samples taken.",
        results_are_own},
    {"gputracker_tracker_late_samples", COUNTER, NULL, COUNT_64, OF(tracker.late_ticks), 1,
        "Samples that began more than a tenth of the interval late.", results_are_own},
    {"gputracker_tracker_missed_samples", COUNTER, NULL, COUNT_64, OF(tracker.missed_ticks), 1,
        "Samples left out because an earlier one took too long.", results_are_own},

    /* The names of AIPowerMeter; all of them are of the whole machine. */
    GAUGE_OF("power_draw_cpu", NULL, WATTS(GPUT_ENERGY_CORE), "Power of the CPU cores in watts."),
    GAUGE_OF("intel_power", NULL, WATTS(GPUT_ENERGY_PACKAGE),
        "Power of the CPU packages in watts."),
    GAUGE_OF("mem_used_cpu", NULL, NOW(GPUT_SYSTEM_RAM), "RAM in use in bytes."),
    {"mem_used_gpu", GAUGE, NULL, DOUBLE, NOW(GPUT_SYSTEM_GPU_RAM), 1, "GPU RAM in use in bytes.",
        has_gpus},
    GAUGE_OF("power_draw_gpu", NULL, WATTS(GPUT_ENERGY_GPU), "Power of all GPUs in watts."),
};

/* For each GPU. */
static const struct metric gpu_metrics[] = {
    BYTES("gputracker_gpu_memory_capacity", OF_GPU(ram_capacity_bytes), "RAM of the GPU."),
    BYTES("gputracker_gpu_memory_used", OF_GPU(now.ram_bytes), "RAM in use on the GPU."),
    BYTES("gputracker_gpu_combined_memory", OF_GPU(now.combined_ram_bytes),
        "RAM of the GPU that the main process and its descendants use."),
    RATIO("gputracker_gpu_utilization", OF_GPU(now.utilization_percent),
        "Use of the GPU by anybody, 1 being all of the time."),
    GAUGE_OF("gputracker_gpu_power_watts", "watts", OF_GPU(now.power_watts), "Power of the GPU."),
    JOULES("gputracker_gpu", OF_GPU(now.joules), "Energy of the GPU since the start."),
};
/* clang-format on */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Text ---- */

struct writer {
    const struct gput_results *results;
    bool is_openmetrics;
    struct str *text;
};

/* In OpenMetrics a counter's family has the name without _total. */
static void write_head(const struct writer *writer, const struct metric *metric)
{
    const char *suffix = metric->type == COUNTER && !writer->is_openmetrics ? "_total" : "";
    const char *type = metric->type == COUNTER ? "counter" : "gauge";
    str_printf(writer->text, "# HELP %s%s %s\n# TYPE %s%s %s\n", metric->name, suffix, metric->help,
        metric->name, suffix, type);
    if (writer->is_openmetrics && metric->unit)
        str_printf(writer->text, "# UNIT %s %s\n", metric->name, metric->unit);
}

/* Drivers give plain ASCII; whatever else comes must not break the line. */
static void write_label(const struct writer *writer, const char *name, const char *value)
{
    str_printf(writer->text, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            str_append_char(writer->text, '\\');
        str_append_char(writer->text, *value >= ' ' && *value <= '~' ? *value : '?');
    }
    str_append_char(writer->text, '"');
}

static void write_gpu_labels(const struct writer *writer, uint32_t index)
{
    str_printf(writer->text, "gpu=\"%u\",", index);
    write_label(writer, "uuid", writer->results->gpus[index].uuid);
}

static void write_value(const struct writer *writer, double value)
{
    char number[NUMBER_TEXT_SIZE];
    str_append_char(writer->text, ' ');
    str_append_bytes(writer->text, number, number_format_double(value, number));
    str_append_char(writer->text, '\n');
}

/* ---- Values ---- */

static double value_at(const struct metric *metric, const void *base)
{
    const char *at = (const char *)base + metric->offset;
    double real = NAN;
    uint32_t narrow;
    uint64_t wide;
    switch (metric->value) {
    case DOUBLE:
        memcpy(&real, at, sizeof real);
        break;
    case COUNT_32:
        memcpy(&narrow, at, sizeof narrow);
        real = narrow;
        break;
    case COUNT_64:
        memcpy(&wide, at, sizeof wide);
        real = (double)wide;
        break;
    }
    return real * metric->factor;
}

static void write_metric(const struct writer *writer, const struct metric *metric)
{
    double value = value_at(metric, writer->results);
    if (!isfinite(value) || (metric->applies && !metric->applies(writer->results)))
        return;
    write_head(writer, metric);
    str_append(writer->text, metric->name);
    str_append(writer->text, metric->type == COUNTER ? "_total" : "");
    write_value(writer, value);
}

/* ---- Information: a 1 whose labels say something ---- */

static void write_info_head(const struct writer *writer, const char *name, const char *help)
{
    const char *suffix = writer->is_openmetrics ? "" : "_info";
    str_printf(writer->text, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix,
        writer->is_openmetrics ? "info" : "gauge");
}

static void write_build(const struct writer *writer)
{
    write_info_head(writer, "gputracker_build", "The version of gpu-tracker.");
    str_append(writer->text, "gputracker_build_info{");
    write_label(writer, "version", GPUT_VERSION);
    str_append(writer->text, "} 1\n");
}

/* Reasons are for people, and may hold figures: no labels. */
static void write_sources(const struct writer *writer)
{
    const struct gput_results *results = writer->results;
    if (results->n_sources > 0)
        write_info_head(writer, "gputracker_source",
            "How far figures can be trusted: exact, sampled or unavailable.");
    for (uint32_t i = 0; i < results->n_sources && i < GPUT_MAX_SOURCES; i++) {
        str_append(writer->text, "gputracker_source_info{");
        write_label(writer, "source", results->sources[i].name);
        str_append_char(writer->text, ',');
        write_label(writer, "state", gput_source_state_name(results->sources[i].state));
        str_append(writer->text, "} 1\n");
    }
}

/* ---- GPUs ---- */

static uint32_t gpu_count(const struct writer *writer)
{
    return writer->results->n_gpus;
}

static void write_gpu_info(const struct writer *writer)
{
    if (gpu_count(writer) > 0)
        write_info_head(writer, "gputracker_gpu", "What the GPU is.");
    for (uint32_t i = 0; i < gpu_count(writer); i++) {
        const struct gput_gpu *gpu = &writer->results->gpus[i];
        str_append(writer->text, "gputracker_gpu_info{");
        write_gpu_labels(writer, i);
        str_append_char(writer->text, ',');
        write_label(writer, "name", gpu->name);
        str_append_char(writer->text, ',');
        write_label(writer, "vendor", gpu->vendor);
        str_append_char(writer->text, ',');
        write_label(writer, "pci_address", gpu->pci_address);
        str_append(writer->text, "} 1\n");
    }
}

static void write_gpu_metric(const struct writer *writer, const struct metric *metric)
{
    bool has_head = false;
    for (uint32_t i = 0; i < gpu_count(writer); i++) {
        double value = value_at(metric, &writer->results->gpus[i]);
        if (!isfinite(value))
            continue;
        if (!has_head)
            write_head(writer, metric);
        has_head = true;
        str_printf(writer->text, "%s%s{", metric->name, metric->type == COUNTER ? "_total" : "");
        write_gpu_labels(writer, i);
        str_append_char(writer->text, '}');
        write_value(writer, value);
    }
}

void prometheus_write(const struct gput_results *results, enum gput_format format, struct str *text)
{
    struct writer writer = {results, format == GPUT_OPENMETRICS, text};
    write_build(&writer);
    write_sources(&writer);
    for (size_t i = 0; i < COUNT_OF(metrics); i++)
        write_metric(&writer, &metrics[i]);
    write_gpu_info(&writer);
    for (size_t i = 0; i < COUNT_OF(gpu_metrics); i++)
        write_gpu_metric(&writer, &gpu_metrics[i]);
    if (writer.is_openmetrics)
        str_append(text, "# EOF\n");
}
