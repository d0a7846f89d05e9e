/*
 * From samples and books to results.
 */
#include "session/session_state.h"

#include "base/clock.h"
#include "base/error.h"
#include "os/proc_statm.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static double seconds_of_ns(int64_t ns)
{
    return (double)ns / (double)NS_PER_SECOND;
}

static double seconds_of_rusage(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

/* ---- the kernel's books ---- */

/* CPU time of descendants that had not ended when last looked at. */
static int64_t living_descendants_ns(const struct gput_session *session)
{
    const struct process_tree *tree = &session->sampler.tree;
    int64_t ns = 0;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        if (!process->is_main && !process_is_zombie(process))
            ns += process_cpu_ns(process) + process_children_ns(process, &tree->view);
    }
    return ns;
}

static double kernel_cpu_seconds(const struct gput_session *session)
{
    if (session->mode == SESSION_LAUNCHED && session->has_main_usage) {
        double collected = seconds_of_rusage(&session->main_usage) +
                           seconds_of_ns(session->orphans_ns + living_descendants_ns(session));
        /* A control group also counts children whose parents do not wait for them. */
        double grouped = session->cgroup_usage.cpu_seconds;
        return grouped > collected ? grouped : collected;
    }
    if (session->mode == SESSION_SELF && session->phase == SESSION_STOPPED) {
        struct rusage self, children;
        getrusage(RUSAGE_SELF, &self);
        getrusage(RUSAGE_CHILDREN, &children);
        return seconds_of_rusage(&self) - seconds_of_rusage(&session->self_at_start) +
               seconds_of_rusage(&children) - seconds_of_rusage(&session->children_at_start) +
               seconds_of_ns(living_descendants_ns(session) - session->sampler_cpu_ns -
                             session->sampler.tree.gone_before_ns);
    }
    return NAN;
}

/* ---- peaks ---- */

static void set_peak(struct gput_peak *peak, double bytes, const char *source)
{
    peak->bytes = bytes;
    peak->at_most_bytes = NAN;
    snprintf(peak->source, sizeof peak->source, "%.95s", source);
}

/*
 * ru_maxrss is the peak up to the very end, but of whoever was highest: main, a child that it
 * collected, or our own forked copy before execve(). It is main's where the other two are ruled
 * out.
 */
static bool maxrss_is_of_main(const struct gput_session *session, double maxrss_bytes)
{
    const struct process *main = process_tree_main(&session->sampler.tree);
    return main && !main->has_collected && maxrss_bytes > (double)session->forked_rss_bytes;
}

static void fill_main_peak(const struct gput_session *session, struct gput_results *results)
{
    struct gput_peak *peak = &results->peaks.main;
    double seen = session->sampler.main_peak_bytes;
    if (session->has_main_usage) {
        double maxrss = (double)session->main_usage.ru_maxrss * 1024;
        if (maxrss_is_of_main(session, maxrss) || isnan(seen)) {
            set_peak(peak, maxrss, "ru_maxrss, kept by the kernel to the end");
            return;
        }
    }
    if (isnan(seen))
        set_peak(peak, NAN, "its status file could not be read");
    else if (session->mode == SESSION_LAUNCHED)
        set_peak(peak, seen, "VmHWM, kept by the kernel, as of the last sample");
    else
        set_peak(
            peak, seen, "VmHWM, kept by the kernel since the process began, also before tracking");
}

/* What is not counted yet is unknown. */
static void clear_accounting(struct gput_accounting *accounting)
{
    *accounting = (struct gput_accounting){.kernel_cpu_seconds = NAN,
        .kernel_user_cpu_seconds = NAN,
        .kernel_system_cpu_seconds = NAN,
        .sampled_cpu_seconds = NAN,
        .processes_missed = NAN,
        .minor_page_faults = NAN,
        .major_page_faults = NAN,
        .voluntary_context_switches = NAN,
        .involuntary_context_switches = NAN,
        .read_bytes = NAN,
        .write_bytes = NAN,
        .storage_read_bytes = NAN,
        .storage_write_bytes = NAN,
        .system_network_received_bytes = NAN,
        .system_network_sent_bytes = NAN};
}

