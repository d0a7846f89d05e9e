/*
 * One table of lines makes the document: a new figure in the report is one row.
 */
#include "output/results_doc.h"

#include "import/results_read_pickle.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- The table ---- */

/* What stands in a line of the report. */
enum kind {
    SECTION, /* the deeper lines that follow are in it */
    RAM_UNIT,
    GPU_RAM_UNIT,
    TIME_UNIT,
    RAM,     /* double, bytes; shown in the RAM unit */
    GPU_RAM, /* likewise in the GPU RAM unit; is not 0 where it is missing, but for lack of a GPU */
    GPU_PERCENT, /* double, likewise */
    ENERGY_UNIT,
    ENERGY,           /* double, joules; shown in the energy unit */
    TIME,             /* double, seconds; shown in the time unit */
    NUMBER,           /* double */
    WHOLE,            /* double, shown as a whole number */
    COUNT_32,         /* uint32_t */
    COUNT_64,         /* uint64_t */
    FLAG,             /* bool */
    TEXT,             /* char array */
    CAPTURED_PERCENT, /* what samples saw of the CPU time that the kernel counted */
    PASSED_LIMIT,     /* bytes or seconds, as the kind of limit has it */
    LATER_LIMITS,     /* an array with an object for each */
    GPUS,             /* an array with an object for each GPU */
    SOURCES,          /* an object for each source */
};

struct line {
    int level;
    const char *key; /* its label in text is made from it */
    enum kind kind;
    bool documented; /* by the seeds: a figure that this machine does not have is 0, not null (of
                        GPUs, only where there is none: their figures are 0 then) */
    size_t offset;   /* of the value in struct gput_results */
    bool (*applies)(const struct gput_results *results); /* of a section; NULL: always */
};

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
#define DOCUMENTED(level, key, kind, offset) {level, key, kind, true, offset, NULL}
#define OWN(level, key, kind, offset) {level, key, kind, false, offset, NULL}

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
    OWN(1, whose "_source", TEXT, AT(peaks.member.source))

#define GPU_PEAK_OF(whose, member)                                      \
    OWN(1, whose, GPU_RAM, AT(gpu_peaks.member.bytes)),                 \
    OWN(1, whose "_at_most", GPU_RAM, AT(gpu_peaks.member.at_most_bytes)), \
    OWN(1, whose "_source", TEXT, AT(gpu_peaks.member.source))

