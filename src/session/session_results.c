/*
 * From samples and totals to results.
 */
#include "session/results_check.h"
#include "session/session_state.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "gpu/set.h"
#include "os/proc_statm.h"
#include "os/procfs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- sources ---- */

static void add_ram_source(const struct gput_session *session, struct gput_results *results)
{
    const struct ram_meter *ram = &session->sampler.ram;
    char hugetlb[64] = "", unread[96] = "";
    if (ram->unread_bytes)
        snprintf(unread, sizeof unread,
            "; some had to wait: up to %.0f MB of a tick may be missing",
            (double)ram->unread_bytes / 1e6);
    if (ram->readings.hugetlb_bytes)
        snprintf(hugetlb, sizeof hugetlb, "; without hugetlb pages (%.0f MB of one process)",
            (double)ram->readings.hugetlb_bytes / 1e6);
    if (ram->readings.refused)
        session_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "at least: memory maps of %llu of %llu processes may not be read; of statm, what they "
            "may share counts once%s",
            (unsigned long long)ram->readings.refused,
            (unsigned long long)session->sampler.tree.seen, hugetlb);
    else if (ram->readings.unlimited)
        session_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "memory maps of every process at each tick%s", hugetlb);
    else
        session_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "%sstatm at each tick, memory maps when more than 1 %% can have changed (%llu "
            "readings)%s%s",
            ram->unread_bytes ? "at least: " : "", (unsigned long long)ram->readings.count, unread,
            hugetlb);
}

/* Why figures counted up to the end are missing; NULL: they are not. */
static const char *why_not_counted(const struct gput_session *session)
{
    if (session->settings.mode != SESSION_LAUNCHED)
        return session->has_ended ? NULL : "it is read when tracking ends, and that had not ended";
    if (session->has_main_usage)
        return NULL;
    return session->main_end_is_reported
               ? "the kernel gives it once, and somebody else collected the command: the caller "
                 "waits for any child, or ignores SIGCHLD"
               : "the kernel gives it when the command ends, and it had not ended";
}

/* What is known of processes that were not collected; "" where there are none. */
static void explain_others_cpu(const struct gput_session *session,
    const struct session_exactness *exactness, char *text, size_t size)
{
    bool has_group =
        session->settings.mode != SESSION_SELF && !isnan(session->cgroup_usage.cpu_seconds);
    text[0] = '\0';
    if (exactness->has_auto_reaped && !exactness->cpu && !has_group)
        snprintf(text, size, "; of those that were not waited for, what %s",
            session->events.has_ends ? "samples saw or the kernel gave at their ends (taskstats)"
                                     : "samples saw");
    else if (exactness->collected_ns)
        snprintf(text, size,
            "; of those that live on, clocks as of the last sample, and what they collected in "
            "clock ticks: up to %.0f ms less",
            (double)exactness->collected_ns / 1e6);
    else if (process_log_descendants(&session->log).has_living)
        snprintf(text, size, "; of those that live on, clocks as of the last sample");
}

/* For figures collected by us or our children. */
static void add_kernel_cpu_source(const struct gput_session *session,
    const struct session_exactness *exactness, struct gput_results *results)
{
    const char *how = "wait4 of the command and of its orphans, with all that they waited for";
    char others[160], why_not[192] = "";
    if (session->settings.mode == SESSION_SELF)
        how = "getrusage of this process and of the children it waited for";
    else if (!isnan(session->cgroup_usage.cpu_seconds))
        how = "wait4 of the command and of its orphans, or a control group of its own where that "
              "saw more: it also counts those that were not waited for, unless they left it";
    explain_others_cpu(session, exactness, others, sizeof others);
    if (!exactness->cpu && exactness->why_not)
        snprintf(
            why_not, sizeof why_not, "; that this is all is not proven: %s", exactness->why_not);
    session_add_source(results, "kernel_cpu_time",
        exactness->cpu ? GPUT_SOURCE_EXACT : GPUT_SOURCE_SAMPLED, "%s%s%s%s",
        exactness->cpu ? "" : "at least: ", how, why_not, others);
}

