#include "session/session_state.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "os/cgroup.h"
#include "os/cpu_clock.h"
#include "os/cpu_count.h"
#include "os/proc_children.h"
#include "os/proc_stat.h"
#include "os/proc_statm.h"
#include "os/procfs.h"
#include "process/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Pages of libraries that a fork of ours maps. */
#define FORKED_FILE_BYTES (UINT64_C(512) << 10)
/* Records of processes that ended, for the table of processes: the largest. */
#define MAX_ENDED 2000
/* Waiting for a process that is none of our children, where the kernel has no pidfds. */
#define POLL_INTERVAL_MS 50
/* Of one millisecond, for late events. */
#define MAX_PAUSES 20
/* Descriptors cached to read faster. */
#define MAX_CACHED_FILES 20000
/* The fewest with which a command can be tracked: a pipe while it is started, then its files. */
#define MIN_FILES 5
/* Neither WIFEXITED() nor WIFSIGNALED() is true of it. */
#define STATUS_UNKNOWN (-1)

/* How many are open; the limit where that is not known. */
static rlim_t open_files(rlim_t limit)
{
    int fd;
    struct pid_vector numbers = {0};
    if (procfs_open("/proc", PROCFS_SYSTEM, "self/fd", &fd, NULL) != GPUT_OK)
        return limit;
    rlim_t count = procfs_list_fd(fd, &numbers) == GPUT_OK ? numbers.count : limit;
    close(fd);
    pid_vector_finish(&numbers);
    return count;
}

/* Half of what may still be opened is left to the caller. */
static unsigned kept_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    rlim_t open = open_files(limit.rlim_cur);
    rlim_t files = limit.rlim_cur > open ? (limit.rlim_cur - open) / 2 : 0;
    return files < MAX_CACHED_FILES ? (unsigned)files : MAX_CACHED_FILES;
}

/* Checked before a command is started: without them it could be started but not read. */
static int check_files(struct gput_error *error)
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
        "The command is not started: %d more files have to be opened to track it, and %d can be "
        "(ulimit -n)",
        MIN_FILES, count);
}

static double lower(double a, double b)
{
    return isnan(a) || b < a ? b : a;
}

/* What the process may use: control groups and affinity, where they are tighter than the machine.
 */
static void read_limits(struct gput_session *session)
{
    struct gput_static_data *data = &session->settings.static_data;
    const char *procfs = session->settings.options.procfs_root;
    struct cgroup_limits limits;
    /* A launched command's group, if it has one of its own, has no limits but those above it. */
    if (session->settings.mode != SESSION_LAUNCHED)
        cgroup_find(procfs, session->settings.options.sysfs_root, session->pid,
            &session->launch_cgroup, NULL);
    cgroup_limits_read(&session->launch_cgroup, &limits);
    cgroup_finish(&session->launch_cgroup);
    data->allowed_ram_bytes = limits.memory_max_bytes;
    data->allowed_cores = lower(limits.cpu_cores, limits.cpuset_cores);
    uint32_t allowed;
    if (cpu_count_allowed(procfs, session->pid, &allowed, NULL) == GPUT_OK)
        data->allowed_cores = lower(data->allowed_cores, allowed);
    if (data->allowed_cores >= data->system_core_count)
        data->allowed_cores = NAN;
    if (data->allowed_ram_bytes >= data->ram_system_capacity_bytes)
        data->allowed_ram_bytes = NAN;
}

static void start_log(struct gput_session *session)
{
    bool detailed = session->settings.options.processes;
    struct process_log_options options = {
        .procfs_root = session->settings.options.procfs_root,
        .ns_per_tick = NS_PER_SECOND / sysconf(_SC_CLK_TCK),
        .has_events = session->events.has_events,
        .has_taskstats = session->events.has_ends,
        .keeps_ended = detailed,
        .keeps_counts =
            session->settings.mode == SESSION_ATTACHED || session->settings.options.listen,
        .has_live_counts = session->settings.options.listen != NULL,
        .reads_commands = detailed && session->settings.options.command_lines,
        .max_ended = MAX_ENDED,
    };
    process_log_finish(&session->log);
    process_log_init(&session->log, &options);
    enum session_events_use use = SESSION_EVENTS_COUNT;
    /* Exit records have names, too, but less CPU time than parents collect. */
    if (session->events.has_ends && session->settings.mode == SESSION_ATTACHED)
        use = SESSION_EVENTS_TOTALS;
    else if (!session->events.has_ends && detailed)
        use = SESSION_EVENTS_NAMES;
    session_events_begin(&session->events, &session->log, use);
}

