#include "session/session_state.h"

#include "base/error.h"
#include "base/wall_clock.h"
#include "machine/gpu/selection.h"
#include "machine/gpu/set.h"
#include "machine/os/cpu_count.h"
#include "machine/os/launcher.h"
#include "machine/os/proc_list.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"
#include "model/results_columns.h"
#include "model/session_options.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The system's time is said to be set from this on; code blocks are rarely shorter than samples
 * are apart. */
#define SET_CLOCK_SECONDS 0.1

/* How long is waited where the kernel does not tell the end of a process. */
#define CHECK_MS 1

int session_check_owner(const struct gput_session *session, struct gput_error *error)
{
    if (session->owner == getpid())
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_STATE,
        "This process is a fork of the one that tracks; only that one can use the session.");
}

/* Marks of programs that began after the system's time was set are on the new time, and the rows
 * are not. */
void session_warn_of_set_clock(const struct gput_session *session)
{
    const struct gput_session_options *options = &session->settings.options;
    const char *path = options->tracking_file ? options->tracking_file : options->energy_folder;
    double seconds = clock_seconds_of_ns(wall_clock_behind_ns());
    if (path && fabs(seconds) >= SET_CLOCK_SECONDS)
        session_warn(&session->settings,
            "The system's time was set %s by %.1f s while tracking: times in %s continue on the "
            "old clock; code blocks of programs started later are on the new one.",
            seconds > 0 ? "forward" : "back", fabs(seconds), path);
}

void session_leave_wall_clock(struct gput_session *session)
{
    if (session->has_wall_clock)
        wall_clock_end_session();
    session->has_wall_clock = false;
}

unsigned session_own_threads(void *caller)
{
    const struct gput_session *session = caller;
    return session_events_has_thread(&session->events) + sinks_threads(&session->sinks) +
           bounded_calls_threads(session->settings.calls) + gpu_set_threads(session->settings.gpus);
}

int64_t session_own_threads_cpu_ns(const struct gput_session *session)
{
    return session->events.cpu_ns + sinks_cpu_ns(&session->sinks) +
           bounded_calls_cpu_ns(session->settings.calls);
}

bool session_main_has_ended(const struct gput_session *session)
{
    if (session->settings.mode == SESSION_LAUNCHED) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)session->target.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
            return info.si_pid == session->target.pid;
        if (errno == ECHILD)
            return true; /* it was collected elsewhere */
    }                    /* else a filter of system calls refuses it: */
    if (session->settings.mode == SESSION_MACHINE)
        return false;
    if (session->target.pid_fd >= 0) {
        struct pollfd ended = {.fd = session->target.pid_fd, .events = POLLIN};
        return poll(&ended, 1, 0) == 1;
    }
    struct proc_stat stat;
    int code = proc_stat_read_bounded(session->settings.calls,
        session->settings.options.procfs_root, session->target.pid, &stat, NULL);
    if (code != GPUT_OK)
        return code == GPUT_ERROR_GONE;
    /* Its pid was reused; or its parent has not collected it. */
    return stat.start_time_ticks != session->target.main_start_ticks ||
           (stat.state == 'Z' && stat.thread_count <= 1);
}

bool session_await_end(const struct gput_session *session, int timeout_ms)
{
    struct pollfd ended = {.fd = session->target.pid_fd, .events = POLLIN};
    poll(&ended, 1, ended.fd >= 0 || timeout_ms < CHECK_MS ? timeout_ms : CHECK_MS);
    return session_main_has_ended(session);
}

/* ---- What it may use ---- */