static void add_cpu_sources(const struct gput_session *session,
    const struct session_exactness *exactness, struct gput_results *results)
{
    const char *why_not = why_not_counted(session);
    if (session->sampler.tree.view.has_cpu_clocks)
        session_add_source(results, "cpu_time", GPUT_SOURCE_SAMPLED,
            "CPU clocks of the processes, exact as of each tick, and what parents collected from "
            "ended children; of children that were not waited for, what each had at its last tick "
            "(captured_percent: how much of it all is there)");
    else
        session_add_source(results, "cpu_time", GPUT_SOURCE_SAMPLED,
            "stat of each process at each tick, in clock ticks: pids of this procfs are not our "
            "own");
    if (session->settings.mode == SESSION_ATTACHED && !session->events.has_ends)
        session_add_source(results, "kernel_cpu_time", GPUT_SOURCE_UNAVAILABLE,
            "the kernel gives it to the parent alone; use `gpu-tracker run` to have it");
    else if (why_not)
        session_add_source(results, "kernel_cpu_time", GPUT_SOURCE_UNAVAILABLE, "%s", why_not);
    else if (session->settings.mode == SESSION_ATTACHED)
        session_add_source(results, "kernel_cpu_time", GPUT_SOURCE_SAMPLED,
            "at least: CPU clocks, and what parents collected or the kernel gave at each "
            "process's end (taskstats)");
    else
        add_kernel_cpu_source(session, exactness, results);
}

static void add_process_source(const struct gput_session *session, struct gput_results *results)
{
    const struct session_events *events = &session->events;
    if (events->has_events && process_log_has_all(&session->log))
        session_add_source(results, "processes", GPUT_SOURCE_EXACT,
            "announced by the kernel (process connector), and scanned at each tick");
    else if (events->has_events)
        session_add_source(results, "processes", GPUT_SOURCE_SAMPLED,
            "scanned at each tick; the kernel announced more than were read in time");
    else
        session_add_source(results, "processes", GPUT_SOURCE_SAMPLED,
            "scanned at each tick; %s; %s", events->why_no_events,
            session->settings.mode == SESSION_LAUNCHED
                ? "of those that lived between two ticks CPU time is known"
                : "orphans of unseen parents are lost");
    if (events->has_ends)
        session_add_source(results, "process_ends", GPUT_SOURCE_SAMPLED,
            "taskstats: peak RSS; at least: bytes (less up to 1023 a thread), CPU time (less what "
            "a "
            "thread used since its last scheduler tick, and for giving back memory)");
    else
        session_add_source(
            results, "process_ends", GPUT_SOURCE_UNAVAILABLE, "%s", events->why_no_ends);
}

static void add_attached_counts_source(
    const struct gput_session *session, struct gput_results *results)
{
    bool is_refused = isnan(results->accounting.read_bytes);
    if (session->events.has_ends)
        session_add_source(results, "counts", GPUT_SOURCE_SAMPLED,
            "at least: %s of living threads since the beginning, and what the kernel gave at the "
            "end of others (taskstats: bytes less up to 1023 a thread, and nothing of the end "
            "itself)",
            is_refused ? "stat and status (io may not be read)" : "stat, status and io");
    else
        session_add_source(results, "counts", GPUT_SOURCE_SAMPLED,
            "at least: faults%s as of the last sample, and what parents collected; context "
            "switches of threads that ended are given to the parent alone",
            is_refused ? " (io may not be read)" : " and bytes");
}

/* For figures collected by us or our children, and those of other processes. */
static void add_collected_counts_source(const struct gput_session *session,
    const struct session_exactness *exactness, struct gput_results *results)
{
    const struct session_counts *counts = &session->counts;
    bool is_short = !exactness->counts;
    char living[160] = "", why_not[192] = "", without_io[96] = "";
    if (is_short && session->events.has_ends)
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
    session_add_source(results, "counts", is_short ? GPUT_SOURCE_SAMPLED : GPUT_SOURCE_EXACT,
        "%s%s and /proc/PID/io of all that were waited for%s%s%s", is_short ? "at least: " : "",
        session->settings.mode == SESSION_SELF ? "getrusage" : "wait4", living, why_not,
        without_io);
}

static void add_counts_source(const struct gput_session *session,
    const struct session_exactness *exactness, struct gput_results *results)
{
    const char *why_not = why_not_counted(session);
    if (session_has_bytes_so_far(session))
        session_add_source(results, "counts", GPUT_SOURCE_SAMPLED,
            "at least: io of each process, once a second; all of it when tracking ends");
    else if (why_not)
        session_add_source(results, "counts", GPUT_SOURCE_UNAVAILABLE, "%s", why_not);
    else if (session->settings.mode == SESSION_ATTACHED)
        add_attached_counts_source(session, results);
    else
        add_collected_counts_source(session, exactness, results);
}

/* Dropped pages may have been written to by other processes: as many of ours may have reached
 * storage. */
static void add_written_source(struct gput_results *results)
{
    const struct gput_accounting *accounting = &results->accounting;
    double dropped = accounting->storage_dirtied_bytes - accounting->storage_write_bytes;
    if (dropped > 0)
        session_add_source(results, "written_to_storage", GPUT_SOURCE_SAMPLED,
            "at least: without %.0f bytes that never reached it, as the files that they were "
            "written to were removed or cut before",
            dropped);
}