static const struct line lines[] = {
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

    {0, "allowed", SECTION, false, 0, is_limited},
    OWN(1, "unit", RAM_UNIT, 0),
    OWN(1, "ram", RAM, AT(static_data.allowed_ram_bytes)),
    OWN(1, "cores", NUMBER, AT(static_data.allowed_cores)),

    {0, "peaks", SECTION, false, 0, results_are_own},
    OWN(1, "unit", RAM_UNIT, 0),
    PEAK_OF("main", main),
    PEAK_OF("descendants", descendants),
    PEAK_OF("combined", combined),
    OWN(1, "control_group", RAM, AT(peaks.control_group.bytes)),
    OWN(1, "control_group_source", TEXT, AT(peaks.control_group.source)),

    {0, "gpu_peaks", SECTION, false, 0, has_gpus},
    OWN(1, "unit", GPU_RAM_UNIT, 0),
    GPU_PEAK_OF("main", main),
    GPU_PEAK_OF("descendants", descendants),
    GPU_PEAK_OF("combined", combined),
    OWN(1, "list_age_seconds", NUMBER, AT(gpu_peaks.list_age_seconds)),

    {0, "accounting", SECTION, false, 0, results_are_own},
    OWN(1, "cpu_seconds", SECTION, 0),
    OWN(2, "kernel", NUMBER, AT(accounting.kernel_cpu_seconds)),
    OWN(2, "kernel_user", NUMBER, AT(accounting.kernel_user_cpu_seconds)),
    OWN(2, "kernel_system", NUMBER, AT(accounting.kernel_system_cpu_seconds)),
    OWN(2, "sampled", NUMBER, AT(accounting.sampled_cpu_seconds)),
    OWN(2, "captured_percent", CAPTURED_PERCENT, 0),
    OWN(1, "processes", SECTION, 0),
    OWN(2, "seen", COUNT_64, AT(accounting.processes_seen)),
    OWN(2, "missed", WHOLE, AT(accounting.processes_missed)),
    OWN(2, "missed_reason", TEXT, AT(accounting.processes_missed_reason)),
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

    {0, "gpus", GPUS, false, 0, has_gpus},

    {0, "tracker", SECTION, false, 0, results_are_own},
    OWN(1, "cpu_seconds", NUMBER, AT(tracker.cpu_seconds)),
    OWN(1, "rss", RAM, AT(tracker.rss_bytes)),
    OWN(1, "ticks", COUNT_64, AT(tracker.ticks)),
    OWN(1, "late_ticks", COUNT_64, AT(tracker.late_ticks)),
    OWN(1, "missed_ticks", COUNT_64, AT(tracker.missed_ticks)),
    OWN(1, "rows_lost", COUNT_64, AT(tracker.rows_lost)),

    {0, "energy", SECTION, false, 0, has_energy},
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
    OWN(1, "co2e_source", TEXT, AT(energy.co2e_source)),

    {0, "limit_passed", SECTION, false, 0, has_passed_limit},
    OWN(1, "kind", TEXT, AT(limit.kind_name)),
    OWN(1, "value", PASSED_LIMIT, 0),
    OWN(1, "at_seconds", NUMBER, AT(limit.at_seconds)),
    OWN(1, "enforced", FLAG, AT(limit.enforced)),

    {0, "limits_passed_later", LATER_LIMITS, false, 0, has_later_limits},

    OWN(0, "sources", SOURCES, 0),
};
/* clang-format on */

#define MAX_LEVELS 3

/* ---- From the table to a document ---- */

static void add_number(struct doc *parent, const struct line *line, double value)
{
    bool is_gpu = line->kind == GPU_RAM || line->kind == GPU_PERCENT;
    double shown = line->documented && !is_gpu && isnan(value) ? 0.0 : value;
    struct doc *number = doc_add_double(parent, line->key, shown);
    if (number)
        number->keeps_small = !line->documented;
}

static void add_whole(struct doc *parent, const struct line *line, double value)
{
    if (fabs(value) < 0x1p53)
        doc_add_int(parent, line->key, (int64_t)value);
    else if (line->documented && isnan(value))
        doc_add_int(parent, line->key, 0);
    else
        doc_add_double(parent, line->key, value);
}

/* In the unit that the report has for its kind. */
static double passed_limit(
    const struct gput_results *results, const struct gput_limit_passed *limit)
{
    const struct gput_static_data *data = &results->static_data;
    if (strcmp(limit->kind_name, "ram") == 0)
        return limit->value * gput_ram_unit_factor(data->ram_unit);
    if (strcmp(limit->kind_name, "gpu_ram") == 0)
        return limit->value * gput_ram_unit_factor(data->gpu_ram_unit);
    return limit->value;
}

static void add_later_limits(
    struct doc *parent, const char *key, const struct gput_results *results)
{
    struct doc *limits = doc_add_array(parent, key);
    for (uint32_t i = 0; i < results->n_later_limits && i < GPUT_LIMIT_KINDS - 1; i++) {
        const struct gput_limit_passed *limit = &results->later_limits[i];
        struct doc *item = doc_add_object(limits, NULL);
        doc_label(item, "Limit");
        doc_add_string(item, "kind", limit->kind_name);
        doc_add_double(item, "value", passed_limit(results, limit));
        doc_add_double(item, "at_seconds", limit->at_seconds);
        doc_add_bool(item, "enforced", limit->enforced);
    }
}

