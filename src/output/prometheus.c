#include "output/prometheus.h"

#include "import/results_read_pickle.h"

#include "base/number.h"
#include "model/results_identity.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- The tables: a metric is a row ---- */

enum type { GAUGE, COUNTER };

struct metric {
    const char
        *name; /* that of a counter without its _total; it ends with the unit, if it has one */
    enum type type;
    const char *column; /* of the results, or of a GPU (model/results_columns.h) */
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

/* clang-format off */
#define PROCESSES(who, whose) \
    {"gputracker_" who "_memory_bytes", GAUGE, "now." who "_ram", "RAM of " whose ", each page once.", NULL}, \
    {"gputracker_" who "_private_memory_bytes", GAUGE, "now." who "_private_ram", "RAM that only " whose " used.", NULL}, \
    {"gputracker_" who "_shared_memory_bytes", GAUGE, "now." who "_shared_ram", "RAM of " whose " that could be shared.", NULL}, \
    {"gputracker_" who "_peak_memory_bytes", GAUGE, "max." who "_ram", "Highest RAM of " whose " so far.", NULL}, \
    {"gputracker_" who "_gpu_memory_bytes", GAUGE, "now." who "_gpu_ram", "GPU RAM of " whose ".", has_gpus}, \
    {"gputracker_" who "_cpu_utilization_ratio", GAUGE, "now.cpu_" who "_hardware_utilization_percent", \
        "CPU use of " whose ", 1 being all expected cores.", NULL}, \
    {"gputracker_" who "_threads", GAUGE, "now." who "_n_threads", "Threads of " whose ".", NULL}

static const struct metric metrics[] = {
    {"gputracker_elapsed_seconds", COUNTER, "elapsed_seconds",
        "Time from the start of tracking to the last sample.", NULL},
    {"gputracker_allowed_cores", GAUGE, "allowed.cores",
        "Cores that the command may use, where these are fewer than the machine has.", NULL},
    {"gputracker_allowed_memory_bytes", GAUGE, "allowed.ram_bytes",
        "RAM that the command may use, where this is less than the machine has.", NULL},
    {"gputracker_system_cores", GAUGE, "static_data.system_core_count", "Online cores of the machine.", NULL},
    {"gputracker_system_cpu_seconds", COUNTER, "now.system_cpu_seconds",
        "CPU time of all processes of the machine since the start.", NULL},
    {"gputracker_system_cpu_utilization_ratio", GAUGE, "now.cpu_system_hardware_utilization_percent",
        "CPU use of the machine, 1 being all cores.", NULL},
    {"gputracker_system_memory_capacity_bytes", GAUGE, "static_data.ram_system_capacity_bytes",
        "RAM of the machine.", NULL},
    {"gputracker_system_memory_used_bytes", GAUGE, "now.system_ram", "RAM in use on the machine.", NULL},
    {"gputracker_system_gpus", GAUGE, "static_data.system_gpu_count",
        "GPUs of the machine that could be found.", NULL},
    {"gputracker_system_gpu_memory_capacity_bytes", GAUGE, "static_data.gpu_ram_system_capacity_bytes",
        "RAM of all GPUs.", has_gpus},
    {"gputracker_system_gpu_memory_used_bytes", GAUGE, "now.system_gpu_ram", "RAM in use on all GPUs.", has_gpus},
    {"gputracker_system_gpu_utilization_ratio", GAUGE, "now.gpu_hardware_utilization_percent",
        "Use of the selected GPUs, 1 being all.", has_gpus},
    {"gputracker_system_network_received_bytes", COUNTER, "accounting.bytes.system_network_received",
        "Bytes that the system received since the start, without the loopback.", NULL},
    {"gputracker_system_network_sent_bytes", COUNTER, "accounting.bytes.system_network_sent",
        "Bytes that the system sent since the start, without the loopback.", NULL},
    {"gputracker_system_energy_joules", COUNTER, "energy.machine.total_joules",
        "Energy of the machine since the start: CPU packages, DRAM and GPUs, as far as known.", NULL},
    {"gputracker_system_package_energy_joules", COUNTER, "energy.machine.package_joules",
        "Energy of the CPU packages, cores and uncore included.", NULL},
    {"gputracker_system_core_energy_joules", COUNTER, "energy.machine.core_joules", "Energy of the CPU cores.", NULL},
    {"gputracker_system_uncore_energy_joules", COUNTER, "energy.machine.uncore_joules",
        "Energy of what else is in the CPU packages, such as graphics.", NULL},
    {"gputracker_system_dram_energy_joules", COUNTER, "energy.machine.dram_joules", "Energy of the RAM.", NULL},
    {"gputracker_system_psys_energy_joules", COUNTER, "energy.machine.psys_joules",
        "Energy of the platform as a whole; not in the total.", NULL},
    {"gputracker_system_gpu_energy_joules", COUNTER, "energy.machine.gpu_joules", "Energy of all GPUs.", NULL},
    {"gputracker_system_battery_energy_joules", COUNTER, "energy.machine.battery_joules",
        "Energy drawn from batteries: the whole machine.", NULL},
    PROCESSES("main", "the main process"),
    PROCESSES("descendants", "its descendants"),
    PROCESSES("combined", "the main process and its descendants"),
    {"gputracker_main_cpu_seconds", COUNTER, "now.main_cpu_seconds",
        "CPU time of the main process since the start.", NULL},
    {"gputracker_descendants_cpu_seconds", COUNTER, "now.descendants_cpu_seconds",
        "CPU time of its descendants since the start, ended ones too.", NULL},
    {"gputracker_combined_cpu_seconds", COUNTER, "accounting.cpu_seconds.sampled",
        "CPU time of the main process and its descendants since the start.", NULL},
    {"gputracker_combined_read_bytes", COUNTER, "accounting.bytes.read",
        "Bytes that the main process and its descendants read, pipes and sockets included.", NULL},
    {"gputracker_combined_written_bytes", COUNTER, "accounting.bytes.written",
        "Bytes that they wrote, pipes and sockets included.", NULL},
    {"gputracker_combined_storage_read_bytes", COUNTER, "accounting.bytes.read_from_storage",
        "Bytes that were fetched from storage for them.", NULL},
    {"gputracker_combined_storage_written_bytes", COUNTER, "accounting.bytes.dirtied",
        "Bytes that they filled to be written to storage, removed files included.", NULL},
    {"gputracker_main_energy_joules", COUNTER, "energy.main_joules", "The main process's share of the energy.", NULL},
    {"gputracker_descendants_energy_joules", COUNTER, "energy.descendants_joules",
        "Its descendants' share of the energy.", NULL},
    {"gputracker_combined_energy_joules", COUNTER, "energy.combined_joules",
        "The main process's and its descendants' share of the energy.", NULL},
    {"gputracker_combined_co2e_grams", COUNTER, "energy.co2e_grams", "CO2 equivalents of that energy.", NULL},
    {"gputracker_processes", COUNTER, "accounting.processes.seen",
        "Processes known of since the start, the main process included.", has_process},
    {"gputracker_tracker_cpu_seconds", COUNTER, "tracker.cpu_seconds", "CPU time of gpu-tracker itself.", NULL},
    {"gputracker_tracker_memory_bytes", GAUGE, "tracker.rss_bytes", "RAM of gpu-tracker itself.", NULL},
    {"gputracker_tracker_samples", COUNTER, "tracker.ticks", "Samples taken.", results_are_own},
    {"gputracker_tracker_late_samples", COUNTER, "tracker.late_ticks",
        "Samples that began more than a tenth of the interval late.", results_are_own},
    {"gputracker_tracker_missed_samples", COUNTER, "tracker.missed_ticks",
        "Samples left out because an earlier one took too long.", results_are_own},

    /* The names of AIPowerMeter; all of them are of the whole machine. */
    {"power_draw_cpu", GAUGE, "now.watts.core", "Power of the CPU cores in watts.", NULL},
    {"intel_power", GAUGE, "now.watts.package", "Power of the CPU packages in watts.", NULL},
    {"mem_used_cpu", GAUGE, "now.system_ram", "RAM in use in bytes.", NULL},
    {"mem_used_gpu", GAUGE, "now.system_gpu_ram", "GPU RAM in use in bytes.", has_gpus},
    {"power_draw_gpu", GAUGE, "now.watts.gpu", "Power of all GPUs in watts.", NULL},
};

static const struct metric gpu_metrics[] = {
    {"gputracker_gpu_memory_capacity_bytes", GAUGE, "ram_capacity_bytes", "RAM of the GPU.", NULL},
    {"gputracker_gpu_memory_used_bytes", GAUGE, "now.ram_bytes", "RAM in use on the GPU.", NULL},
    {"gputracker_gpu_combined_memory_bytes", GAUGE, "now.combined_ram_bytes",
        "RAM of the GPU that the main process and its descendants use.", NULL},
    {"gputracker_gpu_utilization_ratio", GAUGE, "now.utilization_percent",
        "Use of the GPU by anybody, 1 being all of the time.", NULL},
    {"gputracker_gpu_power_watts", GAUGE, "now.power_watts", "Power of the GPU.", NULL},
    {"gputracker_gpu_energy_joules", COUNTER, "now.joules", "Energy of the GPU since the start.", NULL},
};
/* clang-format on */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The unit that the name ends with, and the factor from the column's; NULL: none. */
static const char *unit_of(const struct metric *metric, double *factor)
{
    static const char *const units[] = {"bytes", "ratio", "seconds", "joules", "grams", "watts"};
    const char *end = strrchr(metric->name, '_');
    *factor = 1;
    for (size_t i = 0; end && i < COUNT_OF(units); i++) {
        if (strcmp(end + 1, units[i]) != 0)
            continue;
        if (strcmp(units[i], "ratio") == 0)
            *factor = 0.01; /* of percent */
        return units[i];
    }
    return NULL;
}

/* ---- Text ---- */

struct writer {
    const struct gput_results *results;
    const struct results_list *record; /* their columns */
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
    double factor;
    const char *unit = unit_of(metric, &factor);
    if (writer->is_openmetrics && unit)
        str_printf(writer->text, "# UNIT %s %s\n", metric->name, unit);
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

static double value_of(
    const struct results_list *list, const struct metric *metric, const void *item)
{
    double factor;
    size_t hint = 0;
    const char *name = metric->column;
    unit_of(metric, &factor);
    return results_column_number(results_column_find(list, name, strlen(name), &hint), item) *
           factor;
}

static void write_metric(const struct writer *writer, const struct metric *metric)
{
    double value = value_of(writer->record, metric, writer->results);
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

/* What is known of these; numbers of processes and command lines are no labels. */
static const char *const session_labels[] = {"host", "boot_id", "user", "container", "pod",
    "launcher", "job_id", "step", "rank", "local_rank", "world_size", "node", "node_rank",
    "node_count", "restarts"};

static void write_session_label(const struct writer *writer, const struct doc *value)
{
    char number[32];
    if (value->kind == DOC_INT)
        snprintf(number, sizeof number, "%lld", (long long)value->integer);
    write_label(writer, value->key, value->kind == DOC_STRING ? value->string : number);
}

static void write_session(const struct writer *writer)
{
    struct doc *known = doc_create_object();
    size_t written = 0;
    if (!known || !writer->results->identity.host[0]) {
        writer->text->failed |= !known;
        doc_destroy(known);
        return;
    }
    results_identity_add(writer->results, known);
    write_info_head(writer, "gputracker_session", "Whose figures these are.");
    str_append(writer->text, "gputracker_session_info{");
    for (size_t i = 0; i < COUNT_OF(session_labels); i++) {
        const struct doc *value = doc_get(known, session_labels[i]);
        if (!value || (value->kind != DOC_STRING && value->kind != DOC_INT))
            continue;
        str_append(writer->text, written++ ? "," : "");
        write_session_label(writer, value);
    }
    str_append(writer->text, "} 1\n");
    doc_destroy(known);
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
        double value = value_of(results_gpu_list(), metric, &writer->results->gpus[i]);
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
    size_t n_lists;
    struct writer writer = {results, results_lists(&n_lists), format == GPUT_OPENMETRICS, text};
    write_build(&writer);
    write_session(&writer);
    write_sources(&writer);
    for (size_t i = 0; i < COUNT_OF(metrics); i++)
        write_metric(&writer, &metrics[i]);
    write_gpu_info(&writer);
    for (size_t i = 0; i < COUNT_OF(gpu_metrics); i++)
        write_gpu_metric(&writer, &gpu_metrics[i]);
    if (writer.is_openmetrics)
        str_append(text, "# EOF\n");
}
