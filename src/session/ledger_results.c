/*
 * From samples and totals to results.
 */
#include "session/ledger.h"
#include "session/results_check.h"

#include "base/clock.h"
#include "base/text.h"
#include "gpu/set.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- sources ---- */

void ledger_add_source(struct gput_results *results, const char *name, enum gput_source_state state,
    const char *format, ...)
{
    char reason[GPUT_REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    text_fit_list(reason, sizeof reason, format, arguments);
    va_end(arguments);
    results_add_source(results, name, state, reason);
}

static void add_ram_source(const struct ledger *ledger, struct gput_results *results)
{
    const struct ram_meter *ram = ledger->snapshot->ram;
    char hugetlb[64] = "", unread[96] = "";
    if (ram->unread_bytes)
        snprintf(unread, sizeof unread,
            "; some had to wait: up to %.0f MB of a tick may be missing",
            (double)ram->unread_bytes / 1e6);
    if (ram->readings.hugetlb_bytes)
        snprintf(hugetlb, sizeof hugetlb, "; without hugetlb pages (%.0f MB of one process)",
            (double)ram->readings.hugetlb_bytes / 1e6);
    if (ram->readings.refused)
        ledger_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "at least: memory maps of %llu of %llu processes may not be read; of statm, what they "
            "may share counts once%s",
            (unsigned long long)ram->readings.refused,
            (unsigned long long)ledger->snapshot->tree->seen, hugetlb);
    else if (ram->readings.unlimited)
        ledger_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "memory maps of every process at each tick%s", hugetlb);
    else
        ledger_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "%sstatm at each tick, memory maps when more than 1 %% can have changed (%llu "
            "readings)%s%s",
            ram->unread_bytes ? "at least: " : "", (unsigned long long)ram->readings.count, unread,
            hugetlb);
}

/* Why figures counted up to the end are missing; NULL: they are not. */
static const char *why_not_counted(const struct ledger *ledger)
{
    if (ledger->settings->mode != SESSION_LAUNCHED)
        return ledger->has_ended ? NULL : "it is read when tracking ends, and that had not ended";
    if (ledger->collected.has_main_usage)
        return NULL;
    return ledger->main_end_is_reported
               ? "the kernel gives it once, and somebody else collected the command: the caller "
                 "waits for any child, or ignores SIGCHLD"
               : "the kernel gives it when the command ends, and it had not ended";
}

/* What is known of processes that were not collected; "" where there are none. */
static void explain_others_cpu(
    const struct ledger *ledger, const struct exactness *exactness, char *text, size_t size)
{
    bool has_group = ledger->settings->mode != SESSION_SELF &&
                     !isnan(ledger->collected.cgroup_usage.cpu_seconds);
    text[0] = '\0';
    if (exactness->has_auto_reaped && !exactness->cpu && !has_group)
        snprintf(text, size, "; of those that were not waited for, what %s",
            ledger->events->has_exit_records
                ? "samples saw or the kernel gave at their ends (taskstats)"
                : "samples saw");
    else if (exactness->collected_ns)
        snprintf(text, size,
            "; of those that live on, clocks as of the last sample, and what they collected in "
            "clock ticks: up to %.0f ms less",
            (double)exactness->collected_ns / 1e6);
    else if (process_log_descendants(&ledger->log).has_living)
        snprintf(text, size, "; of those that live on, clocks as of the last sample");
}

/* For figures collected by us or our children. */
static void add_kernel_cpu_source(
    const struct ledger *ledger, const struct exactness *exactness, struct gput_results *results)
{
    const char *how = "wait4 of the command and of its orphans, with all that they waited for";
    char others[160], why_not[192] = "";
    if (ledger->settings->mode == SESSION_SELF)
        how = "getrusage of this process and of the children it waited for";
    else if (!isnan(ledger->collected.cgroup_usage.cpu_seconds))
        how = "wait4 of the command and of its orphans, or a control group of its own where that "
              "saw more: it also counts those that were not waited for, unless they left it";
    explain_others_cpu(ledger, exactness, others, sizeof others);
    if (!exactness->cpu && exactness->why_not)
        snprintf(
            why_not, sizeof why_not, "; that this is all is not proven: %s", exactness->why_not);
    ledger_add_source(results, "kernel_cpu_time",
        exactness->cpu ? GPUT_SOURCE_EXACT : GPUT_SOURCE_SAMPLED, "%s%s%s%s",
        exactness->cpu ? "" : "at least: ", how, why_not, others);
}

