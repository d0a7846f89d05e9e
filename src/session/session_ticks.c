/*
 * What happens at a tick, and between two: sources are read, the sampler takes a snapshot, the
 * ledger adds it up, and the sinks get the snapshot and the results.
 */
#include "session/session_state.h"
#include "session/snapshot_copy.h"

#include "base/clock.h"

/* Results so far are made at most this often: a fifth of the cost of a sample. */
#define RESULTS_INTERVAL_NS (NS_PER_SECOND / 2)

enum moment { FIRST, TICK, LAST };

/* ---- sources -> sampler ---- */

/* Lists that arrived since the last tick: the next request may replace them. */
static void take_waiting_lists(struct gput_session *session)
{
    if (sampler_take_waiting_lists(&session->sampler))
        ledger_add_gpu_ram(&session->ledger);
}

/* A row must not have processes with more GPU RAM than the GPU has in use. What lists say counts in
 * maxima all the same. */
static void settle_gpu_ram(struct gput_session *session)
{
    if (!sampler_gpu_ram_is_doubtful(&session->sampler))
        return;
    ledger_add_gpu_ram(&session->ledger);
    sampler_read_gpu_ram_again(&session->sampler);
    if (!sampler_gpu_ram_is_doubtful(&session->sampler))
        return;
    ledger_add_gpu_ram(&session->ledger);
    sampler_limit_gpu_ram(&session->sampler);
}

static unsigned sampler_flags_of(struct gput_session *session, enum moment moment)
{
    unsigned flags = 0;
    if (moment == FIRST)
        flags |= SAMPLER_BASELINE;
    if (moment == LAST)
        flags |= SAMPLER_LAST;
    /* All but the first are taken in the thread that only samples. */
    if (moment != FIRST && session->settings.mode == SESSION_SELF)
        flags |= SAMPLER_IN_MAIN;
    if (!session_events_any_started(&session->events))
        flags |= SAMPLER_NONE_STARTED;
    /* A command that has just started holds no GPU RAM, and must not be delayed. */
    if (session->settings.mode != SESSION_LAUNCHED)
        flags |= SAMPLER_AWAIT_LISTS;
    return flags;
}

static void take_snapshot(struct gput_session *session, enum moment moment)
{
    struct sampler *sampler = &session->sampler;
    bool is_launched = session->settings.mode == SESSION_LAUNCHED;
    /* Events first, so that no process that is gone already is added. */
    session_events_read(&session->events);
    if (is_launched)
        session_reap_orphans(session);
    sampler->helper_threads =
        session_events_has_thread(&session->events) + sinks_threads(&session->sinks);
    sampler->helper_cpu_ns = session_helpers_cpu_ns(session);
    unsigned flags = sampler_flags_of(session, moment);
    if (moment != FIRST)
        take_waiting_lists(session);
    sampler_take_sample(sampler, session->ledger.collected.orphans_ns, flags);
    settle_gpu_ram(session);
    if (is_launched)
        session_open_orphans_io(session);
}

static void warn_of_files(struct gput_session *session)
{
    if (session->warned_of_files || session->sampler.tree.scans_without_files == 0)
        return;
    session->warned_of_files = true;
    session_warn(&session->settings,
        "No more files can be opened (ulimit -n), so that not every process can "
        "be read: figures are at least what they say. Raise the limit.");
}

/* ---- sampler -> ledger ---- */

static void read_group(struct gput_session *session)
{
    if (session->settings.mode == SESSION_LAUNCHED)
        ram_between_read_group(&session->ledger.between, &session->target.cgroup);
}

static void feed_ledger(struct gput_session *session)
{
    struct process_tree *tree = &session->sampler.tree;
    ledger_add_scan(&session->ledger, session->sampler.snapshot.taken_ns);
    /* For one process the kernel's peak is enough. */
    if (tree->count > 1)
        read_group(session);
    ledger_compare_exit_records(&session->ledger, tree, &session->events);
    ledger_add_snapshot(&session->ledger);
}

/* ---- ledger -> sinks ---- */

/* The results so far, as often as they are worth their cost; a session that had no tick before its
 * end needs none. */
