/*
 * What happens at a tick, and between two: sources are read, the sampler takes a snapshot, the
 * ledger adds it up, and the sinks get the snapshot and the results.
 */
#include "session/sampler/snapshot.h"
#include "session/session_state.h"

#include "base/clock.h"
#include "base/thread.h"

#include <math.h>

/* Results so far are made at most this often: a fifth of the cost of a sample. */
#define RESULTS_INTERVAL_NS (NS_PER_SECOND / 2)

/* Bytes of processes are read at most this often; those of many less often, at most 100 files of
 * /proc/PID/io a second. */
#define COUNTS_INTERVAL_NS (NS_PER_SECOND * 45 / 100)
#define COUNTS_INTERVAL_OF_ONE_NS (NS_PER_SECOND / 100)

/* Where the kernel announces no starts, RAM is read between ticks after this part of the time since
 * the start: short commands are not seen less than long ones. */
#define EARLY_PART 16
#define SHORTEST_PAUSE_NS (NS_PER_SECOND / 100)

/* Ticks that are closer read the memory of a control group often enough. */
#define WATCHED_INTERVAL_NS (NS_PER_SECOND / 20)

/* The caller's function may need what threads have as a rule. */
#define CALLBACK_STACK_BYTES ((size_t)8 << 20)

/* The thread that samples is started when a command has not ended after this time, at most; where
 * ticks are close, after this part of their interval. */
#define MAX_SHORT_MS 10
#define SHORT_PART 10

enum moment { FIRST, TICK, LAST };

/* ---- sources -> sampler ---- */

/* Whether nothing was started on the machine, as far as events tell. */
static bool none_started(struct gput_session *session)
{
    bool any_started = session_events_any_started(&session->events);
    if (any_started && session->events.has_events)
        process_tree_note_start(&session->sampler.tree);
    return !any_started;
}

/* Reads the memory of the control group, which the RAM meter uses in place of exact readings. */
static void read_group(struct gput_session *session)
{
    struct ram_between *between = &session->ledger.between;
    if (session->settings.mode != SESSION_LAUNCHED)
        return;
    ram_between_read_group(between, &session->target.cgroup);
    session->sampler.ram.group_anonymous_bytes = ram_between_anonymous_bytes(between);
}

/* Reads events, collects orphans and takes a snapshot, which is the sampler's until the next one.
 */
static const struct snapshot *take_snapshot(struct gput_session *session, enum moment moment)
{
    struct sampler *sampler = &session->sampler;
    bool is_launched = session->settings.mode == SESSION_LAUNCHED;
    /* Events first, so that no process that is gone already is added. */
    session_events_read(&session->events);
    if (is_launched)
        session_reap_orphans(session);
    /* Describe what is special about a sample of this moment. */
    bool is_inside = session->settings.mode == SESSION_SELF;
    struct sampler_tick tick = (struct sampler_tick){
        .is_baseline = moment == FIRST,
        .is_last = moment == LAST,
        /* A command that has just started holds no GPU RAM, and must not be delayed. */
        .awaits_lists = session->settings.mode != SESSION_LAUNCHED,
        .none_started = none_started(session),
        .orphans_ns = session->ledger.collected.orphans_ns,
        .quota = ledger_quota_part(&session->ledger),
        /* All but the first are taken in the thread that only samples, where there is one. */
        .is_in_main = is_inside && moment != FIRST && session->schedule.had_thread,
        .own_threads_cpu_ns = session_own_threads_cpu_ns(session),
    };
    if (moment == TICK)
        node_reader_update(&session->node, clock_monotonic_ns());
    if (session->node.is_shared)
        sampler_skip_machine(sampler, !session->node.reads);
    sampler->ram.group_anonymous_bytes = 0;
    if (sampler->tree.count > 1)
        read_group(session);
    sampler_take_sample(sampler, &tick);
    if (is_launched)
        session_open_orphans_io(&sampler->tree);
    return &sampler->snapshot;
}

/* Warns once that descriptors ran out. */
static void warn_of_files(struct gput_session *session, const struct process_tree *tree)
{
    if (session->warned_of_files || tree->scans_without_files == 0)
        return;
    session->warned_of_files = true;
    session_warn(&session->settings,
        "No more files can be opened (ulimit -n), so not every process can be "
        "read: figures are lower bounds. Raise the limit.");
}

/* Warns once of a process that waits in the kernel, and says which one it is. */
static void warn_of_unanswered(struct gput_session *session, const struct process_tree *tree)
{
    if (session->warned_of_unanswered || tree->unanswered == 0)
        return;
    session->warned_of_unanswered = true;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        if (!process->polled->was_unanswered)
            continue;
        session_warn(&session->settings,
            "Process %d (%s) waits in the kernel, perhaps for storage, and its memory maps cannot "
            "be read: its RAM is that of statm. All others are read as before.",
            (int)process->pid, process->polled->stat.name);
        return;
    }
}

/* ---- sampler -> ledger ---- */

/* Whether counts of the living (faults, switches, bytes) are read with this sample: rarely where
 * that means many files, and always with the last one. */