static void add_cpu_sources(
    const struct ledger *ledger, const struct exactness *exactness, struct gput_results *results)
{
    const char *why_not = why_not_counted(ledger);
    if (ledger->snapshot->tree->view.has_cpu_clocks)
        ledger_add_source(results, "cpu_time", GPUT_SOURCE_SAMPLED,
            "CPU clocks of the processes, exact as of each tick, and what parents collected from "
            "ended children; of children that were not waited for, what each had at its last tick "
            "(captured_percent: how much of it all is there)");
    else
        ledger_add_source(results, "cpu_time", GPUT_SOURCE_SAMPLED,
            "stat of each process at each tick, in clock ticks: pids of this procfs are not our "
            "own");
    if (ledger->settings->mode == SESSION_ATTACHED && !ledger->events->has_exit_records)
        ledger_add_source(results, "kernel_cpu_time", GPUT_SOURCE_UNAVAILABLE,
            "the kernel gives it to the parent alone; use `gpu-tracker run` to have it");
    else if (why_not)
        ledger_add_source(results, "kernel_cpu_time", GPUT_SOURCE_UNAVAILABLE, "%s", why_not);
    else if (ledger->settings->mode == SESSION_ATTACHED)
        ledger_add_source(results, "kernel_cpu_time", GPUT_SOURCE_SAMPLED,
            "at least: CPU clocks, and what parents collected or the kernel gave at each "
            "process's end (taskstats)");
    else
        add_kernel_cpu_source(ledger, exactness, results);
}

static void add_process_source(const struct ledger *ledger, struct gput_results *results)
{
    const struct session_events *events = ledger->events;
    if (events->has_events && process_log_has_all(&ledger->log))
        ledger_add_source(results, "processes", GPUT_SOURCE_EXACT,
            "announced by the kernel (process connector), and scanned at each tick");
    else if (events->has_events)
        ledger_add_source(results, "processes", GPUT_SOURCE_SAMPLED,
            "scanned at each tick; the kernel announced more than were read in time");
    else
        ledger_add_source(results, "processes", GPUT_SOURCE_SAMPLED, "scanned at each tick; %s; %s",
            events->why_no_events,
            ledger->settings->mode == SESSION_LAUNCHED
                ? "of those that lived between two ticks CPU time is known"
                : "orphans of unseen parents are lost");
    if (events->has_exit_records)
        ledger_add_source(results, "process_ends", GPUT_SOURCE_SAMPLED,
            "taskstats: peak RSS; at least: bytes (less up to 1023 a thread), CPU time (less what "
            "a "
            "thread used since its last scheduler tick, and for giving back memory)");
    else
        ledger_add_source(
            results, "process_ends", GPUT_SOURCE_UNAVAILABLE, "%s", events->why_no_exit_records);
}

static void add_attached_counts_source(const struct ledger *ledger, struct gput_results *results)
{
    bool is_refused = isnan(results->accounting.read_bytes);
    if (ledger->events->has_exit_records)
        ledger_add_source(results, "counts", GPUT_SOURCE_SAMPLED,
            "at least: %s of living threads since the beginning, and what the kernel gave at the "
            "end of others (taskstats: bytes less up to 1023 a thread, and nothing of the end "
            "itself)",
            is_refused ? "stat and status (io may not be read)" : "stat, status and io");
    else
        ledger_add_source(results, "counts", GPUT_SOURCE_SAMPLED,
            "at least: faults%s as of the last sample, and what parents collected; context "
            "switches of threads that ended are given to the parent alone",
            is_refused ? " (io may not be read)" : " and bytes");
}

/* For figures collected by us or our children, and those of other processes. */
static void add_collected_counts_source(
    const struct ledger *ledger, const struct exactness *exactness, struct gput_results *results)
{
    const struct session_counts *counts = &ledger->collected.counts;
    bool is_short = !exactness->counts;
    char living[160] = "", why_not[192] = "", without_io[96] = "";
    if (is_short && ledger->events->has_exit_records)
        snprintf(living, sizeof living,
            "; of those that live on or were not waited for, what the kernel gave at their ends "
            "(taskstats; bytes less up to 1023 a thread) or gives now");
    else if (counts->living)
        snprintf(living, sizeof living,
            "; of %u that live on, stat and io, but no context switches", counts->living);
    if (exactness->why_not)
        snprintf(
            why_not, sizeof why_not, "; that this is all is not proven: %s", exactness->why_not);
    if (counts->without_io)
        snprintf(without_io, sizeof without_io, "; processes whose bytes could not be read: %u",
            counts->without_io);
    ledger_add_source(results, "counts", is_short ? GPUT_SOURCE_SAMPLED : GPUT_SOURCE_EXACT,
        "%s%s and /proc/PID/io of all that were waited for%s%s%s", is_short ? "at least: " : "",
        ledger->settings->mode == SESSION_SELF ? "getrusage" : "wait4", living, why_not,
        without_io);
}

