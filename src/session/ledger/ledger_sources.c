/*
 * The sources of the figures of the results, or why they are missing.
 */
#include "session/ledger/ledger.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Processes may have come and gone, or had more, between two samples: the peak has no upper bound
 * by what they saw. */
static bool may_have_missed_ram(const struct gput_results *results)
{
    return !(results->peaks.combined.at_most_bytes <= results->max[GPUT_COMBINED_RAM]);
}

/* Says how RAM was read, and what it may lack. */
static void add_ram_source(const struct ledger *ledger, struct gput_results *results)
{
    const struct ram_meter *ram = ledger->snapshot->ram;
    const char *at_least = may_have_missed_ram(results) ? "at least: " : "";
    char hugetlb[64] = "", unread[96] = "";
    if (ram->unread_bytes)
        snprintf(unread, sizeof unread,
            "; some maps were read later: the highest sample may be low by some %.0f MB",
            (double)ram->unread_bytes / 1e6);
    if (ram->hugetlb_bytes)
        snprintf(hugetlb, sizeof hugetlb, "; with hugetlb pages (up to %.0f MB of one process)",
            (double)ram->hugetlb_bytes / 1e6);
    if (ledger->snapshot->tree->unanswered)
        results_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "at least: %llu of %llu processes do not answer, because they wait in the kernel: "
            "statm "
            "instead of their memory maps, with memory that may be shared counted once%s",
            (unsigned long long)ledger->snapshot->tree->unanswered,
            (unsigned long long)ledger->snapshot->tree->seen, hugetlb);
    else if (ram->readings.refused)
        results_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "at least: no permission to read the memory maps of %llu of %llu processes: statm "
            "instead, with memory that may be shared counted once%s",
            (unsigned long long)ram->readings.refused,
            (unsigned long long)ledger->snapshot->tree->seen, hugetlb);
    else if (ram->readings.when == EXACT_READINGS_OF_SEVERAL && ram->readings.count == 0)
        results_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "%sstatm at each tick; anonymous memory counts as private, memory of files as shared%s",
            at_least, hugetlb);
    else if (ram->readings.when == EXACT_READINGS_ALWAYS)
        results_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "%smemory maps of every process at each tick%s", at_least, hugetlb);
    else
        results_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "%sstatm at each tick, memory maps when more than 1 %% can have changed (%llu "
            "readings)%s%s",
            ram->unread_bytes ? "at least: " : at_least, (unsigned long long)ram->readings.count,
            unread, hugetlb);
}

/* Why figures counted up to the end are missing; NULL: they are not. */
static const char *why_not_counted(const struct ledger *ledger)
{
    if (ledger->settings->mode != SESSION_LAUNCHED)
        return ledger->has_ended ? NULL
                                 : "it is read when tracking ends, and tracking is still running";
    if (ledger->collected.has_main_usage)
        return NULL;
    return ledger->main_end_is_reported
               ? "the kernel gives it once, and the command was reaped elsewhere: the calling "
                 "program waits for any child, or ignores SIGCHLD"
               : "the kernel reports it when the command ends, and the command was still running";
}

/* Describes what is known of processes that were not collected; "" where there are none. */
static void explain_others_cpu(
    const struct ledger *ledger, const struct exactness *exactness, char *text, size_t size)
{
    bool has_group = ledger->settings->mode != SESSION_SELF &&
                     !isnan(ledger->collected.cgroup_usage.cpu_seconds);
    text[0] = '\0';
    if (exactness->has_auto_reaped && !exactness->cpu && !has_group)
        snprintf(text, size, "; for processes not waited for: what %s",
            ledger->events->has_exit_records
                ? "samples saw or the kernel reported when they ended (taskstats)"
                : "samples saw");
    else if (exactness->collected_ns)
        snprintf(text, size,
            "; for processes still running: CPU clocks as of the last sample, and their children's "
            "time in clock ticks: up to %.0f ms less",
            (double)exactness->collected_ns / 1e6);
    else if (process_log_descendants(&ledger->log).living > 0)
        snprintf(text, size, "; for processes still running: CPU clocks as of the last sample");
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
        snprintf(why_not, sizeof why_not, "; not proven to be complete: %s", exactness->why_not);
    results_add_source(results, "kernel_cpu_time",
        exactness->cpu ? GPUT_SOURCE_EXACT : GPUT_SOURCE_SAMPLED, "%s%s%s%s",
        exactness->cpu ? "" : "at least: ", how, why_not, others);
}

