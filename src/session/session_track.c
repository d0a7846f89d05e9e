#include "session/session_state.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "machine/os/cgroup.h"
#include "machine/os/cpu_clock.h"
#include "machine/os/environment.h"
#include "machine/os/proc_list.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"
#include "machine/os/system_stat.h"
#include "machine/process/launch.h"
#include "session/session_launch.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Records of processes that ended, for the table of processes: the largest. */
#define MAX_ENDED 2000

/* execve() and the loader have done their work by then: a process that is read earlier may be in
 * execve(), and is then read by another thread. */
#define MAX_EXEC_MS 1
/* A command that has ended by then is too short for what takes longer itself. */
#define MAX_SHORT_MS 10
/* How often it is looked whether a driver has answered. */
#define GPU_CHECK_MS 1

/* Finds the control groups of the process, with their limits, and the container that they and its
 * mounts name. A launched command has ours: without us it would not be in a group that we make. */
static void read_groups(struct gput_session *session, pid_t pid, struct session_shared *shared)
{
    struct session_target *target = &session->target;
    const struct gput_session_options *options = &session->settings.options;
    bool is_first = !shared->has_groups;
    cgroup_finish(&target->launch_cgroup);
    if (is_first)
        shared->has_texts =
            cgroup_texts_read(options->procfs_root, pid, &shared->texts, NULL) == GPUT_OK;
    const char *groups = str_text(&shared->texts.groups), *mounts = str_text(&shared->texts.mounts);
    target->has_cgroups = shared->has_texts && cgroup_parse(groups, mounts, options->sysfs_root,
                                                   &target->launch_cgroup) == GPUT_OK;
    /* The mounts are those of this process. */
    if (session->settings.mode == SESSION_ATTACHED)
        container_read(options->procfs_root, pid, &target->container);
    else
        container_parse(groups, mounts, &target->container);
    if (is_first)
        cgroup_limits_read(&target->launch_cgroup, &shared->limits);
    shared->has_groups = true;
}

/* Reads the limits of the process. A command that is launched has our limits; the groups are
 * kept for it. */
static void read_limits(struct gput_session *session, pid_t pid)
{
    struct session_target *target = &session->target;
    struct session_settings *settings = &session->settings;
    const char *procfs = settings->options.procfs_root;
    struct session_shared own = {0}, *shared = session->shared ? session->shared : &own;
    const struct cgroup_limits *limits = &shared->limits;
    struct environment environment = {0};
    bool has_own_environment = settings->mode != SESSION_ATTACHED;
    read_groups(session, pid, shared);
    if (!has_own_environment)
        environment_read(settings->calls, procfs, pid, &environment, NULL);
    session_allowed_read(settings, pid, limits,
        has_own_environment ? environment_own_variable : environment_variable, &environment);
    environment_finish(&environment);
    oom_kills_begin(&session->ledger.oom_kills, &target->launch_cgroup.memory);
    limit_group_begin(&session->ledger.limit_group, &target->launch_cgroup, limits);
    quota_group_begin(&session->ledger.quota, &target->launch_cgroup, limits);
    if (settings->mode != SESSION_LAUNCHED)
        cgroup_finish(&target->launch_cgroup);
    session_shared_finish(&own);
}

/* Its id, and those of the sessions that it is within. `pid`: that all of its processes descend
 * from. A process that is running already, and that such a session tracks, may have started without
 * the variable. */
static void name_session(struct session_settings *settings, pid_t pid)
{
    const char *procfs = settings->options.procfs_root;
    struct environment environment = {0};
    session_variable_make_id(procfs, pid, settings->id);
    if (settings->mode != SESSION_MACHINE)
        session_variable_parse(getenv("GPUT_SESSION"), procfs, pid, settings->within);
    if (settings->mode != SESSION_ATTACHED || settings->within[0])
        return;
    environment_read(settings->calls, procfs, pid, &environment, NULL);
    session_variable_parse(
        environment_variable(&environment, "GPUT_SESSION"), procfs, pid, settings->within);
    environment_finish(&environment);
}