static int start_sampler(struct gput_session *session, struct gput_error *error)
{
    struct sampler_options options = {
        .tree = {.procfs_root = session->settings.options.procfs_root,
            .main = session->pid,
            .others = session->others,
            .n_others = session->n_others,
            .main_is_old = session->settings.mode != SESSION_LAUNCHED,
            .is_subreaper = session->settings.mode == SESSION_LAUNCHED,
            .is_own_child = session_is_own_child,
            .caller = session,
            .kept_files = kept_files(),
            .gone = process_log_remove,
            .user = &session->log},
        .system_core_count = session->settings.static_data.system_core_count,
        .n_expected_cores = session->settings.static_data.n_expected_cores,
        .exact_ram = session->settings.options.ram_mode == GPUT_RAM_EXACT,
        .start_ns = session->settings.start_ns,
        .interval_ns = session->settings.interval_ns,
        .gpus = session->settings.gpus,
        .sysfs_root = session->settings.options.sysfs_root,
        .known_cpu_ns = session_auto_reaped_cpu_ns,
        .user = session,
    };
    start_log(session);
    TRY(sampler_init(&session->sampler, &options, &session->system, error));
    session->has_sampler = true;
    /* Main must be known before the first event is read: it may have children already. */
    process_log_scan(&session->log, &session->sampler.tree, clock_monotonic_ns());
    if (session->settings.mode == SESSION_LAUNCHED && session->log.main) {
        session->log.main->start_ns = session->settings.start_ns;
        session->log.main->before.write_call_bytes = session->cgroup.entry_bytes;
    }
    return GPUT_OK;
}

/*
 * Pids mean other processes in the procfs of another pid namespace. A procfs that the caller names
 * can still be read, if the pid to track is of that procfs and no signal is sent. Commands that we
 * start and the calling process have pids of our own namespace.
 */
static int check_procfs(
    struct gput_session *session, enum session_mode mode, struct gput_error *error)
{
    const char *root = session->settings.options.procfs_root;
    session->settings.has_own_procfs = cpu_clock_usable(root);
    if (session->settings.has_own_procfs || mode == SESSION_MACHINE)
        return GPUT_OK;
    if (mode != SESSION_ATTACHED || !session->settings.procfs_is_named)
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "There is no procfs of our own pid namespace at %s: processes have other numbers "
            "there. Mount one (mount -t proc proc /proc, unshare --mount-proc), or name another "
            "folder in GPUT_PROCFS.",
            root);
    if (session->settings.options.limits.enforce)
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "Processes of %s cannot be ended for a limit: they are of another pid namespace, where "
            "their numbers mean others. Track them without --enforce, or from inside of it.",
            root);
    return GPUT_OK;
}

/* The session's time starts here. */
static int begin(struct gput_session *session, enum session_mode mode, struct gput_error *error)
{
    if (session->phase != SESSION_CREATED)
        return error_set(error, GPUT_ERROR_STATE,
            "This session was used before. A session tracks once; create another one.");
    TRY(check_procfs(session, mode, error));
    session->settings.mode = mode;
    TRY(sinks_begin(&session->sinks, error));
    session_events_finish(&session->events);
    if (mode != SESSION_MACHINE)
        session_events_open(&session->events, session->settings.options.procfs_root);
    session->starts_before = session->starts_after = (struct session_starts){0};
    if (mode != SESSION_MACHINE && !session->events.has_events && session->settings.has_own_procfs)
        session_starts_read(session->settings.options.procfs_root, &session->starts_before);
    session->own_cpu_at_start_ns = clock_process_cpu_ns();
    if (mode != SESSION_SELF && session->own_statm_fd < 0)
        procfs_open("/proc", PROCFS_SYSTEM, "self/statm", &session->own_statm_fd, NULL);
    session->settings.start_ns = clock_monotonic_ns();
    return GPUT_OK;
}

/* A process in the network namespace to read. A launched command starts in ours, and may have ended
 * already; in another procfs, pid 1 represents the machine. */
static pid_t network_pid(const struct gput_session *session)
{
    if (session->settings.mode == SESSION_ATTACHED)
        return session->pid;
    return session->settings.has_own_procfs ? getpid() : 1;
}