static void add_network_source(const struct gput_session *session, struct gput_results *results)
{
    if (session->system_counters.has_traffic)
        session_add_source(results, "network", GPUT_SOURCE_EXACT,
            "net/dev: the whole system's, without the loopback");
    else
        session_add_source(
            results, "network", GPUT_SOURCE_UNAVAILABLE, "net/dev of the process cannot be read");
}

/* NULL: there is a GPU. */
static const char *why_no_gpu(const struct gput_session *session)
{
    const char *missing = gpu_set_missing(session->settings.gpus);
    return missing && !gpu_set_has_hidden_gpus(session->settings.gpus)
               ? "no GPU was found (why: gpu-tracker doctor)"
               : missing;
}

static bool hides_processes(const struct gput_session *session)
{
    size_t count;
    gpu_set_devices(session->settings.gpus, &count);
    for (size_t i = 0; i < count; i++)
        if (gpu_set_hides_processes(session->settings.gpus, i))
            return true;
    return false;
}

static void add_gpu_ram_source(const struct gput_session *session, struct gput_results *results)
{
    bool some;
    const char *none = why_no_gpu(session);
    const char *why = gpu_set_process_ram_missing(session->settings.gpus, &some);
    bool lacks_some = snapshot_lacks_gpu_processes(&session->sampler.snapshot);
    double most = results->max[GPUT_COMBINED_GPU_RAM];
    bool is_missing = !none && isnan(most) && why;
    if (session->settings.mode == SESSION_MACHINE ||
        (!session->settings.options.processes && !lacks_some && !is_missing))
        return;
    if (is_missing && hides_processes(session))
        session_add_source(results, "process_gpu_ram", GPUT_SOURCE_UNAVAILABLE,
            "%s; of the GPUs, by anybody, %.0f MB were in use at the start and %.0f MB at most",
            why, session->usage.first[GPUT_SYSTEM_GPU_RAM] * 1e-6,
            results->max[GPUT_SYSTEM_GPU_RAM] * 1e-6);
    else if (is_missing || (!some && !(most > 0)))
        session_add_source(
            results, "process_gpu_ram", GPUT_SOURCE_UNAVAILABLE, "%s", none ? none : why);
    else
        session_add_source(results, "process_gpu_ram", GPUT_SOURCE_SAMPLED,
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

static void add_gpu_sources(const struct gput_session *session, struct gput_results *results)
{
    size_t count;
    const struct gpu_source_status *sources = gpu_set_sources(session->settings.gpus, &count);
    const char *missing = why_no_gpu(session);
    if (missing) {
        session_add_source(results, "gpu", GPUT_SOURCE_UNAVAILABLE, "%s", missing);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        bool has =
            sources[i].state == GPU_SOURCE_AVAILABLE || sources[i].state == GPU_SOURCE_PARTIAL;
        if (!has && sources[i].state == GPU_SOURCE_ABSENT)
            continue;
        char name[32];
        snprintf(name, sizeof name, "gpu_%s", sources[i].name);
        session_add_source(results, name, has ? GPUT_SOURCE_SAMPLED : GPUT_SOURCE_UNAVAILABLE,
            "%s: %s", state_word(sources[i].state), sources[i].detail);
    }
}

/* Processes that could not be read. */
static void add_files_source(const struct gput_session *session, struct gput_results *results)
{
    uint64_t polls = session->sampler.tree.scans_without_files;
    if (polls > 0)
        session_add_source(results, "descriptors", GPUT_SOURCE_UNAVAILABLE,
            "at %" PRIu64 " samples no more files could be opened (ulimit -n): processes are "
            "missing there, and figures of RAM, threads and CPU time are at least what they say",
            polls);
}

static void fill_sources(const struct gput_session *session,
    const struct session_exactness *exactness, struct gput_results *results)
{
    if (session->settings.mode == SESSION_MACHINE) {
        session_add_source(
            results, "processes", GPUT_SOURCE_UNAVAILABLE, "the machine alone is measured");
    } else {
        add_ram_source(session, results);
        add_cpu_sources(session, exactness, results);
        add_process_source(session, results);
        add_counts_source(session, exactness, results);
        add_written_source(results);
        session_add_source(
            results, "threads", GPUT_SOURCE_SAMPLED, "stat of each process that has run");
        add_files_source(session, results);
    }
    add_network_source(session, results);
    session_add_source(results, "system", GPUT_SOURCE_SAMPLED,
        "/proc/meminfo, and /proc/stat over 100 ms or more");
    add_gpu_sources(session, results);
    session_gpus_add_list_source(session, results);
    add_gpu_ram_source(session, results);
    session_add_energy_sources(session, results);
}

/* ---- everything ---- */

/* NaN where the calling process is the tracked one. */
static double own_rss_bytes(const struct gput_session *session)
{
    char text[PROCFS_TEXT_SIZE];
    struct proc_statm statm;
    if (session->settings.mode == SESSION_SELF || session->own_statm_fd < 0 ||
        procfs_reread(session->own_statm_fd, text, sizeof text, NULL) != GPUT_OK ||
        proc_statm_parse(text, &statm) != GPUT_OK)
        return NAN;
    return (double)(statm.resident_pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

static void fill_tracker(const struct gput_session *session, struct gput_results *results)
{
    bool inside = session->settings.mode == SESSION_SELF;
    results->tracker.rss_bytes = own_rss_bytes(session);
    results->tracker.cpu_seconds =
        clock_seconds_of_ns(inside ? session->sampler_cpu_ns + session_helpers_cpu_ns(session)
                                   : clock_process_cpu_ns() - session->own_cpu_at_start_ns);
    results->tracker.ticks = session->ticks;
    results->tracker.late_ticks = session->schedule.late_ticks;
    results->tracker.missed_ticks = session->schedule.missed_ticks;
    results->tracker.rows_lost = sinks_rows_lost(&session->sinks);
}

static void fill_now(struct gput_session *session, struct gput_results *results)
{
    double gpu_watts = gpu_usage_sum(&session->gpu_usage, GPU_USAGE_POWER);
    const struct cpu_totals *totals = &session->sampler.snapshot.totals;
    double busy = system_meter_busy_seconds(&session->system);
    memcpy(results->now.values, session->usage.last, sizeof results->now.values);
    memcpy(results->now.watts, session->sampler.snapshot.power.watts, sizeof results->now.watts);
    if (session->gpu_usage.n_devices > 0)
        results->now.values[GPUT_SYSTEM_GPU_RAM] =
            gpu_usage_sum(&session->gpu_usage, GPU_USAGE_RAM);
    /* The drivers' current figures. */
    if (!isnan(gpu_watts))
        results->now.watts[GPUT_ENERGY_GPU] = gpu_watts;
    /* From clock ticks: no more decimals than they have. */
    session->system_cpu_seconds = fmax(session->system_cpu_seconds, number_round(busy, 3));
    results->now.system_cpu_seconds =
        session->system.stat_fd >= 0 ? session->system_cpu_seconds : NAN;
    bool has_process = session->settings.mode != SESSION_MACHINE;
    results->now.main_cpu_seconds = has_process ? clock_seconds_of_ns(totals->main_ns) : NAN;
    results->now.descendants_cpu_seconds =
        has_process ? clock_seconds_of_ns(totals->descendants_ns) : NAN;
}

void session_fill_results(struct gput_session *session, struct gput_results *results)
{
    memset(results, 0, offsetof(struct gput_results, gpu_capacity));
    results->static_data = session->settings.static_data;
    results->elapsed_seconds =
        clock_seconds_of_ns(session->last_sample_ns - session->settings.start_ns);
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        results->max[i] = session->usage.max[i];
        results->mean[i] = usage_mean(&session->usage, (enum gput_measurement_id)i);
    }
    if (!session->has_ended)
        system_counters_update(&session->system_counters);
    process_log_refresh(&session->log);
    struct session_exactness exactness = session_fill_accounting(session, &results->accounting);
    session_fill_peaks(session, exactness.all_collected, results);
    session_fill_bytes_so_far(session, &results->accounting);
    session_gpus_fill_results(session, results);
    session_fill_gpu_peaks(session, results);
    fill_now(session, results);
    session_fill_energy(session, &results->energy);
    results->limit = session->passed[0];
    results->n_later_limits = session->n_passed > 0 ? session->n_passed - 1 : 0;
    for (uint32_t i = 0; i < results->n_later_limits; i++)
        results->later_limits[i] = session->passed[i + 1];
    fill_tracker(session, results);
    fill_sources(session, &exactness, results);
    results_check(results);
}

int gput_session_results(
    struct gput_session *session, struct gput_results **results, struct gput_error *error)
{
    *results = NULL;
    if (session->phase == SESSION_CREATED)
        return error_set(error, GPUT_ERROR_STATE, "Nothing was tracked yet.");
    TRY(session_check_owner(session, error));
    struct gput_results *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    pthread_mutex_lock(&session->schedule.lock);
    session_fill_results(session, made);
    pthread_mutex_unlock(&session->schedule.lock);
    *results = made;
    return GPUT_OK;
}