/* Begins the log of processes with what the kernel announces here. */
static void start_log(struct gput_session *session)
{
    bool detailed = session->settings.options.processes;
    /* Writes of a process that tracks itself would include ours. */
    bool has_live_counts = session->settings.options.listen ||
                           (session->settings.mode != SESSION_SELF && session->sinks.want_bytes);
    struct process_log_options options = {
        .tree = &session->sampler.tree,
        .procfs_root = session->settings.options.procfs_root,
        .ns_per_tick = NS_PER_SECOND / sysconf(_SC_CLK_TCK),
        .has_events = session->events.has_events,
        .has_taskstats = session->events.has_exit_records,
        .keeps_ended = detailed,
        .keeps_counts = session->settings.mode == SESSION_ATTACHED || has_live_counts,
        .has_live_counts = has_live_counts,
        .reads_commands = detailed && session->settings.options.command_lines,
        .max_ended = MAX_ENDED,
    };
    process_log_finish(&session->ledger.log);
    process_log_init(&session->ledger.log, &options);
    enum session_events_use use = SESSION_EVENTS_COUNT;
    /* Exit records have names, too, but less CPU time than parents collect. */
    if (session->events.has_exit_records && session->settings.mode == SESSION_ATTACHED)
        use = SESSION_EVENTS_TOTALS;
    else if (!session->events.has_exit_records && detailed)
        use = SESSION_EVENTS_NAMES;
    session_events_begin(&session->events, &session->ledger.log, use);
}

/* Returns when exact readings of RAM are taken in a mode. */
static enum exact_readings_when when_to_read(enum gput_ram_mode mode)
{
    switch (mode) {
    case GPUT_RAM_EXACT:
        return EXACT_READINGS_ALWAYS;
    case GPUT_RAM_TOTALS:
        return EXACT_READINGS_OF_SEVERAL;
    case GPUT_RAM_ADAPTIVE:
        break;
    }
    return EXACT_READINGS_ADAPTIVE;
}

/* Returns the options of the sampler for this session. */
static struct sampler_options sampler_options_of(struct gput_session *session)
{
    return (struct sampler_options){
        .tree = {.procfs_root = session->settings.options.procfs_root,
            .calls = session->settings.calls,
            .main = session->target.pid,
            .others = session->target.others,
            .n_others = session->target.n_others,
            .main_is_old = session->settings.mode != SESSION_LAUNCHED,
            .is_subreaper = session->settings.mode == SESSION_LAUNCHED,
            .has_exit_records = session->events.has_exit_records,
            .may_choose_pids = !session->events.has_events && loadavg_pids_may_be_chosen(),
            .is_own_child = session_is_own_child,
            .caller = session,
            .kept_files = session_files_kept(session->settings.options.raise_nofile_limit),
            .removed = process_log_remove,
            .user = &session->ledger.log},
        .lists_all = session->settings.mode == SESSION_MACHINE &&
                     (session->settings.options.snapshots || session->settings.options.owners),
        .system_core_count = session->settings.static_data.system_core_count,
        .n_expected_cores = session->settings.static_data.n_expected_cores,
        .ram_readings = when_to_read(session->settings.options.ram_mode),
        .start_ns = session->settings.start_ns,
        .interval_ns = session->settings.interval_ns,
        .gpus = session->settings.gpus,
        .sysfs_root = session->settings.options.sysfs_root,
        .known_cpu_ns = ledger_auto_reaped_cpu_ns,
        .own_threads = session->settings.mode == SESSION_SELF ? session_own_threads : NULL,
        .user = &session->ledger,
    };
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
            "There is no procfs of this pid namespace at %s: pids differ there. Mount one (mount "
            "-t proc proc /proc, unshare --mount-proc), or name another folder in GPUT_PROCFS.",
            root);
    if (session->settings.limits.enforce)
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "Processes of %s cannot be killed for a limit: their pids belong to another pid "
            "namespace. Track them without --enforce, or run gpu-tracker inside that namespace.",
            root);
    return GPUT_OK;
}