void session_allowed_forget(struct session_settings *settings)
{
    settings->allowed =
        (struct gput_allowed){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    settings->static_data.allowed_ram_bytes = settings->static_data.allowed_cores = NAN;
}

void session_allowed_expect(struct session_settings *settings)
{
    struct gput_static_data *data = &settings->static_data;
    bool is_limited = !settings->options.whole_machine && !isnan(data->allowed_cores);
    data->n_expected_cores = settings->options.n_expected_cores ? settings->options.n_expected_cores
                             : is_limited ? (uint32_t)fmax(ceil(data->allowed_cores), 1)
                                          : data->system_core_count;
    session_settings_fill_gpus(settings, data);
}

void session_allowed_read_gpus(
    struct session_settings *settings, launcher_variable *variable, void *environment)
{
    struct gpu_visible visible;
    gpu_visible_read(variable, environment, &visible);
    bool is_limited = gpu_visible_is_limited(&visible) && !settings->options.gpu_uuids;
    gpu_set_show(settings->gpus, is_limited ? &visible : NULL);
    settings->allowed.gpus = is_limited && !gpu_set_is_opening(settings->gpus)
                                 ? (double)gpu_set_selected_count(settings->gpus)
                                 : NAN;
    if (settings->options.gpu_uuids)
        settings->allowed.named_gpus = (double)gpu_set_selected_count(settings->gpus);
    if (settings->options.whole_machine)
        gpu_set_show(settings->gpus, NULL);
}

void session_allowed_read(struct session_settings *settings, pid_t pid,
    const struct cgroup_limits *limits, launcher_variable *variable, void *environment)
{
    struct gput_allowed *allowed = &settings->allowed;
    struct gput_static_data *data = &settings->static_data;
    session_allowed_forget(settings);
    struct slurm_allocation slurm;
    uint32_t affinity;
    slurm_parse(variable, environment, &slurm);
    if (cpu_count_allowed(settings->options.procfs_root, settings->has_own_procfs, pid, &affinity,
            NULL) == GPUT_OK)
        allowed->affinity_cores = affinity;
    allowed->quota_cores = limits->cpu_cores;
    allowed->cpuset_cores = limits->cpuset_cores;
    allowed->memory_max_bytes = limits->memory_max_bytes;
    allowed->swap_max_bytes = limits->swap_max_bytes;
    allowed->pids_max = limits->pids_max;
    allowed->slurm_cores = slurm.cores;
    allowed->slurm_ram_bytes = slurm.ram_bytes;
    if (settings->limits.values[GPUT_LIMIT_RAM] > 0)
        allowed->limit_ram_bytes = settings->limits.values[GPUT_LIMIT_RAM];
    double cores = fmin(allowed->affinity_cores, allowed->quota_cores);
    cores = fmin(fmin(cores, allowed->cpuset_cores), allowed->slurm_cores);
    session_allowed_read_gpus(settings, variable, environment);
    double ram = fmin(allowed->memory_max_bytes, allowed->slurm_ram_bytes);
    ram = fmin(ram, allowed->limit_ram_bytes);
    if (cores < data->system_core_count)
        data->allowed_cores = cores;
    if (ram < data->ram_system_capacity_bytes)
        data->allowed_ram_bytes = ram;
}

/* ---- Orphans ---- */

/*
 * We are the subreaper of a launched command, so its orphans become our children: they remain
 * tracked, and are collected when they end. Children that the caller starts itself are neither
 * tracked nor collected.
 */

/* True where a list has a process. */
static bool contains(const struct pid_vector *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->count; i++) {
        if (pids->pids[i] == pid)
            return true;
    }
    return false;
}

/* NULL: it is not tracked, or nothing is yet. */
static struct process *tracked(struct gput_session *session, pid_t pid)
{
    return session->has_sampler ? process_tree_get(&session->sampler.tree, pid) : NULL;
}

/* Whether a child of ours is an orphan or started by the caller, as far as the log knows. */
enum owner { ORPHAN, OWN_CHILD, UNKNOWN };

/* Tells whose child a process is that has ended: the caller's own, or an orphan of the session.
 * */
static enum owner owner_of(struct gput_session *session, pid_t pid)
{
    const struct process_log *log = &session->ledger.log;
    if (contains(&session->target.earlier_children, pid))
        return OWN_CHILD;
    if (session->settings.options.no_other_children || tracked(session, pid))
        return ORPHAN;
    /* Better to miss an orphan than to collect a child that the caller waits for. */
    if (!process_log_has_all(log))
        return OWN_CHILD;
    return UNKNOWN;
}

bool session_is_own_child(void *user, pid_t pid)
{
    struct gput_session *session = user;
    enum owner owner = owner_of(session, pid);
    if (owner != UNKNOWN)
        return owner == OWN_CHILD;
    /*
     * The kernel announces descendants of the command. An orphan announced after events were read
     * is left to the next scan. Events read in the middle of a scan could end the record of a
     * process that the scan has just found.
     */
    return !process_log_get(&session->ledger.log, pid);
}

