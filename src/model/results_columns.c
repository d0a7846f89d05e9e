#include "model/results_columns.h"

#include "base/text.h"
#include "model/measurement_list.h"

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
            MEMBER(type, member), NULL, SHOWN_NUMBER                                               \
    }
/* An enum, by its words. */
#define WORD(type, member, kind, meaning)                                                          \
    {                                                                                              \
        {#member, NULL, NULL, meaning, GPUT_COLUMN_TEXT}, kind, MEMBER(type, member), NULL,        \
            SHOWN_NUMBER                                                                           \
    }

/* clang-format off */
#define OF(member, unit, source, meaning) COLUMN(struct gput_results, member, unit, source, meaning)

/* The maximum, mean and last value of a measurement. */
#define MEASURED_AS(family, name, member, unit, source, meaning) \
    {{family "." name, unit, source, meaning, GPUT_COLUMN_DOUBLE}, RESULTS_DOUBLE, \
        MEMBER(struct gput_results, member), NULL, SHOWN_NUMBER}
#define MEASURED(ID, name, unit, source, meaning) \
    MEASURED_AS("max", name, max[GPUT_##ID], unit, source, meaning " (maximum)"), \
    MEASURED_AS("mean", name, mean[GPUT_##ID], unit, source, meaning " (mean)"), \
    MEASURED_AS("now", name, now.values[GPUT_##ID], unit, source, meaning " (last sample)")

#define UNIT_RAM "bytes"
#define UNIT_GPU_RAM "bytes"
#define UNIT_PERCENT "percent"
#define UNIT_COUNT NULL
#define MEASUREMENT(ID, name, QUANTITY, OVER, read_from, source, label, group, scope, meaning) \
    MEASURED(ID, name, UNIT_##QUANTITY, source, meaning),

#define WATTS(name, ID, source, meaning) \
    MEASURED_AS("now.watts", name, now.watts[GPUT_ENERGY_##ID], "watts", source, meaning " (the last second or more)")

/* A column that reports have at a path, which is also its name. Where reports use the session's
 * unit, the name here ends in the base unit. */
#define SUFFIX_NUMBER
#define SUFFIX_WHOLE
#define SUFFIX_AT_LEAST
#define SUFFIX_WHOLE_AT_LEAST
#define SUFFIX_RAM "_bytes"
#define SUFFIX_GPU_RAM "_bytes"
#define SUFFIX_ENERGY "_joules"
#define SUFFIX_ENERGY_TOTAL "_joules"
#define AT(path, SHOWN, member, unit, source, meaning) \
    {{path SUFFIX_##SHOWN, unit, source, meaning, TYPE_OF(struct gput_results, member)}, \
        KIND_OF(struct gput_results, member), MEMBER(struct gput_results, member), path, SHOWN_##SHOWN}

#define PEAK(SHOWN, member, source_name, meaning) \
    AT(#member, SHOWN, member.bytes, "bytes", source_name, meaning ": it was at least this"), \
    AT(#member "_at_most", SHOWN, member.at_most_bytes, "bytes", source_name, \
        meaning ": and at most this, the same when it is exact"), \
    AT(#member "_source", NUMBER, member.source, NULL, NULL, meaning ": where it comes from")

#define CONTROL_GROUP_PEAK "peak that the kernel charged to a control group of these processes"

#define IDENTITY_TEXT(member, size, path, meaning) AT(path, NUMBER, identity.member, NULL, NULL, meaning),
#define IDENTITY_NUMBER(member, path, meaning) AT(path, WHOLE, identity.member, NULL, NULL, meaning),

/* Where wall time went: one column for each cause. */
#define WALL_COLUMN(path, member, ID, name, meaning) \
    AT(path "." #name "_seconds", NUMBER, member.seconds_of[WALL_##ID], "seconds", "time_went", meaning),
#define TIME_WENT(ID, name, word, meaning) WALL_COLUMN("time_went", time_went, ID, name, meaning)
#define MAIN_THREAD(ID, name, word, meaning) WALL_COLUMN("main_thread", main_thread, ID, name, meaning)
#define OTHER_THREADS(ID, name, word, meaning) WALL_COLUMN("other_threads", other_threads, ID, name, meaning)
#define GPU_IDLE(ID, name, word, meaning) WALL_COLUMN("gpu_idle", gpu_idle, ID, name, meaning)
#define GPU_IDLE_OTHERS(ID, name, word, meaning) WALL_COLUMN("gpu_idle_others", gpu_idle_others, ID, name, meaning)
#define WALL_OF(path, member, CAUSE, meaning) \
    AT(path ".seconds", NUMBER, member.seconds, "seconds", "time_went", meaning), \
    WALL_CAUSES(CAUSE) \
    AT(path ".samples", WHOLE, member.samples, NULL, "time_went", "samples that divide what is not counted"),

#define PRESSURE_OF(path, member, tasks, ID, name, what) \
    AT(path "." #name "_some_seconds", NUMBER, member.some_seconds[PRESSURE_##ID], "seconds", "pressure", "how long some tasks" tasks "waited for " what), \
    AT(path "." #name "_full_seconds", NUMBER, member.full_seconds[PRESSURE_##ID], "seconds", "pressure", "how long all tasks" tasks "that could have run waited for " what),
#define SYSTEM_PRESSURE(ID, name, what) PRESSURE_OF("pressure.system", system_pressure, " ", ID, name, what)
#define GROUP_PRESSURE(ID, name, what) PRESSURE_OF("pressure.group", group_pressure, " of the command's control group ", ID, name, what)

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
    IDENTITY(IDENTITY_TEXT, IDENTITY_NUMBER)
    AT("allowed.ram", RAM, static_data.allowed_ram_bytes, "bytes", NULL, "the least that control groups above main, Slurm and --limit allow, where that is less than the machine has"),
    AT("allowed.cores", NUMBER, static_data.allowed_cores, NULL, NULL, "the least that CPU affinity, control groups and Slurm allow, where that is less than the machine has"),
    AT("allowed.affinity_cores", NUMBER, allowed.affinity_cores, NULL, NULL, "CPU affinity of main"),
    AT("allowed.quota_cores", NUMBER, allowed.quota_cores, NULL, NULL, "CPU quota of the control groups above main"),
    AT("allowed.cpuset_cores", NUMBER, allowed.cpuset_cores, NULL, NULL, "cpuset of the control groups above main"),
    AT("allowed.memory_max", RAM, allowed.memory_max_bytes, "bytes", NULL, "tightest memory limit of the control groups above main"),
    AT("allowed.swap_max", RAM, allowed.swap_max_bytes, "bytes", NULL, "tightest limit of swap of these"),
    AT("allowed.pids_max", WHOLE, allowed.pids_max, NULL, NULL, "tightest limit of processes and threads of these"),
    AT("allowed.slurm_cores", NUMBER, allowed.slurm_cores, NULL, NULL, "what Slurm allocated on this machine"),
    AT("allowed.slurm_ram", RAM, allowed.slurm_ram_bytes, "bytes", NULL, "what Slurm allocated on this machine"),
    AT("allowed.limit_ram", RAM, allowed.limit_ram_bytes, "bytes", NULL, "limit that the user set (--limit ram=8GB)"),
    AT("allowed.gpus", WHOLE, allowed.gpus, NULL, NULL, "GPUs that the command sees (CUDA_VISIBLE_DEVICES and the like)"),
    AT("allowed.named_gpus", WHOLE, allowed.named_gpus, NULL, NULL, "GPUs selected by --guuids"),
    OF(elapsed_seconds, "seconds", NULL, "wall time from the start to the last sample"),

    MEASUREMENTS(MEASUREMENT)
    WATTS("package", PACKAGE, "cpu_energy", "power of the CPU packages"),
    WATTS("core", CORE, "cpu_energy", "power of the CPU cores"),
    WATTS("uncore", UNCORE, "cpu_energy", "power of what else is in the CPU packages"),
    WATTS("dram", DRAM, "cpu_energy", "power of the RAM"),
    WATTS("psys", PSYS, "cpu_energy", "power of the platform as a whole"),
    WATTS("gpu", GPU, "gpu_energy", "power of all GPUs"),
    WATTS("total", TOTAL, "cpu_energy", "power of CPU packages, DRAM and GPUs, as far as known"),
    WATTS("main", MAIN, "energy_shares", "the main process's share of the power"),
    WATTS("descendants", DESCENDANTS, "energy_shares", "its descendants' share of the power"),
    WATTS("combined", COMBINED, "energy_shares", "the share of both of the power"),
    OF(now.system_cpu_seconds, "seconds", "system", "CPU time of all processes of the machine since the start"),
    OF(now.main_cpu_seconds, "seconds", "cpu_time", "CPU time of the main process since the start"),
    OF(now.descendants_cpu_seconds, "seconds", "cpu_time", "CPU time of its descendants since the start"),

    PEAK(RAM, peaks.main, NULL, "peak RSS of the main process"),
    PEAK(RAM, peaks.descendants, NULL, "peak RSS of the largest single descendant"),
    PEAK(RAM, peaks.combined, NULL, "peak RAM of all together, shared memory counted once"),
    AT("peaks.control_group", RAM, peaks.control_group.bytes, "bytes", NULL, CONTROL_GROUP_PEAK ": it was at least this"),
    MEASURED_AS("peaks", "control_group_at_most_bytes", peaks.control_group.at_most_bytes, "bytes", NULL, CONTROL_GROUP_PEAK ": and at most this, the same when it is exact"),
    AT("peaks.control_group_source", NUMBER, peaks.control_group.source, NULL, NULL, CONTROL_GROUP_PEAK ": where it comes from"),
    PEAK(RAM, peaks.limit_group, NULL, "peak that the kernel charged to the control group with the tightest memory limit"),
    PEAK(GPU_RAM, gpu_peaks.main, "gpu_ram", "peak GPU RAM of the main process"),
    PEAK(GPU_RAM, gpu_peaks.descendants, "gpu_ram", "peak GPU RAM of its descendants"),
    PEAK(GPU_RAM, gpu_peaks.combined, "gpu_ram", "peak GPU RAM of all together"),
    AT("gpu_peaks.list_age_seconds", NUMBER, gpu_peaks.list_age_seconds, "seconds", "gpu_ram", "age of the drivers' list of processes at the last sample"),
    AT("gpu_peaks.late_list_seconds", NUMBER, gpu_peaks.late_list_seconds, "seconds", "gpu_ram", "age of the oldest list at a sample at which the memory in use had changed since; 0: lists came in time"),

    AT("accounting.cpu_seconds.kernel", NUMBER, accounting.kernel_cpu_seconds, "seconds", "kernel_cpu_time", "CPU time that the kernel counted"),
    AT("accounting.cpu_seconds.kernel_user", NUMBER, accounting.kernel_user_cpu_seconds, "seconds", "cpu_split", "of that, in user mode"),
    AT("accounting.cpu_seconds.kernel_system", NUMBER, accounting.kernel_system_cpu_seconds, "seconds", "cpu_split", "of that, in the kernel on their behalf"),
    AT("accounting.cpu_seconds.sampled", NUMBER, accounting.sampled_cpu_seconds, "seconds", "cpu_time", "CPU time that the samples add up to"),
    AT("accounting.cpu_seconds.captured_percent", NUMBER, accounting.captured_percent, "percent", "kernel_cpu_time", "share of the kernel's CPU time that samples saw"),
    AT("accounting.cpu_seconds.short_lived", AT_LEAST, accounting.short_lived_cpu_seconds, "seconds", "process_ends", "CPU time of processes that lived for less than 50 ms: at least"),
    AT("accounting.run_queue.wait_seconds", NUMBER, accounting.run_queue_wait_seconds, "seconds", "run_queue", "time that threads were ready to run and waited for a CPU, of all threads together"),
    AT("accounting.run_queue.run_seconds", NUMBER, accounting.run_queue_run_seconds, "seconds", "run_queue", "time that the same threads ran"),
    AT("accounting.processes.seen", NUMBER, accounting.processes_seen, NULL, "processes", "distinct processes known, main included"),
    AT("accounting.processes.missed", WHOLE, accounting.processes_missed, NULL, "processes", "processes started in the tree and not known"),
    AT("accounting.processes.missed_reason", NUMBER, accounting.processes_missed_reason, NULL, NULL, "how the figure above is known, or why it is not"),
    AT("accounting.processes.short_lived", WHOLE_AT_LEAST, accounting.short_lived_processes, NULL, "process_ends", "processes that lived for less than 50 ms: at least"),
    AT("accounting.processes.left_running", WHOLE, accounting.left_running, NULL, "processes", "descendants that had not ended when main had, or up to 50 ms later"),
    AT("accounting.processes.oom_killed", WHOLE, accounting.oom_killed, NULL, NULL, "processes of its control group that the kernel killed because memory ran out"),
    AT("accounting.processes.oom_killed_reason", NUMBER, accounting.oom_killed_reason, NULL, NULL, "which group the figure above is of, or why it is not known"),
    AT("accounting.max_swapped", RAM, max[GPUT_COMBINED_SWAPPED_RAM], "bytes", "swap", "highest memory of main and descendants together that was in swap"),
    AT("accounting.page_faults.minor", WHOLE, accounting.minor_page_faults, NULL, "counts", "page faults that needed no storage"),
    AT("accounting.page_faults.major", WHOLE, accounting.major_page_faults, NULL, "counts", "page faults that needed storage"),
    AT("accounting.context_switches.voluntary", WHOLE, accounting.voluntary_context_switches, NULL, "counts", "context switches: it waited for something"),
    AT("accounting.context_switches.involuntary", WHOLE, accounting.involuntary_context_switches, NULL, "counts", "context switches: another thread got the CPU"),
    AT("accounting.bytes.read", WHOLE, accounting.read_bytes, "bytes", "bytes", "read through read() and the like, cached or not; not what sockets received by recv()"),
    AT("accounting.bytes.written", WHOLE, accounting.write_bytes, "bytes", "bytes", "written through write() and the like; not what sockets sent by send()"),
    AT("accounting.bytes.read_from_storage", WHOLE, accounting.storage_read_bytes, "bytes", "counts", "fetched from storage"),
    AT("accounting.bytes.written_to_storage", WHOLE, accounting.storage_write_bytes, "bytes", "written_to_storage", "written to storage, without data dropped before it got there"),
    MEASURED_AS("accounting.bytes", "dirtied", accounting.storage_dirtied_bytes, "bytes", "counts", "pages dirtied to be written to storage"),
    AT("accounting.bytes.system_network_received", WHOLE, accounting.system_network_received_bytes, "bytes", "network", "received by the whole system, without the loopback"),
    AT("accounting.bytes.system_network_sent", WHOLE, accounting.system_network_sent_bytes, "bytes", "network", "sent by the whole system, without the loopback"),

    WALL_OF("time_went", time_went, TIME_WENT, "wall time of the main thread, with what its children did while it waited for them")
    AT("time_went.programs", NUMBER, programs, NULL, "time_went", "the programs whose threads ran most: on a CPU, of the time that these threads lived"),
    AT("time_went.awaited", NUMBER, awaited, NULL, "time_went", "who waited for whom in pipes, and what these did meanwhile"),
    WALL_OF("main_thread", main_thread, MAIN_THREAD, "wall time of the main thread")
    WALL_OF("other_threads", other_threads, OTHER_THREADS, "wall time of all other threads, together")
    WALL_OF("gpu_idle", gpu_idle, GPU_IDLE, "what the main thread did while no GPU was busy")
    WALL_OF("gpu_idle_others", gpu_idle_others, GPU_IDLE_OTHERS, "what all other threads did while no GPU was busy, their times added up")
    AT("gpu_idle.known_seconds", NUMBER, gpu_known_seconds, "seconds", "time_went", "for how long it was known whether a GPU was busy"),
    PRESSURES(SYSTEM_PRESSURE)
    PRESSURES(GROUP_PRESSURE)
    AT("tracker.cpu_seconds", NUMBER, tracker.cpu_seconds, "seconds", NULL, "CPU time of the sampler itself"),
    AT("tracker.rss", RAM, tracker.rss_bytes, "bytes", NULL, "RAM of the tracking process"),
    AT("tracker.ticks", NUMBER, tracker.ticks, NULL, NULL, "samples that were taken"),
    AT("tracker.late_ticks", NUMBER, tracker.late_ticks, NULL, NULL, "samples that began more than a tenth of the interval late"),
    AT("tracker.missed_ticks", NUMBER, tracker.missed_ticks, NULL, NULL, "deadlines that passed during an earlier sample"),
    AT("tracker.rows_lost", NUMBER, tracker.rows_lost, NULL, NULL, "rows that could not be written to the tracking file"),
    AT("tracker.contradictions", NUMBER, tracker.contradictions, NULL, NULL, "claims that were withdrawn because figures contradicted each other: bugs, please report them"),
    AT("tracker.metrics_lost", WHOLE, tracker.metrics_lost, NULL, NULL, "samples that receivers did not accept; missing: there is no receiver"),
    AT("tracker.node_seconds", NUMBER, tracker.node_seconds, "seconds", NULL, "how long it read figures of the machine, which only one tracker of a job does on each machine; missing: it is the only one"),

    AT("energy.machine.package", ENERGY, energy.machine.package, "joules", "cpu_energy", "energy of the CPU packages, core and uncore included"),
    AT("energy.machine.core", ENERGY, energy.machine.core, "joules", "cpu_energy", "energy of the CPU cores"),
    AT("energy.machine.uncore", ENERGY, energy.machine.uncore, "joules", "cpu_energy", "energy of what else is in the CPU packages"),
    AT("energy.machine.dram", ENERGY, energy.machine.dram, "joules", "cpu_energy", "energy of the RAM"),
    AT("energy.machine.psys", ENERGY, energy.machine.psys, "joules", "cpu_energy", "energy of the platform as a whole; not in the total"),
    AT("energy.machine.gpu", ENERGY, energy.machine.gpu, "joules", "gpu_energy", "energy of all GPUs"),
    AT("energy.machine.battery", ENERGY, energy.machine.battery, "joules", "battery", "energy drawn from batteries: the whole machine"),
    AT("energy.machine.total", ENERGY_TOTAL, energy.machine.total, "joules", "cpu_energy", "energy of CPU packages, DRAM and GPUs, as far as known; of the battery where packages have no counter"),
    AT("energy.main", ENERGY, energy.main, "joules", "energy_shares", "the main process's share of the energy"),
    AT("energy.descendants", ENERGY, energy.descendants, "joules", "energy_shares", "its descendants' share of the energy"),
    AT("energy.combined", ENERGY, energy.combined, "joules", "energy_shares", "the share of both of the energy"),
    AT("energy.unattributed", ENERGY, energy.unattributed, "joules", "energy_shares", "total without combined; all of it where combined is not known"),
    AT("energy.idle_share", NUMBER, energy.idle_share, NULL, "energy_shares", "part of the machine's CPU time, 0 to 1, in which no process ran"),
    AT("energy.mean_watts", NUMBER, energy.mean_watts, "watts", "cpu_energy", "mean power of the total"),
    AT("energy.max_watts", NUMBER, energy.max_watts, "watts", "cpu_energy", "highest power of the total, over a second or more"),
    AT("energy.co2e_grams", NUMBER, energy.co2e_grams, "grams", "energy_shares", "CO2 equivalents of combined"),
    AT("energy.co2e_source", NUMBER, energy.co2e_source, NULL, NULL, "which carbon intensity"),
};

#define GPU_AT(path, SHOWN, member, unit, meaning) \
    {{#member, unit, NULL, meaning, TYPE_OF(struct gput_gpu, member)}, KIND_OF(struct gput_gpu, member), \
        MEMBER(struct gput_gpu, member), path, SHOWN_##SHOWN}
#define GPU(member, unit, meaning) GPU_AT(#member, NUMBER, member, unit, meaning)
#define GPU_BYTES(key, meaning) GPU_AT(#key, GPU_RAM, key##_bytes, "bytes", meaning)
/* Not in reports. */
#define GPU_ALONE(member, unit, meaning) GPU_AT(NULL, NUMBER, member, unit, meaning)
#define CARD(member, FIGURE, how, unit, meaning) GPU(member, unit, meaning),
#define CARD_NOW(member, FIGURE, unit, meaning) GPU_ALONE(now.member, unit, meaning),
static const struct results_column gpus[] = {
    GPU(uuid, NULL, "the driver's; where it has none, the PCI address"),
    GPU(name, NULL, "the product's name"),
    GPU(vendor, NULL, "\"nvidia\", \"amd\", \"intel\" or \"other\""),
    GPU(pci_address, NULL, "\"0000:01:00.0\"; missing when it has none"),
    GPU(selected, NULL, "1: it counts in the utilization of all GPUs"),
    GPU_BYTES(ram_capacity, "RAM of the GPU"),
    GPU_BYTES(max_ram, "RAM in use by any process (maximum)"),
    GPU_BYTES(max_main_ram, "RAM that the main process held (maximum)"),
    GPU_BYTES(max_descendants_ram, "RAM that its descendants held (maximum)"),
    GPU_BYTES(max_combined_ram, "RAM that both held (maximum): at least"),
    GPU_BYTES(max_combined_ram_at_most, "RAM that both held (maximum): at most"),
    GPU(max_utilization_percent, "percent", "use of the GPU by any process (maximum)"),
    GPU(mean_utilization_percent, "percent", "use of the GPU by any process (mean)"),
    GPU(max_main_sm_percent, "percent", "share of its processors that main kept busy (maximum)"),
    GPU(mean_main_sm_percent, "percent", "share of its processors that main kept busy (mean)"),
    GPU(max_descendants_sm_percent, "percent", "share that its descendants kept busy (maximum)"),
    GPU(mean_descendants_sm_percent, "percent", "share that its descendants kept busy (mean)"),
    GPU(max_power_watts, "watts", "power (maximum)"),
    GPU(mean_power_watts, "watts", "power (mean)"),
    CARD_RESULTS(CARD)
    GPU(parts, NULL, "how busy parts of the chip were, and what that says of the program"),
    GPU(slowed_by, NULL, "what slowed it although it had work, and for how long"),
    GPU(health, NULL, "what changed for the worse from the first reading to the last"),
    GPU(first_reading_seconds, "seconds", "when its figures were first read, after the start; negative: before it"),
    GPU(last_reading_seconds, "seconds", "when its figures were last read, after the start"),
    GPU_ALONE(now.ram_bytes, "bytes", "RAM in use by any process (last sample)"),
    GPU_ALONE(now.combined_ram_bytes, "bytes", "RAM that main and its descendants hold (last sample)"),
    GPU_ALONE(now.utilization_percent, "percent", "use of the GPU by any process (last sample)"),
    GPU_ALONE(now.power_watts, "watts", "power (last sample)"),
    CARD_RESULTS_NOW(CARD_NOW)
    GPU_AT("energy_joules", NUMBER, now.joules, "joules", "energy since the start"),
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
    LIMIT(at_seconds, "seconds", "when it was exceeded, since the start"),
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
    if (results->n_later_limits == GPUT_LIMIT_KIND_COUNT - 1)
        return NULL;
    return &results->later_limits[results->n_later_limits++];
}

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum { RECORD, GPUS }; /* indices of the lists */

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

const struct results_list *results_gpu_list(void)
{
    return &lists[GPUS];
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

/* Returns the word of an enum; NULL for other kinds. */
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

/* Returns how many words a column of that kind can have. */
static int count_words(enum results_kind kind)
{
    switch (kind) {
    case RESULTS_RAM_UNIT:
        return GPUT_RAM_UNIT_TERABYTES + 1;
    case RESULTS_TIME_UNIT:
        return GPUT_TIME_UNIT_DAYS + 1;
    case RESULTS_ENERGY_UNIT:
        return GPUT_ENERGY_UNIT_KILOWATT_HOURS + 1;
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

void results_forget_numbers(const struct results_list *list, void *item)
{
    for (size_t i = 0; i < list->n_columns; i++) {
        if (list->columns[i].kind == RESULTS_DOUBLE)
            results_column_set_number(&list->columns[i], item, NAN);
    }
}

void results_forget(struct gput_results *results)
{
    results->mpi_seconds = NAN;
    results_forget_numbers(&lists[RECORD], results);
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

size_t gput_results_column_count(void)
{
    return COUNT_OF(record);
}

const struct gput_results_column *gput_results_column(size_t index)
{
    return index < COUNT_OF(record) ? &record[index].description : NULL;
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