/* Takes the sockets over that the session before has had. */
static void take_events(struct gput_session *session, struct session_shared *shared)
{
    session->events = shared->events;
    shared->has_events = false;
    session_events_discard(&session->events);
}

/* The session's time starts here. `pid`: of what is tracked; ours for a command that is launched.
 */
static int begin(
    struct gput_session *session, enum session_mode mode, pid_t pid, struct gput_error *error)
{
    if (session->phase != SESSION_CREATED)
        return error_set(
            error, GPUT_ERROR_STATE, "This session has already been used. Create a new one.");
    TRY(check_procfs(session, mode, error));
    session->settings.mode = mode;
    if (mode != SESSION_LAUNCHED && gpu_set_is_to_start(session->settings.gpus)) {
        gpu_set_start(session->settings.gpus);
        gpu_set_await_start(session->settings.gpus, GPU_OPEN_WAIT_NS);
    }
    if (mode == SESSION_MACHINE)
        session_allowed_forget(&session->settings);
    else
        read_limits(session, pid);
    session_allowed_expect(&session->settings);
    name_session(&session->settings, pid);
    TRY(sinks_begin(&session->sinks, error));
    session_events_finish(&session->events);
    if (session->shared && session->shared->has_events)
        take_events(session, session->shared);
    else if (mode != SESSION_MACHINE)
        session_events_open(&session->events, session->settings.has_own_procfs);
    ledger_begin(&session->ledger);
    session->settings.start_ns = clock_monotonic_ns();
    return GPUT_OK;
}

/* Whether the caller wants figures of the machine, whoever else reads it. */
static bool needs_node(const struct session_settings *settings)
{
    const struct gput_session_options *options = &settings->options;
    bool is_own_or_child = settings->mode == SESSION_LAUNCHED || settings->mode == SESSION_SELF;
    return !is_own_or_child || options->whole_machine || options->energy_folder;
}

/* Joins the trackers of this machine that take turns in reading its counters. */
static void join_node(struct gput_session *session)
{
    struct launcher launcher;
    if (needs_node(&session->settings))
        return;
    launcher_parse(environment_own_variable, NULL, &launcher);
    node_reader_join(
        &session->node, &launcher, environment_own_variable, NULL, session->settings.start_ns);
}

/* A process in the network namespace to read. A launched command starts in ours, and may have ended
 * already; in another procfs, pid 1 represents the machine. */
static pid_t network_pid(const struct gput_session *session)
{
    if (session->settings.mode == SESSION_ATTACHED)
        return session->target.pid;
    return session->settings.has_own_procfs ? getpid() : 1;
}

/*
 * Starts the GPU sources of a launched command while it runs: opening a driver's library takes
 * tens of milliseconds. A command that has ended before cannot have used a GPU, since that takes
 * longer, too. False: it ended without an answer of the driver, so nothing is known of GPUs; it
 * does not wait, as its last sample is due.
 */
static bool start_gpus(struct gput_session *session)
{
    struct gpu_set *gpus = session->settings.gpus;
    if (!gpu_set_is_to_start(gpus))
        return true;
    /* Joules of the CPU count from here on, not from the first sample. */
    if (!session->node.is_shared || session->node.reads)
        energy_meter_update_counters(&session->sampler.energy, clock_monotonic_ns());
    if (session_await_end(session, MAX_SHORT_MS))
        return false;
    gpu_set_start(gpus);
    int64_t deadline_ns = clock_monotonic_ns() + GPU_OPEN_WAIT_NS;
    bool has_ended = false;
    while (!gpu_set_has_started(gpus) && !has_ended && clock_monotonic_ns() < deadline_ns)
        has_ended = session_await_end(session, GPU_CHECK_MS);
    gpu_set_await_start(gpus, 0);
    session_allowed_read_gpus(&session->settings, environment_own_variable, NULL);
    session_allowed_expect(&session->settings);
    return !has_ended;
}