/* The same for one that has ended: its record may be closed, but its start was announced. */
static bool ended_is_own_child(struct gput_session *session, pid_t pid)
{
    enum owner owner = owner_of(session, pid);
    if (owner != UNKNOWN)
        return owner == OWN_CHILD;
    session_events_read(&session->events);
    return contains(&session->events.own_children, pid);
}

void session_open_orphans_io(struct process_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (!process->is_main && process->polled->stat.ppid == tree->own_pid)
            process_open_io(process, &tree->view);
    }
}

/* Collects an orphan and adds its figures. */
static void collect(struct gput_session *session, pid_t pid)
{
    /* After the last scan nothing else would notice that it is gone. */
    struct process *process = tracked(session, pid);
    int io_fd = process ? process->polled->files.io_fd : -1;
    if (collected_add_orphan(
            &session->ledger.collected, session->settings.options.procfs_root, pid, io_fd) &&
        process)
        process->polled->is_reaped = true;
}

/* The next process to be collected, main or an orphan among others; 0: none. */
static pid_t next_ended(idtype_t type, pid_t pid)
{
    siginfo_t info = {0};
    if (waitid(type, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return 0;
    return info.si_pid;
}

/* One by one: an ended child of the caller comes first in waitid(). */
static void collect_past_own_children(struct gput_session *session)
{
    struct pid_vector children = {0};
    if (proc_children_read(session->settings.options.procfs_root, getpid(), 1, &children, NULL) ==
        GPUT_OK) {
        for (size_t i = 0; i < children.count; i++) {
            pid_t pid = children.pids[i];
            if (pid != session->target.pid && next_ended(P_PID, pid) == pid &&
                !ended_is_own_child(session, pid))
                collect(session, pid);
        }
    }
    pid_vector_finish(&children);
}

void session_reap_orphans(struct gput_session *session)
{
    pid_t pid;
    while ((pid = next_ended(P_ALL, 0)) > 0) {
        /* Main is collected by gput_session_wait(). */
        if (pid == session->target.pid || ended_is_own_child(session, pid)) {
            collect_past_own_children(session);
            return;
        }
        collect(session, pid);
    }
}

/* ---- Results ---- */

/* The results that a session returns to its caller, while it runs and after. */

void session_make_results(struct gput_session *session, struct gput_results *results)
{
    ledger_update(&session->ledger);
    tracker_cost_update(
        &session->ledger.cost, session_own_threads_cpu_ns(session), &session->schedule);
    ledger_results(&session->ledger, results);
    limits_fill(&session->limits, results);
    sinks_add_sources(&session->sinks, results);
}

/* Before anything is given. */
static int check(const struct gput_session *session, struct gput_error *error)
{
    if (session->phase == SESSION_CREATED)
        return error_set(error, GPUT_ERROR_STATE, "Tracking has not started.");
    return session_check_owner(session, error);
}

int gput_session_results(
    struct gput_session *session, struct gput_results **results, struct gput_error *error)
{
    *results = NULL;
    TRY(check(session, error));
    if (!schedule_lock(&session->schedule))
        return gput_session_results_so_far(session, results, error);
    struct gput_results *made = calloc(1, sizeof *made);
    if (made)
        session_make_results(session, made);
    schedule_unlock(&session->schedule);
    *results = made;
    return made ? GPUT_OK : error_memory(error);
}

int gput_session_processes(
    struct gput_session *session, struct gput_processes **processes, struct gput_error *error)
{
    *processes = NULL;
    if (!session->settings.options.processes)
        return error_set(error, GPUT_ERROR_STATE,
            "This session does not list its processes: set the option `processes`.");
    TRY(check(session, error));
    if (!schedule_lock(&session->schedule))
        return error_set(error, GPUT_ERROR_STATE,
            "The processes cannot be listed: the sampling thread waits in the kernel.");
    int code = ledger_list_processes(&session->ledger, processes);
    schedule_unlock(&session->schedule);
    return code == GPUT_OK ? code : error_memory(error);
}

int gput_session_results_so_far(
    struct gput_session *session, struct gput_results **results, struct gput_error *error)
{
    *results = NULL;
    TRY(session_check_owner(session, error));
    if (!latest_has_results(&session->latest))
        return error_set(error, GPUT_ERROR_STATE, "Tracking has not started.");
    struct gput_results *copy = calloc(1, sizeof *copy);
    if (!copy || latest_results(&session->latest, 0, copy) == 0) {
        gput_results_destroy(copy);
        return error_memory(error);
    }
    *results = copy;
    return GPUT_OK;
}

int gput_session_latest_snapshot(
    struct gput_session *session, struct gput_snapshot **snapshot, struct gput_error *error)
{
    *snapshot = NULL;
    TRY(session_check_owner(session, error));
    if (!session->settings.options.snapshots)
        return error_set(error, GPUT_ERROR_STATE,
            "This session keeps no snapshots: set the option `snapshots`.");
    *snapshot = latest_snapshot(&session->latest);
    return *snapshot ? GPUT_OK : error_set(error, GPUT_ERROR_STATE, "Tracking has not started.");
}

const char *gput_session_address(const struct gput_session *session)
{
    return sinks_address(&session->sinks);
}

/* Nothing but the machine is known of such results. */
int gput_session_empty_results(const struct gput_session_options *given,
    struct gput_results **results, struct gput_error *error)
{
    struct gput_session_options options;
    struct gput_limits limits;
    *results = NULL;
    TRY(session_options_read(given, &options, &limits, error));
    struct gput_results *made = *results = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    results_forget(made);
    uint32_t cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    made->static_data = (struct gput_static_data){.ram_unit = options.ram_unit,
        .gpu_ram_unit = options.gpu_ram_unit,
        .time_unit = options.time_unit,
        .ram_system_capacity_bytes =
            (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
        .system_core_count = cores,
        .n_expected_cores = options.n_expected_cores ? options.n_expected_cores : cores,
        .allowed_ram_bytes = NAN,
        .allowed_cores = NAN};
    return GPUT_OK;
}

/* ---- Descriptors ---- */

/* The most that are kept: each has about 5 KB in the kernel. */
#define MAX_KEPT 20000
/* The limit that is asked for: as many descriptors again stay free for everything else. */
#define WANTED_LIMIT (2 * MAX_KEPT + 1000)
/* One of this many descriptors is left to gpu-tracker itself: drivers of GPUs open dozens. */
#define LEFT_SHARE 8
#define MIN_LEFT 64
/* The fewest with which a command can be tracked: a pipe while it is started, then its files. */
#define MIN_FILES 5

/* Counts the descriptors that are open; returns the limit where that is not known. Since Linux 6.2
 * the folder's size says it. */
static rlim_t open_files(rlim_t limit)
{
    int fd;
    struct stat info;
    struct pid_vector numbers = {0};
    if (stat("/proc/self/fd", &info) == 0 && info.st_size > 0)
        return (rlim_t)info.st_size;
    if (procfs_open("/proc", PROCFS_SYSTEM, "self/fd", &fd, NULL) != GPUT_OK)
        return limit;
    rlim_t count = procfs_list_fd(fd, &numbers) == GPUT_OK ? numbers.count : limit;
    close(fd);
    pid_vector_finish(&numbers);
    return count;
}

unsigned session_files_kept(bool raises_limit)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    rlim_t open = open_files(limit.rlim_cur);
    rlim_t wanted = limit.rlim_max < WANTED_LIMIT ? limit.rlim_max : WANTED_LIMIT;
    struct rlimit raised = {.rlim_cur = wanted, .rlim_max = limit.rlim_max};
    if (raises_limit && limit.rlim_cur < wanted && setrlimit(RLIMIT_NOFILE, &raised) == 0)
        limit = raised;
    rlim_t free = limit.rlim_cur > open ? limit.rlim_cur - open : 0;
    rlim_t left = free / LEFT_SHARE > MIN_LEFT ? free / LEFT_SHARE : MIN_LEFT;
    if (!raises_limit || left >= free / 2)
        left = free - free / 2;
    rlim_t kept = free - left;
    return kept < MAX_KEPT ? (unsigned)kept : MAX_KEPT;
}

int session_files_check(struct gput_error *error)
{
    int files[MIN_FILES], count = 0;
    while (count < MIN_FILES && (files[count] = open("/", O_PATH | O_CLOEXEC)) >= 0)
        count++;
    int failure = errno;
    for (int i = 0; i < count; i++)
        close(files[i]);
    if (count == MIN_FILES)
        return GPUT_OK;
    return error_set_errno(error, failure,
        "Tracking needs %d more open files, and only %d are allowed (ulimit -n)", MIN_FILES, count);
}