static void publish_results(struct gput_session *session)
{
    const struct snapshot *snapshot = &session->sampler.snapshot;
    int64_t since_ns = session->results_ns;
    if (since_ns ? snapshot->taken_ns - since_ns < RESULTS_INTERVAL_NS : snapshot->is_last)
        return;
    struct gput_results results = {0};
    session_make_results(session, &results);
    latest_set_results(&session->latest, &results);
    sinks_results(&session->sinks, &results);
    if (!snapshot->is_baseline)
        session->results_ns = snapshot->taken_ns;
    results_finish(&results);
}

static void publish_snapshot(struct gput_session *session)
{
    const struct snapshot *snapshot = &session->sampler.snapshot;
    double elapsed_seconds = clock_seconds_of_ns(snapshot->taken_ns - session->settings.start_ns);
    struct gput_snapshot *copy = snapshot_copy(
        snapshot, session->ledger.cost.ticks, elapsed_seconds, session->latest.snapshot);
    if (copy)
        latest_set_snapshot(&session->latest, copy);
}

/* The very first sample, in the caller's thread, has no interval before it and is no row of files.
 */
static void take_sample(struct gput_session *session, enum moment moment)
{
    take_snapshot(session, moment);
    warn_of_files(session);
    feed_ledger(session);
    if (session->settings.options.snapshots)
        publish_snapshot(session);
    sinks_sample(&session->sinks, &session->sampler.snapshot);
    if (moment != FIRST)
        tracker_cost_note_thread(&session->ledger.cost);
    publish_results(session);
}

/* ---- between ticks ---- */

static void read_events(void *user)
{
    struct gput_session *session = user;
    session_events_read(&session->events);
    ledger_compare_exit_records(&session->ledger, &session->sampler.tree, &session->events);
}

/* After processes were started or have ended: RAM, unless it was read a moment ago. */
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
    sampler_scan_between(
        sampler, session_events_any_started(&session->events) ? 0 : SAMPLER_NONE_STARTED);
    if (session->settings.mode == SESSION_LAUNCHED)
        session_open_orphans_io(session);
    ledger_add_scan(&session->ledger, now_ns);
    ram_between_add_scan(between, &sampler->ram.figures);
}

/* Events are read between ticks where these are too far apart. */
static void follow_events(struct gput_session *session, int64_t until_ns)
{
    session_events_start(&session->events, &session->schedule.lock, until_ns, read_events,
        read_ram_between, session);
}

/* ---- the job of the schedule ---- */

static void begin_ticks(void *user, int64_t until_ns)
{
    follow_events(user, until_ns);
}

static void tick(void *user)
{
    struct gput_session *session = user;
    take_sample(session, TICK);
    follow_events(session, session->settings.interval_ns);
    limits_check(&session->limits);
}

static void end_ticks(void *user)
{
    struct gput_session *session = user;
    take_sample(session, LAST);
    limits_end(&session->limits);
    session->ledger.cost.sampling_counts = session_counts_of_thread();
    tracker_cost_note_thread(&session->ledger.cost);
}

static int64_t limit_due_ns(void *user)
{
    const struct gput_session *session = user;
    return limits_due_ns(&session->limits);
}

/* Counters of energy that could wrap until the next tick. */
static int64_t counters_due_ns(void *user)
{
    const struct gput_session *session = user;
    return energy_meter_due_ns(&session->sampler.energy);
}

static void read_counters(void *user)
{
    struct gput_session *session = user;
    energy_meter_update_counters(&session->sampler.energy, clock_monotonic_ns());
}

int session_start_ticks(struct gput_session *session, struct gput_error *error)
{
    const struct schedule_job job = {.begin = begin_ticks,
        .tick = tick,
        .end = end_ticks,
        .tick_due_ns = limit_due_ns,
        .other_due_ns = counters_due_ns,
        .other = read_counters,
        .user = session};
    limits_begin(&session->limits);
    take_sample(session, FIRST);
    return schedule_start(
        &session->schedule, session->settings.start_ns, session->settings.interval_ns, &job, error);
}