/* Opens what announces the end of the process, and reads the network traffic before it did
 * anything. */
static void open_target(struct gput_session *session, pid_t pid)
{
    session->target.pid = pid;
    file_close_fd(&session->target.pid_fd); /* of an attempt before */
    bool is_visible = pid != 0 && session->settings.has_own_procfs;
    session->target.pid_fd = is_visible ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    system_counters_finish(&session->ledger.system_counters);
    system_counters_begin(&session->ledger.system_counters, session->settings.options.procfs_root,
        network_pid(session));
}

/* Begins to track a process: opens what is read at each tick, and scans its tree once. */
static int track(struct gput_session *session, pid_t pid, struct gput_error *error)
{
    if (session->settings.mode != SESSION_LAUNCHED)
        open_target(session, pid);
    join_node(session);
    const struct sampler_options options = sampler_options_of(session);
    start_log(session);
    if (session->has_sampler)
        sampler_finish(&session->sampler); /* of an attempt before */
    session->has_sampler = false;
    TRY(sampler_init(&session->sampler, &options, &session->system, error));
    session->has_sampler = true;
    /* Main must be known before the first event is read: it may have children already. */
    process_log_scan(&session->ledger.log, clock_monotonic_ns());
    if (session->settings.mode == SESSION_LAUNCHED && session->ledger.log.main) {
        session->ledger.log.main->start.at_ns = session->settings.start_ns;
        struct baseline *baseline = process_add_baseline(session->ledger.log.main);
        if (!baseline)
            return error_memory(error);
        baseline->counts.write_call_bytes = session->target.cgroup.entry_bytes;
    }
    const struct process *main = process_tree_main(&session->sampler.tree);
    session->target.main_start_ticks = main ? main->polled->stat.start_time_ticks : 0;
    /* not earlier: after a failure only that is reported */
    if (start_gpus(session))
        session_settings_warn_of_gpus(
            &session->settings, energy_counters_are_missing(&session->sampler.energy.cpu));
    session_identity_begin(&session->ledger.identity, &session->settings,
        &session->target.container, pid, session->target.argv);
    session_start_ticks(session);
    session->phase = SESSION_TRACKING;
    return GPUT_OK;
}

int gput_session_track_self(struct gput_session *session, struct gput_error *error)
{
    if (session->settings.limits.enforce)
        return error_set(error, GPUT_ERROR_INVALID,
            "A program that tracks itself cannot be killed for a limit. Let another process track "
            "it.");
    TRY(begin(session, SESSION_SELF, getpid(), error));
    collected_begin_self(&session->ledger.collected);
    return track(session, getpid(), error);
}

int gput_session_track_pid(struct gput_session *session, pid_t pid, struct gput_error *error)
{
    if (pid == getpid())
        return gput_session_track_self(session, error);
    if (pid <= 0)
        return error_set(error, GPUT_ERROR_INVALID, "%d is not a process id.", (int)pid);
    /* First: what else is read of it may then wait for ever, too. */
    struct proc_stat stat;
    if (proc_stat_read_bounded(session->settings.calls, session->settings.options.procfs_root, pid,
            &stat, error) == GPUT_ERROR_IO)
        return GPUT_ERROR_IO;
    TRY(begin(session, SESSION_ATTACHED, pid, error));
    return track(session, pid, error);
}

/* Tracks the first process that exists, with those after it; the rest is skipped. */
static int track_first(
    struct gput_session *session, const pid_t *pids, size_t count, struct gput_error *error)
{
    struct gput_error problem;
    int code = GPUT_ERROR_NOT_FOUND;
    for (size_t i = 0; i < count && code == GPUT_ERROR_NOT_FOUND; i++) {
        session->target.others = &pids[i + 1];
        session->target.n_others = count - i - 1;
        code = gput_session_track_pid(session, pids[i], &problem);
    }
    session->target.others = NULL;
    session->target.n_others = 0;
    if (code != GPUT_OK && error)
        *error = problem;
    return code;
}

