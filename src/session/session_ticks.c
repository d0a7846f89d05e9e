/*
 * What happens at a tick: sources are read, the sampler takes a snapshot, accounting adds it up,
 * and the sinks get both.
 */
#include "session/session_state.h"
#include "session/snapshot_copy.h"

#include "base/clock.h"

#include <math.h>

/* Results so far are made at most this often: a fifth of the cost of a sample. */
#define RESULTS_INTERVAL_NS (NS_PER_SECOND / 2)
enum moment { FIRST, TICK, LAST };

/* The results so far, as often as they are worth their cost; a session that had no tick before its
 * end needs none. */
static void publish_results(struct gput_session *session)
{
    const struct snapshot *snapshot = &session->sampler.snapshot;
    int64_t since_ns = session->results_ns;
    if (since_ns ? snapshot->taken_ns - since_ns < RESULTS_INTERVAL_NS : snapshot->is_last)
        return;
    struct gput_results results = {0};
    session_fill_results(session, &results);
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
    struct gput_snapshot *copy =
        snapshot_copy(snapshot, session->ticks, elapsed_seconds, session->latest.snapshot);
    if (copy)
        latest_set_snapshot(&session->latest, copy);
}

/* GPU RAM alone, for maxima. */
static void add_gpu_ram(struct gput_session *session)
{
    session_update_gpu_holdings(session);
    session_gpus_add_sample(session, 0);
    struct gput_sample gpu_ram;
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        bool is_gpu_ram = i >= GPUT_MAIN_GPU_RAM && i <= GPUT_SYSTEM_GPU_RAM;
        gpu_ram.values[i] = is_gpu_ram ? session->sampler.snapshot.sample.values[i] : NAN;
    }
    usage_add(&session->usage, &gpu_ram, 0);
}

/* Lists that arrived since the last tick: the next request may replace them. */
static void take_waiting_lists(struct gput_session *session)
{
    if (sampler_take_waiting_lists(&session->sampler))
        add_gpu_ram(session);
}

/* A row must not have processes with more GPU RAM than the GPU has in use. What lists say counts in
 * maxima all the same. */
static void settle_gpu_ram(struct gput_session *session)
{
    if (!sampler_gpu_ram_is_doubtful(&session->sampler))
        return;
    add_gpu_ram(session);
    sampler_read_gpu_ram_again(&session->sampler);
    if (!sampler_gpu_ram_is_doubtful(&session->sampler))
        return;
    add_gpu_ram(session);
    sampler_limit_gpu_ram(&session->sampler);
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

/* Takes a sample; the very first, in the caller's thread, has no interval after it and is no row.
 */
static void take_sample(struct gput_session *session, enum moment moment)
{
    bool is_row = moment != FIRST, is_last = moment == LAST;
    /* Events first, so that no process that is gone already is added. */
    session_events_read(&session->events);
    if (session->settings.mode == SESSION_LAUNCHED)
        session_reap_orphans(session);
    session->sampler.helper_threads =
        (session->events.stop_fd >= 0) + sinks_threads(&session->sinks);
    session->sampler.helper_cpu_ns = session_helpers_cpu_ns(session);
    unsigned flags = (is_row ? 0 : SAMPLER_BASELINE) | (is_last ? SAMPLER_LAST : 0);
    /* All but the first are taken in the thread that only samples. */
    if (is_row && session->settings.mode == SESSION_SELF)
        flags |= SAMPLER_IN_MAIN;
    if (!session_events_any_started(&session->events))
        flags |= SAMPLER_NONE_STARTED;
    /* A command that has just started holds no GPU RAM, and must not be delayed. */
    if (session->settings.mode != SESSION_LAUNCHED)
        flags |= SAMPLER_AWAIT_LISTS;
    if (is_row)
        take_waiting_lists(session);
    sampler_take_sample(&session->sampler, session->orphans_ns, flags);
    settle_gpu_ram(session);
    if (session->settings.mode == SESSION_LAUNCHED)
        session_open_orphans_io(session);
    warn_of_files(session);
    const struct snapshot *snapshot = &session->sampler.snapshot;
    int64_t now_ns = snapshot->taken_ns;
    process_log_scan(&session->log, &session->sampler.tree, now_ns);
    process_log_adopt_orphans(&session->log, &session->sampler.tree);
    /* For one process the kernel's peak is enough. */
    if (session->sampler.tree.count > 1)
        session_read_group(session);
    session_compare_exit_records(session);
    session_update_gpu_holdings(session);
    session->last_sample_ns = now_ns;

    usage_add(&session->usage, &snapshot->sample, snapshot->seconds);
    if (session->settings.mode != SESSION_MACHINE)
        session->at_least_bytes =
            fmax(session->at_least_bytes, (double)session->sampler.ram.figures.at_least_bytes);
    session_gpus_add_sample(session, snapshot->seconds);
    session->ticks++;
    if (session->settings.options.snapshots)
        publish_snapshot(session);
    sinks_sample(&session->sinks, snapshot);
    if (is_row && session->settings.mode == SESSION_SELF)
        session->sampler_cpu_ns = clock_thread_cpu_ns();
    publish_results(session);
}

static void events_have_come(void *user)
{
    struct gput_session *session = user;
    session_events_read(&session->events);
    session_compare_exit_records(session);
}

static void ours_start_and_end(void *user)
{
    session_scan_between(user);
}

/* Events are read between ticks where these are too far apart. */
static void follow_events(struct gput_session *session, int64_t until_ns)
{
    session_events_start(&session->events, &session->schedule.lock, until_ns, events_have_come,
        ours_start_and_end, session);
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
    session_check_limits(session);
}

static void end_ticks(void *user)
{
    struct gput_session *session = user;
    take_sample(session, LAST);
    session_warn_of_unknown_gpu_ram(session, clock_monotonic_ns(), true);
    session->sampler_counts = session_counts_of_thread();
    session->sampler_cpu_ns = clock_thread_cpu_ns();
}

static int64_t limit_due_ns(void *user)
{
    return session_next_limit_ns(user);
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
    session->last_sample_ns = session->settings.start_ns;
    session_warn_of_unwatched_limits(session);
    take_sample(session, FIRST);
    return schedule_start(
        &session->schedule, session->settings.start_ns, session->settings.interval_ns, &job, error);
}