/* How CPU time is divided into user and system time; nothing where it is not known itself. */
static void add_split_source(
    const struct ledger *ledger, enum cpu_split split, struct gput_results *results)
{
    const char *how = "clock ticks of each process";
    switch (split) {
    case CPU_SPLIT_NONE:
        if (ledger->settings->mode == SESSION_ATTACHED && ledger->has_ended)
            results_add_source(results, "cpu_split", GPUT_SOURCE_UNAVAILABLE,
                "user and system time: the kernel reports them only to the parent process");
        break;
    case CPU_SPLIT_OF_GROUP:
        how = "clock ticks of the command's own control group";
        __attribute__((fallthrough));
    case CPU_SPLIT_OF_PROCESSES:
        results_add_source(results, "cpu_split", GPUT_SOURCE_SAMPLED,
            "user and system time: divided by the kernel, by %s", how);
        break;
    case CPU_SPLIT_TOO_SHORT:
        results_add_source(results, "cpu_split", GPUT_SOURCE_UNAVAILABLE,
            "user and system time: the kernel divides CPU time by clock ticks, and these processes "
            "had fewer than %.0f ms each on average, too few ticks%s",
            (double)cpu_divisible_ns() / 1e6,
            isnan(ledger->collected.cgroup_usage.cpu_seconds)
                ? "; a control group of their own would have those of all together"
                : "");
        break;
    case CPU_SPLIT_INCOMPLETE:
        results_add_source(results, "cpu_split", GPUT_SOURCE_UNAVAILABLE,
            "user and system time: not known of processes that were not waited for");
        break;
    }
}

/* Adds the sources of CPU time: of samples, and of the kernel. */
static void add_cpu_sources(
    const struct ledger *ledger, const struct exactness *exactness, struct gput_results *results)
{
    const char *why_not = why_not_counted(ledger);
    if (ledger->snapshot->tree->view.has_cpu_clocks)
        results_add_source(results, "cpu_time", GPUT_SOURCE_SAMPLED,
            "CPU clocks of the processes, exact as of each tick, and what parents collected from "
            "ended children; for children not waited for: what each had at its last tick "
            "(captured_percent: how much of the total this is)");
    else
        results_add_source(results, "cpu_time", GPUT_SOURCE_SAMPLED,
            "stat of each process at each tick, in clock ticks: this procfs is of another pid "
            "namespace");
    if (ledger->settings->mode == SESSION_ATTACHED && !ledger->events->has_exit_records)
        results_add_source(results, "kernel_cpu_time", GPUT_SOURCE_UNAVAILABLE,
            "the kernel reports it only to the parent process: use `gpu-tracker run`");
    else if (why_not)
        results_add_source(results, "kernel_cpu_time", GPUT_SOURCE_UNAVAILABLE, "%s", why_not);
    else if (ledger->settings->mode == SESSION_ATTACHED)
        results_add_source(results, "kernel_cpu_time", GPUT_SOURCE_SAMPLED,
            "at least: CPU clocks, and what parents collected or the kernel gave at each "
            "process's end (taskstats)");
    else
        add_kernel_cpu_source(ledger, exactness, results);
    add_split_source(ledger, exactness->split, results);
}

/* Says how processes and their ends became known. */
static void add_process_source(const struct ledger *ledger, struct gput_results *results)
{
    const struct session_events *events = ledger->events;
    char missing[64] = "";
    if (events->has_events && process_log_has_all(&ledger->log))
        results_add_source(results, "processes", GPUT_SOURCE_EXACT,
            "announced by the kernel (process connector), and scanned at each tick");
    else if (events->has_events)
        results_add_source(results, "processes", GPUT_SOURCE_SAMPLED,
            "scanned at each tick; the kernel announced more than were read in time");
    else
        results_add_source(results, "processes", GPUT_SOURCE_SAMPLED,
            "scanned at each tick; %s; %s", events->why_no_events,
            ledger->settings->mode == SESSION_LAUNCHED
                ? "CPU time is known for those that lived between two ticks"
                : "orphans of unseen parents are lost");
    /* Processes announced without a record have the figures of polls. */
    uint64_t without = process_log_without_exit_record(&ledger->log);
    if (without > 0)
        snprintf(missing, sizeof missing, "; none arrived of %" PRIu64 " that ended", without);
    if (events->has_exit_records)
        results_add_source(results, "process_ends", GPUT_SOURCE_SAMPLED,
            "taskstats%s: peak RSS; at least: bytes (less up to 1023 a thread), CPU time (less "
            "what a thread used since its last scheduler tick, and for freeing memory); for all "
            "short-lived processes together: the rest of what the kernel counted, where that is "
            "more",
            missing);
    else
        results_add_source(
            results, "process_ends", GPUT_SOURCE_UNAVAILABLE, "%s", events->why_no_exit_records);
}

