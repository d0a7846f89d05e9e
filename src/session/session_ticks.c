/*
 * The sampling thread: a sample at every deadline, counted from the start so that they do not
 * drift.
 */
#include "session/session_state.h"
#include "session/snapshot_copy.h"

#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The first row is early, so that short commands have one: as soon as CPU percents are meaningful.
 */
#define FIRST_TICK_NS (NS_PER_SECOND / 20)
/* Results so far are made at most this often: a fifth of the cost of a sample. */
#define RESULTS_INTERVAL_NS (NS_PER_SECOND / 2)
/* A tick that begins this part of the interval after its deadline is late. */
#define LATE_PART 10

enum moment { FIRST, TICK, LAST };

/* The results so far, as often as they are worth their cost; a session that had no tick before its
 * end needs none. */
static void publish_results(struct gput_session *session)
{
    const struct snapshot *snapshot = &session->sampler.snapshot;
    int64_t since_ns = session->results_ns;
    if (since_ns ? snapshot->taken_ns - since_ns < RESULTS_INTERVAL_NS : snapshot->is_last)
        return;
    struct gput_results results;
    session_fill_results(session, &results);
    latest_set_results(&session->latest, &results);
    sinks_results(&session->sinks, &results);
    if (!snapshot->is_baseline)
        session->results_ns = snapshot->taken_ns;
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

/* The next deadline after `deadline_ns`; counts those that passed meanwhile. */
static int64_t next_deadline(struct gput_session *session, int64_t deadline_ns)
{
    int64_t now_ns = clock_monotonic_ns();
    int64_t interval_ns = session->settings.interval_ns;
    if (now_ns < deadline_ns)
        return deadline_ns; /* a limit called for a sample before it */
    /* Also realigns the early first tick with whole intervals since the start. */
    int64_t passed = (deadline_ns - session->settings.start_ns) / interval_ns;
    int64_t next = session->settings.start_ns + (passed + 1) * interval_ns;
    if (next <= now_ns) {
        int64_t missed = (now_ns - next) / interval_ns + 1;
        session->missed_ticks += (uint64_t)missed;
        next += missed * interval_ns;
    }
    return next;
}

/* Waits with the lock released; false when the session must end. */
static bool sleep_until(struct gput_session *session, int64_t deadline_ns)
{
    struct timespec deadline = clock_timespec_of_ns(deadline_ns);
    while (!session->stop) {
        if (pthread_cond_timedwait(&session->wake, &session->lock, &deadline) == ETIMEDOUT)
            return !session->stop;
    }
    return false;
}

/* The same, or until a limit needs a sample; counters that could wrap are read meanwhile. */
static bool wait_until(struct gput_session *session, int64_t deadline_ns)
{
    int64_t limit_ns = session_next_limit_ns(session);
    if (limit_ns < deadline_ns)
        deadline_ns = limit_ns;
    for (;;) {
        int64_t energy_ns = energy_meter_due_ns(&session->sampler.energy);
        if (energy_ns >= deadline_ns)
            return sleep_until(session, deadline_ns);
        if (!sleep_until(session, energy_ns))
            return false;
        energy_meter_update_counters(&session->sampler.energy, clock_monotonic_ns());
    }
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
    session_events_start(
        &session->events, &session->lock, until_ns, events_have_come, ours_start_and_end, session);
}

static void *tick(void *user)
{
    struct gput_session *session = user;
    /* Timers are 50 us late by default, to save power: too much at 1000 ticks a second. */
    prctl(PR_SET_TIMERSLACK, 1);
    prctl(PR_SET_NAME, "gpu-tracker");

    pthread_mutex_lock(&session->lock);
    int64_t first_ns = session->settings.interval_ns < FIRST_TICK_NS ? session->settings.interval_ns
                                                                     : FIRST_TICK_NS;
    int64_t deadline_ns = session->settings.start_ns + first_ns;
    follow_events(session, first_ns);
    while (wait_until(session, deadline_ns)) {
        if ((clock_monotonic_ns() - deadline_ns) * LATE_PART > session->settings.interval_ns)
            session->late_ticks++;
        take_sample(session, TICK);
        follow_events(session, session->settings.interval_ns);
        session_check_limits(session);
        deadline_ns = next_deadline(session, deadline_ns);
    }
    take_sample(session, LAST);
    session_warn_of_unknown_gpu_ram(session, clock_monotonic_ns(), true);
    session->sampler_counts = session_counts_of_thread();
    session->sampler_cpu_ns = clock_thread_cpu_ns();
    pthread_mutex_unlock(&session->lock);
    return NULL;
}

int session_start_ticks(struct gput_session *session, struct gput_error *error)
{
    session->last_sample_ns = session->settings.start_ns;
    session_warn_of_unwatched_limits(session);
    take_sample(session, FIRST);
    /* All signals are left to the program's own threads. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&session->thread, NULL, tick, session);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure)
        return error_set_errno(error, failure, "Cannot start the sampling thread");
    session->has_thread = true;
    return GPUT_OK;
}

void session_end_ticks(struct gput_session *session)
{
    if (!session->has_thread)
        return;
    pthread_mutex_lock(&session->lock);
    session->stop = true;
    pthread_cond_signal(&session->wake);
    pthread_mutex_unlock(&session->lock);
    pthread_join(session->thread, NULL);
    session->has_thread = false;
}