static int track(struct gput_session *session, pid_t pid, struct gput_error *error)
{
    session->pid = pid;
    bool is_ours = pid != 0 && session->settings.has_own_procfs;
    session->pid_fd = is_ours ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    TRY(start_sampler(session, error));
    const struct process *main = process_tree_main(&session->sampler.tree);
    session->main_start_ticks = main ? main->start_time_ticks : 0;
    system_counters_finish(&session->system_counters);
    system_counters_begin(
        &session->system_counters, session->settings.options.procfs_root, network_pid(session));
    session_gpus_warn(session); /* not earlier: after a failure only that is reported */
    TRY(session_start_ticks(session, error));
    /* The sampling thread is running and reads what is set here. */
    pthread_mutex_lock(&session->schedule.lock);
    if (session->settings.mode != SESSION_MACHINE)
        read_limits(session);
    pthread_mutex_unlock(&session->schedule.lock);
    session->phase = SESSION_TRACKING;
    return GPUT_OK;
}

int gput_session_track_self(struct gput_session *session, struct gput_error *error)
{
    if (session->settings.options.limits.enforce)
        return error_set(error, GPUT_ERROR_INVALID,
            "A program that tracks itself cannot be ended for a limit. Let another process track "
            "it.");
    TRY(begin(session, SESSION_SELF, error));
    session->at_start = (struct session_counts){0};
    session_counts_add_self(&session->at_start);
    return track(session, getpid(), error);
}

int gput_session_track_pid(struct gput_session *session, pid_t pid, struct gput_error *error)
{
    if (pid == getpid())
        return gput_session_track_self(session, error);
    if (pid <= 0)
        return error_set(error, GPUT_ERROR_INVALID, "%d is not the number of a process.", (int)pid);
    TRY(begin(session, SESSION_ATTACHED, error));
    return track(session, pid, error);
}

/* Tracks the first process that exists, with those after it; the rest is skipped. */
static int track_first(
    struct gput_session *session, const pid_t *pids, size_t count, struct gput_error *error)
{
    struct gput_error problem;
    int code = GPUT_ERROR_NOT_FOUND;
    for (size_t i = 0; i < count && code == GPUT_ERROR_NOT_FOUND; i++) {
        session->others = &pids[i + 1];
        session->n_others = count - i - 1;
        code = gput_session_track_pid(session, pids[i], &problem);
    }
    session->others = NULL;
    session->n_others = 0;
    if (code != GPUT_OK && error)
        *error = problem;
    return code;
}

static void warn_of_absent(struct gput_session *session, const pid_t *pids, size_t count)
{
    pthread_mutex_lock(&session->schedule.lock);
    for (size_t i = 0; i < count; i++)
        if (!process_tree_get(&session->sampler.tree, pids[i]))
            session_warn(&session->settings,
                "There is no process %d to track; the others are tracked.", (int)pids[i]);
    pthread_mutex_unlock(&session->schedule.lock);
}

int gput_session_track_pids(
    struct gput_session *session, const pid_t *pids, size_t count, struct gput_error *error)
{
    if (count == 0)
        return error_set(error, GPUT_ERROR_INVALID, "No process was given.");
    pid_t *order = malloc(count * sizeof *order);
    if (!order)
        return error_memory(error);
    memcpy(order, pids, count * sizeof *order);
    /* The calling process first: our own sampling does not count. */
    for (size_t i = 1; i < count; i++) {
        if (order[i] != getpid())
            continue;
        memmove(&order[1], &order[0], i * sizeof *order);
        order[0] = getpid();
    }
    int code = track_first(session, order, count, error);
    if (code == GPUT_OK)
        warn_of_absent(session, order, count);
    free(order);
    return code;
}

int gput_session_track_machine(struct gput_session *session, struct gput_error *error)
{
    TRY(begin(session, SESSION_MACHINE, error));
    return track(session, 0, error);
}

/*
 * An upper bound of the RSS of our fork before execve(): the kernel copies page tables of anonymous
 * memory, and of little else.
 */
static uint64_t forked_rss_bytes(const struct gput_session *session)
{
    struct proc_statm statm;
    if (proc_statm_read(session->settings.options.procfs_root, getpid(), &statm, NULL) != GPUT_OK)
        return 0;
    uint64_t anonymous_pages = statm.resident_pages - statm.shared_pages;
    return anonymous_pages * (uint64_t)sysconf(_SC_PAGESIZE) + FORKED_FILE_BYTES;
}