/* Why figures of GPUs are missing that the older report has. */
static bool is_missing_gpu_figure(const struct gput_source *source)
{
    return source->state == GPUT_SOURCE_UNAVAILABLE &&
           (strcmp(source->name, "gpu") == 0 || strcmp(source->name, "process_gpu_ram") == 0);
}

/* Without any GPU they are 0. */
static bool lacks_gpu_figures(const struct gput_results *results)
{
    if (!isnan(results->max[GPUT_SYSTEM_GPU_RAM]) && !isnan(results->max[GPUT_COMBINED_GPU_RAM]))
        return false;
    for (uint32_t i = 0; i < results->n_sources && i < GPUT_MAX_SOURCES; i++) {
        if (is_missing_gpu_figure(&results->sources[i]))
            return true;
    }
    return false;
}

static void add_sources(
    struct doc *parent, const char *key, const struct gput_results *results, bool only_missing)
{
    struct doc *sources = doc_add_object(parent, key);
    for (uint32_t i = 0; i < results->n_sources && i < GPUT_MAX_SOURCES; i++) {
        if (only_missing && !is_missing_gpu_figure(&results->sources[i]))
            continue;
        struct doc *source = doc_add_object(sources, results->sources[i].name);
        doc_add_string(source, "state", gput_source_state_name(results->sources[i].state));
        doc_add_string(source, "reason", results->sources[i].reason);
    }
}

static void add_gpu(
    struct doc *parent, size_t index, const struct gput_gpu *gpu, enum gput_ram_unit unit)
{
    char label[32];
    double factor = gput_ram_unit_factor(unit);
    struct doc *item = doc_add_object(parent, NULL);
    snprintf(label, sizeof label, "GPU %zu", index);
    doc_label(item, label);
    doc_add_string(item, "uuid", gpu->uuid);
    doc_add_string(item, "name", gpu->name);
    doc_add_string(item, "vendor", gpu->vendor);
    doc_add_string(item, "pci_address", gpu->pci_address);
    doc_add_bool(item, "selected", gpu->selected);
    doc_add_string(item, "unit", gput_ram_unit_name(unit));
    doc_add_double(item, "ram_capacity", gpu->ram_capacity_bytes * factor);
    doc_add_double(item, "max_ram", gpu->max_ram_bytes * factor);
    doc_add_double(item, "max_main_ram", gpu->max_main_ram_bytes * factor);
    doc_add_double(item, "max_descendants_ram", gpu->max_descendants_ram_bytes * factor);
    doc_add_double(item, "max_combined_ram", gpu->max_combined_ram_bytes * factor);
    doc_add_double(item, "max_combined_ram_at_most", gpu->max_combined_ram_at_most_bytes * factor);
    doc_add_double(item, "max_utilization_percent", gpu->max_utilization_percent);
    doc_add_double(item, "mean_utilization_percent", gpu->mean_utilization_percent);
    doc_add_double(item, "max_main_sm_percent", gpu->max_main_sm_percent);
    doc_add_double(item, "mean_main_sm_percent", gpu->mean_main_sm_percent);
    doc_add_double(item, "max_descendants_sm_percent", gpu->max_descendants_sm_percent);
    doc_add_double(item, "mean_descendants_sm_percent", gpu->mean_descendants_sm_percent);
    doc_add_double(item, "max_power_watts", gpu->max_power_watts);
    doc_add_double(item, "mean_power_watts", gpu->mean_power_watts);
    if (gpu->missing[0])
        doc_add_string(item, "missing", gpu->missing);
}

static void add_gpus(struct doc *parent, const char *key, const struct gput_results *results)
{
    struct doc *gpus = doc_add_array(parent, key);
    for (uint32_t i = 0; i < results->n_gpus; i++)
        add_gpu(gpus, i, &results->gpus[i], results->static_data.gpu_ram_unit);
}

static double double_at(const struct gput_results *results, size_t offset)
{
    double value;
    memcpy(&value, (const char *)results + offset, sizeof value);
    return value;
}

