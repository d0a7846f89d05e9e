#include "model/results_columns.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

/* ---- The columns ---- */

#define KIND_OF(type, member)                                                                      \
    _Generic(((type *)0)->member,                                                                  \
        double: RESULTS_DOUBLE,                                                                    \
        uint32_t: RESULTS_COUNT_32,                                                                \
        uint64_t: RESULTS_COUNT_64,                                                                \
        bool: RESULTS_FLAG,                                                                        \
        char *: RESULTS_TEXT)

/* The type of a table's column. */
#define TYPE_OF(type, member)                                                                      \
    _Generic(((type *)0)->member,                                                                  \
        double: GPUT_COLUMN_DOUBLE,                                                                \
        uint32_t: GPUT_COLUMN_INT,                                                                 \
        uint64_t: GPUT_COLUMN_INT,                                                                 \
        bool: GPUT_COLUMN_INT,                                                                     \
        char *: GPUT_COLUMN_TEXT)

#define MEMBER(type, member) offsetof(type, member), sizeof(((type *)0)->member)
#define COLUMN(type, member, unit, source, meaning)                                                \
    {                                                                                              \
        {#member, unit, source, meaning, TYPE_OF(type, member)}, KIND_OF(type, member),            \
            MEMBER(type, member)                                                                   \
    }
/* An enum, by its words. */
#define WORD(type, member, kind, meaning)                                                          \
    {                                                                                              \
        {#member, NULL, NULL, meaning, GPUT_COLUMN_TEXT}, kind, MEMBER(type, member)               \
    }

/* clang-format off */
#define OF(member, unit, source, meaning) COLUMN(struct gput_results, member, unit, source, meaning)

/* A measurement: its maximum, mean and last value. */
#define MEASURED_AS(family, name, member, unit, source, meaning) \
    {{family "." name, unit, source, meaning, GPUT_COLUMN_DOUBLE}, RESULTS_DOUBLE, \
        MEMBER(struct gput_results, member)}
#define MEASURED(ID, name, unit, source, meaning) \
    MEASURED_AS("max", name, max[GPUT_##ID], unit, source, meaning " (maximum)"), \
    MEASURED_AS("mean", name, mean[GPUT_##ID], unit, source, meaning " (mean)"), \
    MEASURED_AS("now", name, now.values[GPUT_##ID], unit, source, meaning " (last sample)")

#define RAM_OF(ID, whose, who) \
    MEASURED(ID##_RAM, whose "_ram", "bytes", "ram", "RAM of " who), \
    MEASURED(ID##_PRIVATE_RAM, whose "_private_ram", "bytes", "ram", "RAM that only " who " used"), \
    MEASURED(ID##_SHARED_RAM, whose "_shared_ram", "bytes", "ram", "RAM of " who " that could be shared"), \
    MEASURED(ID##_GPU_RAM, whose "_gpu_ram", "bytes", "process_gpu_ram", "GPU RAM of " who), \
    MEASURED(ID##_THREADS, whose "_n_threads", NULL, "threads", "threads of " who), \
    MEASURED(CPU_##ID##_SUM, "cpu_" whose "_sum_utilization_percent", "percent", "cpu_time", \
        "CPU use of " who ", 100 being one core"), \
    MEASURED(CPU_##ID##_HARDWARE, "cpu_" whose "_hardware_utilization_percent", "percent", "cpu_time", \
        "CPU use of " who ", 100 being all expected cores")

#define WATTS(name, ID, source, meaning) \
    MEASURED_AS("now.watts", name, now.watts[GPUT_ENERGY_##ID], "watts", source, meaning " (the last second or more)")

#define PEAK(member, source_name, meaning) \
    OF(member.bytes, "bytes", source_name, meaning ": it was at least this"), \
    OF(member.at_most_bytes, "bytes", source_name, meaning ": and at most this, the same when it is exact"), \
    OF(member.source, NULL, NULL, meaning ": where it comes from")

static const struct results_column record[] = {
    WORD(struct gput_results, static_data.ram_unit, RESULTS_RAM_UNIT, "unit in which reports show RAM"),
    WORD(struct gput_results, static_data.gpu_ram_unit, RESULTS_RAM_UNIT, "unit in which reports show GPU RAM"),
    WORD(struct gput_results, static_data.time_unit, RESULTS_TIME_UNIT, "unit in which reports show time"),
    WORD(struct gput_results, energy.unit, RESULTS_ENERGY_UNIT, "unit in which reports show energy"),
    OF(static_data.ram_system_capacity_bytes, "bytes", NULL, "RAM of the machine"),
    OF(static_data.gpu_ram_system_capacity_bytes, "bytes", "gpu", "RAM of all GPUs"),
    OF(static_data.system_core_count, NULL, NULL, "online cores of the machine"),
    OF(static_data.n_expected_cores, NULL, NULL, "cores that are 100 percent of the hardware"),
    OF(static_data.system_gpu_count, NULL, "gpu", "GPUs of the machine"),
    OF(static_data.n_expected_gpus, NULL, "gpu", "GPUs that are 100 percent of the hardware"),
    OF(static_data.allowed_ram_bytes, "bytes", NULL, "tightest memory limit of the control groups above main"),
    OF(static_data.allowed_cores, NULL, NULL, "least of CPU affinity and CPU quota"),
    OF(elapsed_seconds, "seconds", NULL, "wall time from the start to the last sample"),

    RAM_OF(MAIN, "main", "the main process"),
    RAM_OF(DESCENDANTS, "descendants", "its descendants"),
    RAM_OF(COMBINED, "combined", "the main process and its descendants"),
    MEASURED(SYSTEM_RAM, "system_ram", "bytes", "system", "RAM in use on the machine"),
    MEASURED(SYSTEM_GPU_RAM, "system_gpu_ram", "bytes", "gpu", "RAM in use on all GPUs"),
    MEASURED(CPU_SYSTEM_SUM, "cpu_system_sum_utilization_percent", "percent", "system",
        "CPU use of the machine, 100 being one core"),
    MEASURED(CPU_SYSTEM_HARDWARE, "cpu_system_hardware_utilization_percent", "percent", "system",
        "CPU use of the machine, 100 being all cores"),
    MEASURED(GPU_SUM_UTILIZATION, "gpu_sum_utilization_percent", "percent", "gpu",
        "use of the selected GPUs, 100 being one of them"),
    MEASURED(GPU_HARDWARE_UTILIZATION, "gpu_hardware_utilization_percent", "percent", "gpu",
        "use of the selected GPUs, 100 being all of them"),
    WATTS("package", PACKAGE, "cpu_energy", "power of the CPU packages"),
    WATTS("core", CORE, "cpu_energy", "power of the CPU cores"),
    WATTS("uncore", UNCORE, "cpu_energy", "power of what else is in the CPU packages"),
    WATTS("dram", DRAM, "cpu_energy", "power of the RAM"),
    WATTS("psys", PSYS, "cpu_energy", "power of the platform as a whole"),
    WATTS("gpu", GPU, "gpu_energy", "power of all GPUs"),
    WATTS("total", TOTAL, "cpu_energy", "power of the machine"),
    WATTS("main", MAIN, "energy_shares", "the main process's share of the power"),
    WATTS("descendants", DESCENDANTS, "energy_shares", "its descendants' share of the power"),
    WATTS("combined", COMBINED, "energy_shares", "the share of both of the power"),
    OF(now.system_cpu_seconds, "seconds", "system", "CPU time of all processes of the machine since the start"),
    OF(now.main_cpu_seconds, "seconds", "cpu_time", "CPU time of the main process since the start"),
    OF(now.descendants_cpu_seconds, "seconds", "cpu_time", "CPU time of its descendants since the start"),

    PEAK(peaks.main, NULL, "peak RSS of the main process"),
    PEAK(peaks.descendants, NULL, "peak RSS of the largest single descendant"),
    PEAK(peaks.combined, NULL, "peak RAM of all together, what they share counted once"),
    PEAK(peaks.control_group, NULL, "peak that the kernel charged to a control group of these processes"),
    PEAK(gpu_peaks.main, "gpu_ram", "peak GPU RAM of the main process"),
    PEAK(gpu_peaks.descendants, "gpu_ram", "peak GPU RAM of its descendants"),
    PEAK(gpu_peaks.combined, "gpu_ram", "peak GPU RAM of all together"),
    OF(gpu_peaks.list_age_seconds, "seconds", "gpu_ram", "age of the drivers' list of processes at the last sample"),

    OF(accounting.kernel_cpu_seconds, "seconds", "kernel_cpu_time", "CPU time that the kernel counted"),
    OF(accounting.kernel_user_cpu_seconds, "seconds", "kernel_cpu_time", "of that, in user mode"),
    OF(accounting.kernel_system_cpu_seconds, "seconds", "kernel_cpu_time", "of that, in the kernel on their behalf"),
    OF(accounting.sampled_cpu_seconds, "seconds", "cpu_time", "CPU time that the samples add up to"),
    OF(accounting.captured_percent, "percent", "kernel_cpu_time", "sampled of the kernel's CPU time"),
    OF(accounting.processes_seen, NULL, "processes", "distinct processes known, main included"),
    OF(accounting.processes_missed, NULL, "processes", "processes started in the tree and not known"),
    OF(accounting.processes_missed_reason, NULL, NULL, "how the figure above is known, or why it is not"),
    OF(accounting.minor_page_faults, NULL, "counts", "page faults that needed no storage"),
    OF(accounting.major_page_faults, NULL, "counts", "page faults that needed storage"),
    OF(accounting.voluntary_context_switches, NULL, "counts", "context switches: it waited for something"),
    OF(accounting.involuntary_context_switches, NULL, "counts", "context switches: another thread got the CPU"),
    OF(accounting.read_bytes, "bytes", "counts", "read through read() and the like, cached or not"),
    OF(accounting.write_bytes, "bytes", "counts", "written through write() and the like"),
    OF(accounting.storage_read_bytes, "bytes", "counts", "fetched from storage"),
    OF(accounting.storage_write_bytes, "bytes", "written_to_storage", "written to storage, without what was dropped before"),
    OF(accounting.storage_dirtied_bytes, "bytes", "counts", "pages that were filled to be written to storage"),
    OF(accounting.system_network_received_bytes, "bytes", "network", "received by the whole system, without the loopback"),
    OF(accounting.system_network_sent_bytes, "bytes", "network", "sent by the whole system, without the loopback"),

    OF(tracker.cpu_seconds, "seconds", NULL, "CPU time of the sampler itself"),
    OF(tracker.rss_bytes, "bytes", NULL, "RAM of the tracking process"),
    OF(tracker.ticks, NULL, NULL, "samples that were taken"),
    OF(tracker.late_ticks, NULL, NULL, "samples that began more than a tenth of the interval late"),
    OF(tracker.missed_ticks, NULL, NULL, "deadlines that passed during an earlier sample"),
    OF(tracker.rows_lost, NULL, NULL, "rows that could not be written to the tracking file"),

    OF(energy.machine.package, "joules", "cpu_energy", "energy of the CPU packages, core and uncore included"),
    OF(energy.machine.core, "joules", "cpu_energy", "energy of the CPU cores"),
    OF(energy.machine.uncore, "joules", "cpu_energy", "energy of what else is in the CPU packages"),
    OF(energy.machine.dram, "joules", "cpu_energy", "energy of the RAM"),
    OF(energy.machine.psys, "joules", "cpu_energy", "energy of the platform as a whole; not in the total"),
    OF(energy.machine.gpu, "joules", "gpu_energy", "energy of all GPUs"),
    OF(energy.machine.battery, "joules", "battery", "energy drawn from batteries: the whole machine"),
    OF(energy.machine.total, "joules", "cpu_energy", "energy of the machine: package, DRAM and GPUs, as far as known"),
    OF(energy.main, "joules", "energy_shares", "the main process's share of the energy"),
    OF(energy.descendants, "joules", "energy_shares", "its descendants' share of the energy"),
    OF(energy.combined, "joules", "energy_shares", "the share of both of the energy"),
    OF(energy.unattributed, "joules", "energy_shares", "total without combined; all of it where combined is not known"),
    OF(energy.idle_share, NULL, "energy_shares", "part of the machine's CPU time, 0 to 1, in which no process ran"),
    OF(energy.mean_watts, "watts", "cpu_energy", "mean power of the total"),
    OF(energy.max_watts, "watts", "cpu_energy", "highest power of the total, over a second or more"),
    OF(energy.co2e_grams, "grams", "energy_shares", "CO2 equivalents of combined"),
    OF(energy.co2e_source, NULL, NULL, "which carbon intensity"),
};

#define GPU(member, unit, meaning) COLUMN(struct gput_gpu, member, unit, NULL, meaning)
static const struct results_column gpus[] = {
    GPU(uuid, NULL, "the driver's; where it has none, the PCI address"),
    GPU(name, NULL, "the product's name"),
    GPU(vendor, NULL, "\"nvidia\", \"amd\", \"intel\" or \"other\""),
    GPU(pci_address, NULL, "\"0000:01:00.0\"; missing when it has none"),
    GPU(selected, NULL, "1: it counts in the utilization of all GPUs"),
    GPU(ram_capacity_bytes, "bytes", "RAM of the GPU"),
    GPU(max_ram_bytes, "bytes", "RAM in use by any process (maximum)"),
    GPU(max_main_ram_bytes, "bytes", "RAM that the main process held (maximum)"),
    GPU(max_descendants_ram_bytes, "bytes", "RAM that its descendants held (maximum)"),
    GPU(max_combined_ram_bytes, "bytes", "RAM that both held (maximum): at least"),
    GPU(max_combined_ram_at_most_bytes, "bytes", "RAM that both held (maximum): at most"),
    GPU(max_utilization_percent, "percent", "use of the GPU by any process (maximum)"),
    GPU(mean_utilization_percent, "percent", "use of the GPU by any process (mean)"),
    GPU(max_main_sm_percent, "percent", "share of its processors that main kept busy (maximum)"),
    GPU(mean_main_sm_percent, "percent", "share of its processors that main kept busy (mean)"),
    GPU(max_descendants_sm_percent, "percent", "share that its descendants kept busy (maximum)"),
    GPU(mean_descendants_sm_percent, "percent", "share that its descendants kept busy (mean)"),
    GPU(max_power_watts, "watts", "power (maximum)"),
    GPU(mean_power_watts, "watts", "power (mean)"),
    GPU(now.ram_bytes, "bytes", "RAM in use by any process (last sample)"),
    GPU(now.combined_ram_bytes, "bytes", "RAM that main and its descendants hold (last sample)"),
    GPU(now.utilization_percent, "percent", "use of the GPU by any process (last sample)"),
    GPU(now.power_watts, "watts", "power (last sample)"),
    GPU(now.joules, "joules", "energy since the start"),
    GPU(missing, NULL, "figures that are missing, and why"),
};

#define SOURCE(member, meaning) COLUMN(struct gput_source, member, NULL, NULL, meaning)
static const struct results_column sources[] = {
    SOURCE(name, "the kind of figures"),
    WORD(struct gput_source, state, RESULTS_STATE, "\"exact\", \"sampled\" or \"unavailable\""),
    SOURCE(reason, "where they come from, or why they are missing"),
};

#define LIMIT(member, unit, meaning) COLUMN(struct gput_limit_passed, member, unit, NULL, meaning)
static const struct results_column limits[] = {
    LIMIT(kind_name, NULL, "\"ram\", \"gpu_ram\", \"seconds\" or \"cpu_seconds\""),
    LIMIT(value, NULL, "the limit, in bytes or seconds"),
    LIMIT(at_seconds, "seconds", "when it was passed, since the start"),
    LIMIT(enforced, NULL, "1: the command was ended for it"),
};
/* clang-format on */

/* ---- The lists ---- */

static size_t count_one(const struct gput_results *results)
{
    (void)results;
    return 1;
}

static const void *itself(const struct gput_results *results, size_t index)
{
    (void)index;
    return results;
}

static size_t count_gpus(const struct gput_results *results)
{
    return results->n_gpus;
}

static const void *gpu_at(const struct gput_results *results, size_t index)
{
    return &results->gpus[index];
}

static void *add_gpu(struct gput_results *results)
{
    if (results_reserve_gpus(results, (size_t)results->n_gpus + 1) != GPUT_OK)
        return NULL;
    return memset(&results->gpus[results->n_gpus++], 0, sizeof *results->gpus);
}

static size_t count_sources(const struct gput_results *results)
{
    return results->n_sources;
}

static const void *source_at(const struct gput_results *results, size_t index)
{
    return &results->sources[index];
}

static void *add_source(struct gput_results *results)
{
    if (results->n_sources == GPUT_MAX_SOURCES)
        return NULL;
    return &results->sources[results->n_sources++];
}

static bool has_limit(const struct gput_results *results)
{
    return results->limit.kind_name[0] != '\0';
}

static size_t count_limits(const struct gput_results *results)
{
    return has_limit(results) ? 1 + results->n_later_limits : 0;
}

static const void *limit_at(const struct gput_results *results, size_t index)
{
    return index == 0 ? &results->limit : &results->later_limits[index - 1];
}

static void *add_limit(struct gput_results *results)
{
    if (!has_limit(results))
        return &results->limit;
    if (results->n_later_limits == GPUT_LIMIT_KINDS - 1)
        return NULL;
    return &results->later_limits[results->n_later_limits++];
}

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const struct results_list lists[] = {
    {"results", record, COUNT_OF(record), count_one, itself, NULL},
    {"gpus", gpus, COUNT_OF(gpus), count_gpus, gpu_at, add_gpu},
    {"sources", sources, COUNT_OF(sources), count_sources, source_at, add_source},
    {"limits_passed", limits, COUNT_OF(limits), count_limits, limit_at, add_limit},
};

const struct results_list *results_lists(size_t *count)
{
    *count = COUNT_OF(lists);
    return lists;
}

const struct results_column *results_column_find(
    const struct results_list *list, const char *name, size_t length, size_t *hint)
{
    for (size_t i = 0; i < list->n_columns; i++) {
        size_t at = (*hint + i) % list->n_columns;
        const char *candidate = list->columns[at].description.name;
        if (strlen(candidate) == length && memcmp(candidate, name, length) == 0) {
            *hint = at + 1;
            return &list->columns[at];
        }
    }
    return NULL;
}

/* ---- Values ---- */

double results_column_number(const struct results_column *column, const void *item)
{
    const char *at = (const char *)item + column->offset;
    double real = NAN;
    uint32_t narrow;
    uint64_t wide;
    switch (column->kind) {
    case RESULTS_DOUBLE:
        memcpy(&real, at, sizeof real);
        return real;
    case RESULTS_COUNT_32:
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    case RESULTS_COUNT_64:
        memcpy(&wide, at, sizeof wide);
        return (double)wide;
    case RESULTS_FLAG:
        return *(const bool *)at;
    default:
        return NAN;
    }
}

/* The word of an enum; NULL for all others. */
static const char *word_of(enum results_kind kind, int value)
{
    switch (kind) {
    case RESULTS_RAM_UNIT:
        return gput_ram_unit_name((enum gput_ram_unit)value);
    case RESULTS_TIME_UNIT:
        return gput_time_unit_name((enum gput_time_unit)value);
    case RESULTS_ENERGY_UNIT:
        return gput_energy_unit_name((enum gput_energy_unit)value);
    case RESULTS_STATE:
        return gput_source_state_name((enum gput_source_state)value);
    default:
        return NULL;
    }
}

static int count_words(enum results_kind kind)
{
    switch (kind) {
    case RESULTS_RAM_UNIT:
        return GPUT_TERABYTES + 1;
    case RESULTS_TIME_UNIT:
        return GPUT_DAYS + 1;
    case RESULTS_ENERGY_UNIT:
        return GPUT_KILOWATT_HOURS + 1;
    case RESULTS_STATE:
        return GPUT_SOURCE_UNAVAILABLE + 1;
    default:
        return 0;
    }
}

const char *results_column_text(const struct results_column *column, const void *item)
{
    const char *at = (const char *)item + column->offset;
    int value;
    if (column->kind == RESULTS_TEXT)
        return at;
    if (column->kind < RESULTS_TEXT)
        return "";
    memcpy(&value, at, sizeof value);
    return word_of(column->kind, value);
}

void results_column_set_number(const struct results_column *column, void *item, double value)
{
    char *at = (char *)item + column->offset;
    uint32_t narrow;
    uint64_t wide;
    if (column->kind == RESULTS_DOUBLE) {
        memcpy(at, &value, sizeof value);
    } else if (column->kind == RESULTS_FLAG) {
        *(bool *)at = value == 1;
    } else if (column->kind == RESULTS_COUNT_32 && value >= 0 && value <= UINT32_MAX) {
        narrow = (uint32_t)value;
        memcpy(at, &narrow, sizeof narrow);
    } else if (column->kind == RESULTS_COUNT_64 && value >= 0 && value < 0x1p64) {
        wide = (uint64_t)value;
        memcpy(at, &wide, sizeof wide);
    }
}

void results_column_set_text(
    const struct results_column *column, void *item, const char *text, size_t length)
{
    char *at = (char *)item + column->offset;
    if (column->kind == RESULTS_TEXT)
        text_fit(at, column->size, "%.*s", (int)length, text);
    for (int i = 0; i < count_words(column->kind); i++) {
        const char *word = word_of(column->kind, i);
        if (strlen(word) == length && memcmp(word, text, length) == 0)
            memcpy(at, &i, sizeof i);
    }
}

/* ---- Access by name ---- */

static const struct results_column *find(size_t list, const char *name)
{
    size_t hint = 0;
    return results_column_find(&lists[list], name, strlen(name), &hint);
}

static double number_of(size_t list, const char *name, const void *item)
{
    const struct results_column *column = find(list, name);
    return column ? results_column_number(column, item) : NAN;
}

static const char *text_of(size_t list, const char *name, const void *item)
{
    const struct results_column *column = find(list, name);
    return column ? results_column_text(column, item) : "";
}

enum { RECORD, GPUS }; /* of the lists */

size_t gput_results_column_count(void)
{
    return COUNT_OF(record);
}

const struct gput_results_column *gput_results_column(size_t index)
{
    return &record[index].description;
}

double gput_results_number(const struct gput_results *results, const char *column)
{
    return number_of(RECORD, column, results);
}

const char *gput_results_text(const struct gput_results *results, const char *column)
{
    return text_of(RECORD, column, results);
}

size_t gput_results_gpu_count(const struct gput_results *results)
{
    return results->n_gpus;
}

double gput_results_gpu_number(const struct gput_results *results, size_t gpu, const char *column)
{
    return gpu < results->n_gpus ? number_of(GPUS, column, &results->gpus[gpu]) : NAN;
}

const char *gput_results_gpu_text(
    const struct gput_results *results, size_t gpu, const char *column)
{
    return gpu < results->n_gpus ? text_of(GPUS, column, &results->gpus[gpu]) : "";
}