static void make_cgroup(struct gput_session *session)
{
    const char *procfs = session->settings.options.procfs_root,
               *sysfs = session->settings.options.sysfs_root;
    cgroup_finish(&session->launch_cgroup);
    if (cgroup_find(procfs, sysfs, getpid(), &session->launch_cgroup, NULL) != GPUT_OK) {
        text_fit(session->cgroup.why_not, sizeof session->cgroup.why_not,
            "this kernel has no control groups");
        return;
    }
    own_cgroup_create(&session->cgroup, &session->launch_cgroup, getpid());
}

static int launch_and_track(
    struct gput_session *session, char *const argv[], struct gput_error *error)
{
    pid_t pid;
    TRY(launch(argv, &session->cgroup, &pid, error));
    /* Once the process has ended only the superuser may open it; a descriptor stays readable. */
    if (session->io_fd >= 0)
        close(session->io_fd);
    session->io_fd = -1;
    procfs_open(session->settings.options.procfs_root, pid, "io", &session->io_fd, NULL);
    int code = track(session, pid, error);
    if (code != GPUT_OK) {
        /* It must not run untracked. */
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return code;
}

int gput_session_launch(struct gput_session *session, char *const argv[], struct gput_error *error)
{
    if (!argv[0] || !*argv[0])
        return error_set(error, GPUT_ERROR_INVALID, "Empty command provided.");
    TRY(begin(session, SESSION_LAUNCHED, error));
    proc_children_read(session->settings.options.procfs_root, getpid(), 0, &session->foreign, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    session->forked_rss_bytes = forked_rss_bytes(session);

    make_cgroup(session);
    int code = check_files(error);
    if (code != GPUT_OK) {
        own_cgroup_remove(&session->cgroup);
        return code;
    }

    session->settings.start_ns = clock_monotonic_ns();
    code = launch_and_track(session, argv, error);
    if (code != GPUT_OK)
        own_cgroup_remove(&session->cgroup); /* the next attempt makes another */
    return code;
}

pid_t gput_session_pid(const struct gput_session *session)
{
    return session->pid;
}

int gput_session_end_fd(const struct gput_session *session)
{
    return session->pid_fd;
}

/* ---- waiting ---- */

/* True when main has ended; it is not collected yet. */
static bool main_has_ended(const struct gput_session *session)
{
    if (session->settings.mode == SESSION_LAUNCHED) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)session->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
            return errno == ECHILD; /* it was collected elsewhere */
        return info.si_pid == session->pid;
    }
    if (session->settings.mode == SESSION_MACHINE)
        return false;
    if (session->pid_fd >= 0) {
        struct pollfd ended = {.fd = session->pid_fd, .events = POLLIN};
        return poll(&ended, 1, 0) == 1;
    }
    struct proc_stat stat;
    int code = proc_stat_read(session->settings.options.procfs_root, session->pid, &stat, NULL);
    if (code != GPUT_OK)
        return code == GPUT_ERROR_GONE;
    /* Its pid was reused; or its parent has not collected it. */
    return stat.start_time_ticks != session->main_start_ticks ||
           (stat.state == 'Z' && stat.thread_count <= 1);
}

/* Sleeps until main may have ended, a signal arrived, or the time is over. False: the time is over.
 */
static bool wait_a_while(const struct gput_session *session, int64_t deadline_ns, bool forever)
{
    int64_t left_ms = forever ? -1 : (deadline_ns - clock_monotonic_ns()) / 1000000;
    if (!forever && left_ms <= 0)
        return false;
    struct pollfd ended = {.fd = session->pid_fd, .events = POLLIN};
    bool is_reported =
        session->pid_fd >= 0 && session->main_ended_ns == 0 &&
        (session->settings.mode == SESSION_LAUNCHED || !session->settings.options.limits.enforce);
    if (!is_reported && (forever || left_ms > POLL_INTERVAL_MS))
        left_ms = POLL_INTERVAL_MS;
    if (left_ms > INT32_MAX)
        left_ms = INT32_MAX;
    return poll(&ended, is_reported, (int)left_ms) >= 0;
}

/* True when main has ended, and all that was to be ended for a limit; or when that was given up. */
static bool tree_has_ended(struct gput_session *session)
{
    bool main_lives = session->main_ended_ns == 0 && !main_has_ended(session);
    /* A launched command is waited for in any case: we collect its status. */
    if (main_lives &&
        (session->settings.mode == SESSION_LAUNCHED || !session->settings.options.limits.enforce))
        return false;
    if (!main_lives && session->main_ended_ns == 0)
        session->main_ended_ns = clock_monotonic_ns();
    pthread_mutex_lock(&session->schedule.lock);
    bool has_ended = main_lives ? session->gave_up_ending
                                : !session_is_ending_tree(session, session->main_ended_ns);
    pthread_mutex_unlock(&session->schedule.lock);
    return has_ended;
}