/* Exact where the last exit record of every thread arrived. Without those, threads that ended are
 * known up to their last reading. */
static void add_run_queue_source(
    const struct ledger *ledger, const struct exactness *exactness, struct gput_results *results)
{
    struct run_queue_times times = process_log_run_queue(&ledger->log);
    if (ledger->settings->mode == SESSION_SELF) {
        results_add_source(results, "run_queue", GPUT_SOURCE_UNAVAILABLE,
            "threads of the tracker are in this process, too");
    } else if (times.threads == 0) {
        results_add_source(results, "run_queue", GPUT_SOURCE_UNAVAILABLE, "%s",
            times.uncounted ? "this kernel does not count how long threads wait for a CPU"
                            : "schedstat of no thread could be read");
    } else if (exactness->run_queue) {
        results_add_source(results, "run_queue", GPUT_SOURCE_EXACT,
            "what the kernel reported of each thread when it began to end (taskstats)");
    } else {
        results_add_source(results, "run_queue", GPUT_SOURCE_SAMPLED,
            "at least: schedstat of each thread at each tick%s",
            ledger->events->has_exit_records
                ? ", and what the kernel reported of those that ended (taskstats)"
                : "; without what those that ended waited after their last tick, and without "
                  "threads that no tick saw");
    }
}

/* Says what counts of a process rest on that somebody else started. */
static void add_attached_counts_source(const struct ledger *ledger, struct gput_results *results)
{
    bool is_refused = isnan(results->accounting.read_bytes);
    if (ledger->events->has_exit_records)
        results_add_source(results, "counts", GPUT_SOURCE_SAMPLED,
            "at least: %s of living threads since the beginning, and what the kernel reported when "
            "others ended (taskstats: bytes less up to 1023 a thread, without the exit itself)",
            is_refused ? "stat and status (no permission to read io)" : "stat, status and io");
    else
        results_add_source(results, "counts", GPUT_SOURCE_SAMPLED,
            "at least: faults%s as of the last sample, and what parents collected; context "
            "switches of threads that ended are reported only to the parent process",
            is_refused ? " (no permission to read io)" : " and bytes");
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
            "; for processes still running or not waited for: what the kernel reports when they "
            "end (taskstats; bytes less up to 1023 a thread) or now");
    else if (counts->living)
        snprintf(living, sizeof living,
            "; for %u process%s still running or not waited for: stat and io, but no context "
            "switches",
            counts->living, counts->living == 1 ? "" : "es");
    if (exactness->why_not)
        snprintf(why_not, sizeof why_not, "; not proven to be complete: %s", exactness->why_not);
    if (counts->without_io)
        snprintf(without_io, sizeof without_io, "; processes whose bytes could not be read: %u",
            counts->without_io);
    results_add_source(results, "counts", is_short ? GPUT_SOURCE_SAMPLED : GPUT_SOURCE_EXACT,
        "%s%s and /proc/PID/io of all processes waited for%s%s%s", is_short ? "at least: " : "",
        ledger->settings->mode == SESSION_SELF ? "getrusage" : "wait4", living, why_not,
        without_io);
}

/* Never exact: that no process had a socket is not known. */
static void add_bytes_source(struct gput_results *results)
{
    if (!isnan(results->accounting.read_bytes))
        results_add_source(results, "bytes", GPUT_SOURCE_SAMPLED,
            "at least: by read(), write() and the like, as the kernel counts them; what sockets "
            "send and receive by send(), recv() and their variants it does not count");
    else
        results_add_source(results, "bytes", GPUT_SOURCE_UNAVAILABLE,
            "/proc/PID/io could not be read (`counts` says more)");
}

/* Adds the sources of faults, context switches and bytes. */
static void add_counts_source(
    const struct ledger *ledger, const struct exactness *exactness, struct gput_results *results)
{
    const char *why_not = why_not_counted(ledger);
    if (!why_not || ledger_has_bytes_so_far(ledger))
        add_bytes_source(results);
    if (ledger_has_bytes_so_far(ledger))
        results_add_source(results, "counts", GPUT_SOURCE_SAMPLED,
            "at least: io of each process, twice a second; all of it when tracking ends");
    else if (why_not)
        results_add_source(results, "counts", GPUT_SOURCE_UNAVAILABLE, "%s", why_not);
    else if (ledger->settings->mode == SESSION_ATTACHED)
        add_attached_counts_source(ledger, results);
    else
        add_collected_counts_source(ledger, exactness, results);
}