/* Warns of processes that were to be tracked and do not exist. */
static void warn_of_absent(struct gput_session *session, const pid_t *pids, size_t count)
{
    if (!schedule_lock(&session->schedule))
        return;
    for (size_t i = 0; i < count; i++)
        if (!process_tree_get(&session->sampler.tree, pids[i]))
            session_warn(&session->settings,
                "There is no process %d to track; the others are tracked.", (int)pids[i]);
    schedule_unlock(&session->schedule);
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
    TRY(begin(session, SESSION_MACHINE, 0, error));
    return track(session, 0, error);
}

/* Starts the command, held before its execve(), and begins to track it. */
static int launch_and_track(struct gput_session *session, char *const argv[],
    const struct session_launch *how, struct gput_error *error)
{
    struct launch launch;
    const struct launch_options options = {
        .streams = how->streams, .ignores_sigchld = session->ignores_sigchld};
    const struct session_settings *settings = &session->settings;
    char **whole = environment_was_cut() ? environment_with_removed() : NULL;
    char *const *inherited = whole ? whole : environ;
    char **environment = session_variable_add(
        how->environment ? how->environment : inherited, settings->within, settings->id);
    free(whole); /* its strings are the kernel's */
    if (!environment)
        return error_memory(error);
    int began = launch_begin(argv, environment, &session->target.cgroup, &options, &launch, error);
    free(environment);
    TRY(began);
    /* Open it now: once the process has ended only root may, but a descriptor stays readable. */
    file_close_fd(&session->target.io_fd);
    procfs_open(
        session->settings.options.procfs_root, launch.pid, "io", &session->target.io_fd, NULL);
    if (how->starting)
        how->starting(how->user, launch.pid);
    int64_t exec_ns = clock_monotonic_ns();
    TRY(launch_exec(&launch, error));
    open_target(session, launch.pid);
    bool has_ended = session_await_end(session, MAX_EXEC_MS);
    if (how->launched)
        how->launched(how->user, launch.pid, exec_ns, has_ended ? clock_monotonic_ns() : 0);
    session->target.argv = argv;
    int code = track(session, launch.pid, error);
    session->target.argv = NULL;
    if (code != GPUT_OK) {
        /* It must not run untracked. */
        kill(launch.pid, SIGKILL);
        waitpid(launch.pid, NULL, 0);
    }
    return code;
}

int session_launch(struct gput_session *session, char *const argv[],
    const struct session_launch *how, struct gput_error *error)
{
    if (!argv[0] || !*argv[0])
        return error_set(error, GPUT_ERROR_INVALID, "Empty command provided.");
    TRY(begin(session, SESSION_LAUNCHED, getpid(), error));
    proc_children_read(session->settings.options.procfs_root, getpid(), 0,
        &session->target.earlier_children, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    collected_begin_fork(&session->ledger.collected, session->settings.options.procfs_root);

    struct session_target *target = &session->target;
    if (target->has_cgroups)
        own_cgroup_create(&target->cgroup, &target->launch_cgroup, getpid());
    else
        text_fit(target->cgroup.why_not, sizeof target->cgroup.why_not,
            "this kernel has no control groups");
    cgroup_finish(&target->launch_cgroup);
    int code = session_files_check(error);
    if (code != GPUT_OK) {
        own_cgroup_remove(&session->target.cgroup);
        return code;
    }

    session->settings.start_ns = clock_monotonic_ns();
    code = launch_and_track(session, argv, how, error);
    if (code != GPUT_OK)
        own_cgroup_remove(&session->target.cgroup); /* the next attempt makes another */
    return code;
}

int gput_session_launch(struct gput_session *session, char *const argv[], struct gput_error *error)
{
    return session_launch(session, argv, &(struct session_launch){0}, error);
}

pid_t gput_session_pid(const struct gput_session *session)
{
    return session->target.pid;
}

int gput_session_end_fd(const struct gput_session *session)
{
    return session->target.pid_fd;
}