/* Reads the last events and exit records, and the system's figures. Twice, because the last exit
 * record of a process is only final when no more have arrived. */
static void end_counting(struct gput_session *session)
{
    session_events_end(&session->events);
    session_events_read(&session->events);
    session_events_read(&session->events);
    /* The kernel announces an exit only after waking the process that waits for it. */
    struct timespec pause = {.tv_nsec = NS_PER_SECOND / 1000};
    for (int i = 0; i < MAX_PAUSES && process_log_end_unannounced(&session->log); i++) {
        nanosleep(&pause, NULL);
        session_events_read(&session->events);
    }
    process_log_read_counts(&session->log);
    session_close_totals(session);
    system_counters_update(&session->system_counters);
    if (session->starts_before.is_known)
        session_starts_read(session->settings.options.procfs_root, &session->starts_after);
    session->has_ended = true;
}

/* The last sample must see main before it is collected: then its CPU clock is gone. */
static void end_launched(struct gput_session *session)
{
    schedule_stop(&session->schedule);
    session_counts_add_io_fd(&session->counts, session->io_fd);
    /* Subtracts what our fork wrote before the command started. */
    uint64_t *written = &session->counts.tasks.write_call_bytes;
    *written -= *written < session->cgroup.entry_bytes ? *written : session->cgroup.entry_bytes;
    pid_t collected;
    do {
        collected = wait4(session->pid, &session->main_status, 0, &session->main_usage);
    } while (collected < 0 && errno == EINTR);
    session->has_main_usage = collected == session->pid;
    if (!session->has_main_usage)
        session->main_status = STATUS_UNKNOWN;
    own_cgroup_usage(&session->cgroup, &session->cgroup_usage);
    pthread_mutex_lock(&session->schedule.lock);
    session_reap_orphans(session);
    pthread_mutex_unlock(&session->schedule.lock);
    if (session->has_main_usage)
        session_counts_add(&session->counts, &session->main_usage);
    end_counting(session);
}

int gput_session_wait(struct gput_session *session, int timeout_ms, bool *ended, int *status,
    struct gput_error *error)
{
    *ended = false;
    *status = session->main_status;
    if (session->phase == SESSION_CREATED)
        return error_set(error, GPUT_ERROR_STATE, "Nothing is tracked yet.");
    TRY(session_check_owner(session, error));
    int64_t deadline_ns = clock_monotonic_ns() + (int64_t)timeout_ms * 1000000;

    if (!session->main_end_is_reported) {
        while (!tree_has_ended(session)) {
            if (!wait_a_while(session, deadline_ns, timeout_ms < 0))
                return GPUT_OK;
        }
        if (session->settings.mode == SESSION_LAUNCHED)
            end_launched(session);
        session->main_end_is_reported = true;
    }
    *ended = true;
    *status = session->main_status;
    return GPUT_OK;
}

/* NULL unless a file is to have them. */
static struct gput_processes *processes_for_file(struct gput_session *session)
{
    const struct gput_session_options *options = &session->settings.options;
    struct gput_processes *processes = NULL;
    if (options->processes && options->tracking_file &&
        session_list_processes(session, &processes) != GPUT_OK)
        session_warn(&session->settings,
            "There was not enough memory for the table of processes, which is missing.");
    return processes;
}

void session_end(struct gput_session *session, bool is_abandoned)
{
    schedule_stop(&session->schedule);
    sinks_stop(&session->sinks);
    if (!session->has_ended)
        end_counting(session);
    session->phase = SESSION_STOPPED;
    if (is_abandoned) {
        struct gput_results results;
        session_fill_results(session, &results);
        sinks_results(&session->sinks, &results);
    }
    struct gput_processes *processes = processes_for_file(session);
    struct sink_end end = {.is_abandoned = is_abandoned, .processes = processes};
    sinks_close(&session->sinks, &end);
    gput_processes_destroy(processes);
    session_warn_of_set_clock(session);
    session_leave_wall_clock(session);
}

int gput_session_stop(struct gput_session *session, struct gput_error *error)
{
    if (session->phase == SESSION_CREATED)
        return error_set(error, GPUT_ERROR_STATE, "Tracking was not started.");
    if (session->phase == SESSION_STOPPED)
        return error_set(error, GPUT_ERROR_STATE, "Tracking was stopped before.");
    TRY(session_check_owner(session, error));
    session_end(session, false);
    return GPUT_OK;
}