static void add_counts_source(
    const struct ledger *ledger, const struct exactness *exactness, struct gput_results *results)
{
    const char *why_not = why_not_counted(ledger);
    if (ledger_has_bytes_so_far(ledger))
        ledger_add_source(results, "counts", GPUT_SOURCE_SAMPLED,
            "at least: io of each process, once a second; all of it when tracking ends");
    else if (why_not)
        ledger_add_source(results, "counts", GPUT_SOURCE_UNAVAILABLE, "%s", why_not);
    else if (ledger->settings->mode == SESSION_ATTACHED)
        add_attached_counts_source(ledger, results);
    else
        add_collected_counts_source(ledger, exactness, results);
}

/* Dropped pages may have been written to by other processes: as many of ours may have reached
 * storage. */
static void add_written_source(struct gput_results *results)
{
    const struct gput_accounting *accounting = &results->accounting;
    double dropped = accounting->storage_dirtied_bytes - accounting->storage_write_bytes;
    if (dropped > 0)
        ledger_add_source(results, "written_to_storage", GPUT_SOURCE_SAMPLED,
            "at least: without %.0f bytes that never reached it, as the files that they were "
            "written to were removed or cut before",
            dropped);
}

static void add_network_source(const struct ledger *ledger, struct gput_results *results)
{
    if (ledger->system_counters.has_traffic)
        ledger_add_source(results, "network", GPUT_SOURCE_EXACT,
            "net/dev: the whole system's, without the loopback");
    else
        ledger_add_source(
            results, "network", GPUT_SOURCE_UNAVAILABLE, "net/dev of the process cannot be read");
}

/* NULL: there is a GPU. */
static const char *why_no_gpu(const struct ledger *ledger)
{
    const char *missing = gpu_set_missing(ledger->settings->gpus);
    return missing && !gpu_set_has_hidden_gpus(ledger->settings->gpus)
               ? "no GPU was found (why: gpu-tracker doctor)"
               : missing;
}

static bool hides_processes(const struct ledger *ledger)
{
    size_t count;
    gpu_set_devices(ledger->settings->gpus, &count);
    for (size_t i = 0; i < count; i++)
        if (gpu_set_hides_processes(ledger->settings->gpus, i))
            return true;
    return false;
}

static void add_gpu_ram_source(const struct ledger *ledger, struct gput_results *results)
{
    bool some;
    const char *none = why_no_gpu(ledger);
    const char *why = gpu_set_process_ram_missing(ledger->settings->gpus, &some);
    bool lacks_some = snapshot_lacks_gpu_processes(ledger->snapshot);
    double most = results->max[GPUT_COMBINED_GPU_RAM];
    bool is_missing = !none && isnan(most) && why;
    if (ledger->settings->mode == SESSION_MACHINE ||
        (!ledger->settings->options.processes && !lacks_some && !is_missing))
        return;
    if (is_missing && hides_processes(ledger))
        ledger_add_source(results, "process_gpu_ram", GPUT_SOURCE_UNAVAILABLE,
            "%s; of the GPUs, by anybody, %.0f MB were in use at the start and %.0f MB at most",
            why, ledger->usage.first[GPUT_SYSTEM_GPU_RAM] * 1e-6,
            results->max[GPUT_SYSTEM_GPU_RAM] * 1e-6);
    else if (is_missing || (!some && !(most > 0)))
        ledger_add_source(
            results, "process_gpu_ram", GPUT_SOURCE_UNAVAILABLE, "%s", none ? none : why);
    else
        ledger_add_source(results, "process_gpu_ram", GPUT_SOURCE_SAMPLED,
            "%swho holds how much, as drivers list it (gpu_ram says when)%s%s",
            lacks_some ? "at least: " : "", why ? "; not of every GPU: " : "", why ? why : "");
}

static const char *state_word(enum gpu_source_state state)
{
    static const char *const words[] = {[GPU_SOURCE_AVAILABLE] = "available",
        [GPU_SOURCE_PARTIAL] = "partly",
        [GPU_SOURCE_SUSPENDED] = "asleep",
        [GPU_SOURCE_ABSENT] = "absent",
        [GPU_SOURCE_FAILED] = "failed",
        [GPU_SOURCE_SKIPPED] = "skipped"};
    return words[state];
}