/* Says whose pressure is reported, or why none is. */
static void add_pressure_source(const struct ledger *ledger, struct gput_results *results)
{
    bool has_system = !isnan(results->system_pressure.some_seconds[PRESSURE_CPU]);
    bool has_group = !isnan(results->group_pressure.some_seconds[PRESSURE_CPU]);
    if (!has_system && !has_group)
        results_add_source(results, "pressure", GPUT_SOURCE_UNAVAILABLE, "%s",
            ledger->system_counters.has_pressure
                ? "this kernel has no pressure stall information (CONFIG_PSI, psi=1)"
                : "it is not read for a command that ends within some 10 ms");
    else
        results_add_source(results, "pressure", GPUT_SOURCE_EXACT, "pressure stall information: %s",
            !has_group    ? "the whole system's; the command has no control group of its own"
            : !has_system ? "that of the command's control group"
                          : "the whole system's, and that of the command's control group");
}

/* Swap, which is not read at every tick. */
static void add_swap_source(struct gput_results *results)
{
    if (isnan(results->max[GPUT_COMBINED_SWAPPED_RAM]))
        results_add_source(results, "swap", GPUT_SOURCE_UNAVAILABLE,
            "no process was there when swap was read, or its status cannot be read");
    else
        results_add_source(results, "swap", GPUT_SOURCE_SAMPLED,
            "VmSwap of each process, at most twice a second, while anything on the machine is in "
            "swap; what forks share counts for each of them, shared memory is not in it");
}

/* Processes that could not be read. */
static void add_files_source(const struct ledger *ledger, struct gput_results *results)
{
    uint64_t polls = ledger->snapshot->tree->scans_without_files;
    if (polls > 0)
        results_add_source(results, "descriptors", GPUT_SOURCE_UNAVAILABLE,
            "at %" PRIu64
            " samples no more files could be opened (ulimit -n): processes are missing there, and "
            "figures of RAM, threads and CPU time are lower bounds",
            polls);
}

/* Some mounts of procfs have processes alone. */
static void add_system_source(const struct ledger *ledger, struct gput_results *results)
{
    char why[160];
    bool has_ram = ledger->snapshot->system->meminfo_fd >= 0;
    bool has_cpu = ledger->snapshot->system->stat_fd >= 0;
    node_reader_explain(ledger->node, ledger->settings->start_ns, why, sizeof why);
    if (!ledger->node->reads)
        results_add_source(results, "system", GPUT_SOURCE_UNAVAILABLE, "%s", why);
    else if (!has_ram && !has_cpu)
        results_add_source(results, "system", GPUT_SOURCE_UNAVAILABLE,
            "neither /proc/meminfo nor /proc/stat can be read");
    else
        results_add_source(results, "system", GPUT_SOURCE_SAMPLED, "%s, and %s%s%s",
            has_ram ? "/proc/meminfo" : "without RAM: /proc/meminfo cannot be read",
            has_cpu ? "/proc/stat over 100 ms or more" : "without CPU: /proc/stat cannot be read",
            why[0] ? "; " : "", why);
}

void ledger_add_sources(
    const struct ledger *ledger, const struct exactness *exactness, struct gput_results *results)
{
    if (ledger->settings->mode == SESSION_MACHINE) {
        results_add_source(
            results, "processes", GPUT_SOURCE_UNAVAILABLE, "only the machine is measured");
    } else {
        add_ram_source(ledger, results);
        add_swap_source(results);
        add_cpu_sources(ledger, exactness, results);
        add_process_source(ledger, results);
        add_run_queue_source(ledger, exactness, results);
        ledger_add_wall_source(ledger, results);
        add_counts_source(ledger, exactness, results);
        /* Dropped pages may have been written to by other processes: as many of ours may have
         * reached storage. */
        const struct gput_accounting *accounting = &results->accounting;
        double dropped = accounting->storage_dirtied_bytes - accounting->storage_write_bytes;
        if (dropped > 0)
            results_add_source(results, "written_to_storage", GPUT_SOURCE_SAMPLED,
                "at least: without %.0f bytes that never reached storage, because their files were "
                "removed or truncated first",
                dropped);
        results_add_source(
            results, "threads", GPUT_SOURCE_SAMPLED, "at least: stat of each process that has run");
        add_files_source(ledger, results);
    }
    if (ledger->system_counters.has_traffic)
        results_add_source(results, "network", GPUT_SOURCE_EXACT,
            "net/dev: the whole system's, without the loopback");
    else
        results_add_source(
            results, "network", GPUT_SOURCE_UNAVAILABLE, "net/dev of the process cannot be read");
    add_pressure_source(ledger, results);
    add_system_source(ledger, results);
    ledger_add_gpu_sources(ledger, results);
    ledger_add_energy_sources(ledger, results);
}