static bool counts_are_due(
    struct gput_session *session, const struct snapshot *snapshot, enum moment moment)
{
    const struct process_log *log = &session->ledger.log;
    /* One of each thread with taskstats, else of each process. */
    double files = (double)process_log_count(log);
    if (log->options.has_taskstats)
        files = fmax(files, snapshot->sample.values[GPUT_COMBINED_THREADS]);
    int64_t interval_ns = (int64_t)fmax(files * COUNTS_INTERVAL_OF_ONE_NS, COUNTS_INTERVAL_NS);
    if (!log->options.has_live_counts || moment == FIRST ||
        (moment == TICK && snapshot->taken_ns - session->counts_ns < interval_ns))
        return false;
    session->counts_ns = snapshot->taken_ns;
    return true;
}

/* Compares what exit records gave with what parents have collected, where both are complete. */
static void compare_exit_records(struct gput_session *session)
{
    if (!ledger_begin_comparison(&session->ledger))
        return;
    process_tree_read_collected(&session->sampler.tree);
    /* Exit records of all that was collected by then have arrived before. */
    session_events_read(&session->events);
    ledger_compare_exit_records(&session->ledger);
}

/* Adds the snapshot to the ledger, and reads the control group, which may have had more RAM since
 * the tick before. */
static void feed_ledger(
    struct gput_session *session, const struct snapshot *snapshot, bool with_counts)
{
    struct ledger *ledger = &session->ledger;
    const struct session_settings *settings = &session->settings;
    ledger_add_scan(ledger, with_counts, snapshot->taken_ns);
    compare_exit_records(session);
    ledger_add_snapshot(ledger);
    /* For one process the kernel's peak is enough. */
    if (snapshot->tree->count <= 1 || settings->mode != SESSION_LAUNCHED)
        return;
    read_group(session);
    if (settings->interval_ns >= WATCHED_INTERVAL_NS)
        ram_between_watch_group(&ledger->between, &session->target.cgroup, clock_monotonic_ns());
}

/* ---- ledger -> sinks ---- */

/* Takes a sample and hands it on. The very first one, in the caller's thread, has no interval
 * before it and is not a row of files. */
static void take_sample(struct gput_session *session, enum moment moment)
{
    const struct snapshot *snapshot = take_snapshot(session, moment);
    warn_of_files(session, snapshot->tree);
    warn_of_unanswered(session, snapshot->tree);
    bool with_counts = counts_are_due(session, snapshot, moment);
    feed_ledger(session, snapshot, with_counts);
    if (session->settings.options.snapshots) {
        /* Hand a copy of the snapshot to other threads of the program. */
        double elapsed_seconds =
            clock_seconds_of_ns(snapshot->taken_ns - session->settings.start_ns);
        struct gput_snapshot *copy = snapshot_copy(
            snapshot, session->ledger.cost.ticks, elapsed_seconds, session->latest.snapshot);
        if (copy)
            latest_set_snapshot(&session->latest, copy);
    }
    sinks_sample(&session->sinks, snapshot);
    if (with_counts) {
        ledger_update_bytes(&session->ledger);
        if (ledger_has_bytes_so_far(&session->ledger))
            sinks_bytes(&session->sinks, snapshot, &session->ledger.bytes_so_far);
    }
    if (moment != FIRST && session->schedule.had_thread)
        tracker_cost_note_thread(&session->ledger.cost);
    /* Make the results so far, as often as they are worth their cost. A session that had no tick
     * before its end needs none. */
    int64_t since_ns = session->results_ns;
    if (since_ns ? snapshot->taken_ns - since_ns < RESULTS_INTERVAL_NS : snapshot->is_last)
        return;
    session_identity_read_processes(&session->ledger.identity,
        session->settings.options.procfs_root, &session->ledger.log, clock_monotonic_ns());
    struct gput_results *results = latest_next_results(&session->latest);
    if (!results)
        return;
    session_make_results(session, results);
    latest_publish_results(&session->latest);
    sinks_results(&session->sinks, results);
    if (!snapshot->is_baseline)
        session->results_ns = snapshot->taken_ns;
}

/* ---- between ticks ---- */

/* Reads events that have arrived between two ticks. */
static void read_events(void *user)
{
    struct gput_session *session = user;
    session_events_read(&session->events);
    compare_exit_records(session);
}

/* Reads RAM after processes were started or have ended, unless that was done a moment ago. */
static void read_ram_between(void *user)
{
    struct gput_session *session = user;
    struct sampler *sampler = &session->sampler;
    struct ram_between *between = &session->ledger.between;
    /* After the last sample nothing counts any more. */
    if (session->schedule.is_stopping || session->settings.mode == SESSION_MACHINE)
        return;
    read_group(session);
    int64_t now_ns = clock_monotonic_ns();
    if (!ram_between_begin_scan(between))
        return;
    sampler_scan_between(sampler, none_started(session));
    if (session->settings.mode == SESSION_LAUNCHED)
        session_open_orphans_io(&sampler->tree);
    ledger_add_scan(&session->ledger, false, now_ns);
    ram_between_add_scan(between, &sampler->ram.figures);
}