static void fill_combined_peak(const struct gput_session *session, struct gput_results *results)
{
    struct gput_peak *peak = &results->peaks.combined;
    if (session->mode != SESSION_LAUNCHED)
        set_peak(peak, NAN, "no control group holds exactly the tracked processes");
    else if (!session->cgroup.path)
        set_peak(peak, NAN, session->cgroup.why_not);
    else if (session->has_main_usage && !isnan(session->cgroup_usage.memory_peak_bytes))
        set_peak(peak, session->cgroup_usage.memory_peak_bytes,
            "a control group of its own; page cache that it filled is in it");
    else
        set_peak(peak, NAN, "its control group keeps no memory peak");
}

/* A launched process's kernel peak lies inside the session: its maximum is at least that. */
static void raise_maximum(const struct gput_session *session, struct gput_results *results)
{
    if (session->mode != SESSION_LAUNCHED || isnan(results->peaks.main.bytes))
        return;
    static const enum gput_measurement_id of_main[] = {GPUT_MAIN_RAM, GPUT_COMBINED_RAM};
    for (size_t i = 0; i < 2; i++) {
        double *max = &results->max[of_main[i]];
        if (!(*max >= results->peaks.main.bytes))
            *max = results->peaks.main.bytes;
    }
}

/* ---- sources ---- */

void session_add_source(struct gput_results *results, const char *name,
    enum gput_source_state state, const char *format, ...)
{
    if (results->n_sources == GPUT_MAX_SOURCES)
        return;
    struct gput_source *source = &results->sources[results->n_sources++];
    snprintf(source->name, sizeof source->name, "%s", name);
    source->state = state;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(source->reason, sizeof source->reason, format, arguments);
    va_end(arguments);
}

static void add_ram_source(const struct gput_session *session, struct gput_results *results)
{
    size_t refused = 0;
    const struct process_tree *tree = &session->sampler.tree;
    for (size_t i = 0; i < tree->count; i++)
        refused += tree->processes[i]->memory.refused;
    if (refused)
        session_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "statm alone for %zu of %zu processes: their memory maps may not be read", refused,
            tree->count);
    else if (session->sampler.ram.exact)
        session_add_source(
            results, "ram", GPUT_SOURCE_SAMPLED, "memory maps of every process at each tick");
    else
        session_add_source(results, "ram", GPUT_SOURCE_SAMPLED,
            "statm at each tick, memory maps when they can have changed (%llu readings)",
            (unsigned long long)session->sampler.ram.exact_readings);
}

static void add_cpu_sources(const struct gput_session *session, struct gput_results *results)
{
    if (session->sampler.tree.view.has_cpu_clocks)
        session_add_source(results, "cpu_time", GPUT_SOURCE_EXACT,
            "CPU clocks of the processes, and what parents collected from ended children");
    else
        session_add_source(results, "cpu_time", GPUT_SOURCE_SAMPLED,
            "stat of each process, in clock ticks: pids of this procfs are not our own");
    switch (session->mode) {
    case SESSION_LAUNCHED:
        session_add_source(results, "kernel_cpu_time", GPUT_SOURCE_EXACT, "%s",
            !isnan(session->cgroup_usage.cpu_seconds) && session->has_main_usage
                ? "wait4 of the command and of its orphans, and a control group of its own"
                : "wait4 of the command and of its orphans");
        break;
    case SESSION_SELF:
        session_add_source(results, "kernel_cpu_time", GPUT_SOURCE_EXACT,
            "getrusage of this process and of the children it waited for");
        break;
    case SESSION_ATTACHED:
        session_add_source(results, "kernel_cpu_time", GPUT_SOURCE_UNAVAILABLE,
            "the kernel gives it to the parent alone; use `gpu-tracker run` to have it");
        break;
    }
}

static void add_process_source(const struct gput_session *session, struct gput_results *results)
{
    session_add_source(results, "processes", GPUT_SOURCE_SAMPLED, "%s",
        session->mode == SESSION_LAUNCHED
            ? "looked for at each tick; of those that lived between two ticks CPU time is known"
            : "looked for at each tick; orphans of unseen parents are lost to an attached tracker");
}