static int64_t count_at(const struct gput_results *results, const struct line *line)
{
    uint64_t wide = 0;
    uint32_t narrow;
    if (line->kind == COUNT_64) {
        memcpy(&wide, (const char *)results + line->offset, sizeof wide);
        return wide > INT64_MAX ? INT64_MAX : (int64_t)wide;
    }
    memcpy(&narrow, (const char *)results + line->offset, sizeof narrow);
    return narrow;
}

/* A line that is no section. */
static void add_value(
    struct doc *parent, const struct line *line, const struct gput_results *results)
{
    const struct gput_static_data *data = &results->static_data;
    const char *at = (const char *)results + line->offset;
    double ram = gput_ram_unit_factor(data->ram_unit);
    double gpu_ram = gput_ram_unit_factor(data->gpu_ram_unit);

    switch (line->kind) {
    case RAM_UNIT:
        doc_add_string(parent, line->key, gput_ram_unit_name(data->ram_unit));
        break;
    case GPU_RAM_UNIT:
        doc_add_string(parent, line->key, gput_ram_unit_name(data->gpu_ram_unit));
        break;
    case TIME_UNIT:
        doc_add_string(parent, line->key, gput_time_unit_name(data->time_unit));
        break;
    case RAM:
        add_number(parent, line, double_at(results, line->offset) * ram);
        break;
    case GPU_RAM:
        add_number(parent, line, double_at(results, line->offset) * gpu_ram);
        break;
    case ENERGY_UNIT:
        doc_add_string(parent, line->key, gput_energy_unit_name(results->energy.unit));
        break;
    case ENERGY:
        add_number(parent, line,
            double_at(results, line->offset) / gput_energy_unit_joules(results->energy.unit));
        break;
    case TIME:
        add_number(parent, line,
            double_at(results, line->offset) / gput_time_unit_seconds(data->time_unit));
        break;
    case NUMBER:
    case GPU_PERCENT:
        add_number(parent, line, double_at(results, line->offset));
        break;
    case WHOLE:
        add_whole(parent, line, double_at(results, line->offset));
        break;
    case COUNT_32:
    case COUNT_64:
        doc_add_int(parent, line->key, count_at(results, line));
        break;
    case FLAG:
        doc_add_bool(parent, line->key, *(const bool *)at);
        break;
    case TEXT:
        if (*at)
            doc_add_string(parent, line->key, at);
        else
            doc_add_null(parent, line->key);
        break;
    case CAPTURED_PERCENT:
        add_number(parent, line, results->accounting.captured_percent);
        break;
    case PASSED_LIMIT:
        add_number(parent, line, passed_limit(results, &results->limit));
        break;
    case LATER_LIMITS:
        add_later_limits(parent, line->key, results);
        break;
    case GPUS:
        add_gpus(parent, line->key, results);
        break;
    case SOURCES:
        add_sources(parent, line->key, results, false);
        break;
    case SECTION:
        break;
    }
}

struct doc *results_doc(const struct gput_results *results, bool documented)
{
    struct doc *root = doc_create_object();
    struct doc *parents[MAX_LEVELS + 1] = {root};
    int skipped = MAX_LEVELS; /* lines deeper than this belong to a section that does not apply */

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const struct line *line = &lines[i];
        if (line->level > skipped)
            continue;
        bool applies = !line->applies || line->applies(results);
        skipped = applies && (line->documented || !documented) ? MAX_LEVELS : line->level;
        if (skipped < MAX_LEVELS)
            continue;
        struct doc *parent = parents[line->level];
        if (line->kind == SECTION)
            parents[line->level + 1] = doc_add_object(parent, line->key);
        else
            add_value(parent, line, results);
    }
    if (documented && lacks_gpu_figures(results))
        add_sources(root, "sources", results, true);
    if (!doc_failed(root))
        return root;
    doc_destroy(root);
    return NULL;
}