static void add_gpu_sources(const struct ledger *ledger, struct gput_results *results)
{
    size_t count;
    const struct gpu_source_status *sources = gpu_set_sources(ledger->settings->gpus, &count);
    const char *missing = why_no_gpu(ledger);
    if (missing) {
        ledger_add_source(results, "gpu", GPUT_SOURCE_UNAVAILABLE, "%s", missing);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        bool has =
            sources[i].state == GPU_SOURCE_AVAILABLE || sources[i].state == GPU_SOURCE_PARTIAL;
        if (!has && sources[i].state == GPU_SOURCE_ABSENT)
            continue;
        char name[32];
        snprintf(name, sizeof name, "gpu_%s", sources[i].name);
        ledger_add_source(results, name, has ? GPUT_SOURCE_SAMPLED : GPUT_SOURCE_UNAVAILABLE,
            "%s: %s", state_word(sources[i].state), sources[i].detail);
    }
}

/* Processes that could not be read. */
static void add_files_source(const struct ledger *ledger, struct gput_results *results)
{
    uint64_t polls = ledger->snapshot->tree->scans_without_files;
    if (polls > 0)
        ledger_add_source(results, "descriptors", GPUT_SOURCE_UNAVAILABLE,
            "at %" PRIu64 " samples no more files could be opened (ulimit -n): processes are "
            "missing there, and figures of RAM, threads and CPU time are at least what they say",
            polls);
}

static void fill_sources(
    const struct ledger *ledger, const struct exactness *exactness, struct gput_results *results)
{
    if (ledger->settings->mode == SESSION_MACHINE) {
        ledger_add_source(
            results, "processes", GPUT_SOURCE_UNAVAILABLE, "the machine alone is measured");
    } else {
        add_ram_source(ledger, results);
        add_cpu_sources(ledger, exactness, results);
        add_process_source(ledger, results);
        add_counts_source(ledger, exactness, results);
        add_written_source(results);
        ledger_add_source(
            results, "threads", GPUT_SOURCE_SAMPLED, "stat of each process that has run");
        add_files_source(ledger, results);
    }
    add_network_source(ledger, results);
    ledger_add_source(results, "system", GPUT_SOURCE_SAMPLED,
        "/proc/meminfo, and /proc/stat over 100 ms or more");
    add_gpu_sources(ledger, results);
    ledger_add_gpu_list_source(ledger, results);
    add_gpu_ram_source(ledger, results);
    ledger_add_energy_sources(ledger, results);
}

/* ---- everything ---- */

static void fill_now(const struct ledger *ledger, struct gput_results *results)
{
    double gpu_watts = gpu_usage_sum(&ledger->gpu_usage, GPU_USAGE_POWER);
    const struct cpu_totals *totals = &ledger->snapshot->totals;
    memcpy(results->now.values, ledger->usage.last, sizeof results->now.values);
    memcpy(results->now.watts, ledger->snapshot->power.watts, sizeof results->now.watts);
    if (ledger->gpu_usage.n_devices > 0)
        results->now.values[GPUT_SYSTEM_GPU_RAM] = gpu_usage_sum(&ledger->gpu_usage, GPU_USAGE_RAM);
    /* The drivers' current figures. */
    if (!isnan(gpu_watts))
        results->now.watts[GPUT_ENERGY_GPU] = gpu_watts;
    results->now.system_cpu_seconds =
        ledger->snapshot->system->stat_fd >= 0 ? ledger->system_cpu_seconds : NAN;
    bool has_process = ledger->settings->mode != SESSION_MACHINE;
    results->now.main_cpu_seconds = has_process ? clock_seconds_of_ns(totals->main_ns) : NAN;
    results->now.descendants_cpu_seconds =
        has_process ? clock_seconds_of_ns(totals->descendants_ns) : NAN;
}

void ledger_results(const struct ledger *ledger, struct gput_results *results)
{
    memset(results, 0, offsetof(struct gput_results, gpu_capacity));
    results->static_data = ledger->settings->static_data;
    results->elapsed_seconds =
        clock_seconds_of_ns(ledger->snapshot->taken_ns - ledger->settings->start_ns);
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        results->max[i] = ledger->usage.max[i];
        results->mean[i] = usage_mean(&ledger->usage, (enum gput_measurement_id)i);
    }
    struct exactness exactness = ledger_fill_accounting(ledger, &results->accounting);
    ledger_fill_peaks(ledger, exactness.all_collected, results);
    if (ledger_has_bytes_so_far(ledger))
        session_accounting_set_bytes(&results->accounting, &ledger->bytes_so_far);
    ledger_fill_gpus(ledger, results);
    ledger_fill_gpu_peaks(ledger, results);
    fill_now(ledger, results);
    ledger_fill_energy(ledger, &results->energy);
    tracker_cost_fill(&ledger->cost, results);
    fill_sources(ledger, &exactness, results);
    results_check(results);
}