static const char *state_word(enum gpu_source_state state)
{
    static const char *const words[] = {[GPU_SOURCE_AVAILABLE] = "available",
        [GPU_SOURCE_PARTLY] = "partly",
        [GPU_SOURCE_ASLEEP] = "asleep",
        [GPU_SOURCE_ABSENT] = "absent",
        [GPU_SOURCE_FAILED] = "failed",
        [GPU_SOURCE_SKIPPED] = "skipped"};
    return words[state];
}

static void add_gpu_sources(const struct gput_session *session, struct gput_results *results)
{
    size_t count;
    const struct gpu_source_status *sources = gpu_set_sources(session->gpus, &count);
    const char *missing = gpu_set_missing(session->gpus);
    if (missing) {
        session_add_source(results, "gpu", GPUT_SOURCE_UNAVAILABLE, "%s", missing);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        bool has =
            sources[i].state == GPU_SOURCE_AVAILABLE || sources[i].state == GPU_SOURCE_PARTLY;
        if (!has && sources[i].state == GPU_SOURCE_ABSENT)
            continue;
        char name[32];
        snprintf(name, sizeof name, "gpu_%s", sources[i].name);
        session_add_source(results, name, has ? GPUT_SOURCE_SAMPLED : GPUT_SOURCE_UNAVAILABLE,
            "%s: %s", state_word(sources[i].state), sources[i].detail);
    }
}

static void fill_sources(const struct gput_session *session, struct gput_results *results)
{
    add_ram_source(session, results);
    add_cpu_sources(session, results);
    add_process_source(session, results);
    session_add_source(
        results, "threads", GPUT_SOURCE_SAMPLED, "stat of each process that has run");
    session_add_source(results, "system", GPUT_SOURCE_SAMPLED,
        "/proc/meminfo, and /proc/stat over 100 ms or more");
    add_gpu_sources(session, results);
    session_add_energy_sources(session, results);
}

/* ---- all of it ---- */

static void fill_tracker(const struct gput_session *session, struct gput_results *results)
{
    bool inside = session->mode == SESSION_SELF;
    struct proc_statm statm;
    results->tracker.rss_bytes = NAN;
    if (!inside && proc_statm_read("/proc", getpid(), &statm, NULL) == GPUT_OK)
        results->tracker.rss_bytes =
            (double)(statm.resident_pages * (uint64_t)sysconf(_SC_PAGESIZE));
    results->tracker.cpu_seconds = seconds_of_ns(
        inside ? session->sampler_cpu_ns : clock_process_cpu_ns() - session->own_cpu_at_start_ns);
    results->tracker.ticks = session->ticks;
    results->tracker.late_ticks = session->late_ticks;
    results->tracker.missed_ticks = session->missed_ticks;
    results->tracker.rows_lost = session->tracking_file
                                     ? tracking_file_rows_lost(session->tracking_file)
                                     : session->rows_lost;
}

void session_fill_results(struct gput_session *session, struct gput_results *results)
{
    memset(results, 0, sizeof *results);
    results->static_data = session->static_data;
    results->elapsed_seconds = seconds_of_ns(session->last_sample_ns - session->start_ns);
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        results->max[i] = session->usage.max[i];
        results->mean[i] = usage_mean(&session->usage, (enum gput_measurement_id)i);
    }
    fill_main_peak(session, results);
    fill_combined_peak(session, results);
    raise_maximum(session, results);
    session_gpus_fill_results(session, results);
    set_peak(&results->peaks.descendants, NAN, "not read");

    clear_accounting(&results->accounting);
    results->accounting.kernel_cpu_seconds = kernel_cpu_seconds(session);
    results->accounting.sampled_cpu_seconds =
        seconds_of_ns(session->sampler.books.main_ns + session->sampler.books.descendants_ns);
    results->accounting.processes_seen = session->sampler.tree.seen;
    session_fill_energy(session, &results->energy);
    results->limit = session->limit;
    fill_tracker(session, results);
    fill_sources(session, results);
}

int gput_session_results(
    struct gput_session *session, struct gput_results *results, struct gput_error *error)
{
    if (session->phase == SESSION_CREATED)
        return error_set(error, GPUT_ERROR_STATE, "Nothing was tracked yet.");
    TRY(session_check_owner(session, error));
    pthread_mutex_lock(&session->lock);
    session_fill_results(session, results);
    pthread_mutex_unlock(&session->lock);
    return GPUT_OK;
}