/* Scans the tree while it is ended for a limit. */
static void scan_for_limits(void *user)
{
    struct gput_session *session = user;
    session_events_read(&session->events);
    if (session->settings.mode == SESSION_LAUNCHED)
        session_reap_orphans(session);
    sampler_scan_between(&session->sampler, none_started(session));
    ledger_add_scan(&session->ledger, false, clock_monotonic_ns());
}

/* ---- the job of the schedule ---- */

/* Events are read between ticks where these are too far apart. */
static void follow_events(void *user, int64_t until_ns)
{
    struct gput_session *session = user;
    session_events_start(&session->events, &session->schedule.lock, until_ns, read_events,
        read_ram_between, session);
}

/* One tick: reads events, takes a sample and checks limits. */
static void tick(void *user)
{
    struct gput_session *session = user;
    session_events_filter(&session->events);
    take_sample(session, TICK);
    follow_events(session, session->settings.interval_ns);
    limits_check(&session->limits);
}

/* Takes the last sample in the sampling thread. */
static void end_ticks(void *user)
{
    struct gput_session *session = user;
    take_sample(session, LAST);
    limits_end(&session->limits);
    if (session->schedule.had_thread)
        tracker_cost_end_thread(&session->ledger.cost);
}

static int64_t limit_due_ns(void *user)
{
    const struct gput_session *session = user;
    return limits_due_ns(&session->limits);
}

/* When read_counters() is due: at a moment at which it is seen what threads sleep in, for counters
 * of energy that could wrap until the next tick, for a control group whose memory had peaks between
 * ticks, or for RAM of a command that has just begun.
 */
static int64_t counters_due_ns(void *user)
{
    const struct gput_session *session = user;
    int64_t energy_ns = energy_meter_due_ns(&session->sampler.energy);
    int64_t group_ns = ram_between_due_ns(&session->ledger.between);
    int64_t due_ns = energy_ns < group_ns ? energy_ns : group_ns;
    if (session->sampler.waits.due_ns < due_ns)
        due_ns = session->sampler.waits.due_ns;
    return due_ns < session->early_ns ? due_ns : session->early_ns;
}

/* When RAM is read between two ticks, though nothing was announced. */
static int64_t next_early_ns(const struct gput_session *session, int64_t now_ns)
{
    const struct session_settings *settings = &session->settings;
    int64_t pause_ns = (now_ns - settings->start_ns) / EARLY_PART;
    if (session->events.has_events || settings->mode != SESSION_LAUNCHED ||
        settings->interval_ns < WATCHED_INTERVAL_NS || pause_ns > settings->interval_ns)
        return INT64_MAX;
    return now_ns + (pause_ns > SHORTEST_PAUSE_NS ? pause_ns : SHORTEST_PAUSE_NS);
}

/* Reads between two ticks what counters_due_ns() named. */
static void read_counters(void *user)
{
    struct gput_session *session = user;
    struct energy_meter *energy = &session->sampler.energy;
    int64_t now_ns = clock_monotonic_ns();
    if (energy_meter_due_ns(energy) <= now_ns)
        energy_meter_update_counters(energy, now_ns);
    if (ram_between_due_ns(&session->ledger.between) <= now_ns)
        read_group(session);
    if (session->sampler.waits.due_ns <= now_ns)
        sampler_take_states(&session->sampler);
    if (session->early_ns <= now_ns) {
        read_ram_between(session);
        session->early_ns = next_early_ns(session, clock_monotonic_ns());
    }
}

/* Whether a launched command ends before the first samples are due. */
static bool is_short(const struct gput_session *session)
{
    int64_t most_ms = session->settings.interval_ns / SHORT_PART / NS_PER_MS;
    return session_await_end(session, most_ms < MAX_SHORT_MS ? (int)most_ms : MAX_SHORT_MS);
}

void session_start_ticks(struct gput_session *session)
{
    const struct schedule_job job = {.begin = follow_events,
        .tick = tick,
        .end = end_ticks,
        .tick_due_ns = limit_due_ns,
        .other_due_ns = counters_due_ns,
        .other = read_counters,
        .user = session,
        .stack_bytes =
            session->settings.options.sample ? CALLBACK_STACK_BYTES : THREAD_STACK_BYTES};
    session->limits.scan = scan_for_limits;
    session->limits.user = session;
    limits_begin(&session->limits);
    take_sample(session, FIRST);
    session->early_ns = next_early_ns(session, clock_monotonic_ns());
    /* The command is short: the thread would have the last sample to take alone. */
    if (session->settings.mode == SESSION_LAUNCHED && is_short(session)) {
        schedule_start_ended(&session->schedule, &job);
        return;
    }
    system_counters_begin_pressure(
        &session->ledger.system_counters, session->settings.options.procfs_root);
    struct gput_error error;
    if (schedule_start(&session->schedule, session->settings.start_ns,
            session->settings.interval_ns, &job, &error) == GPUT_OK)
        return;
    session_warn(&session->settings,
        "%s. There are a first and a last sample alone: figures are what the kernel counted, and "
        "no limit is watched.",
        error.message);
    schedule_start_ended(&session->schedule, &job);
}
