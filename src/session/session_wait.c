/*
 * The end of a session: waiting for it, the last figures, stopping.
 */
#include "session/session_launch.h"
#include "session/session_state.h"

#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

/* Waiting for a process that is not our child, where the kernel has no pidfds. */
#define POLL_INTERVAL_MS 50
/* Pauses of 1 ms, for events that are late: on a busy machine a process that ends may wait for
 * its processor before the kernel announces it. */
#define MAX_PAUSES 200
/* The same for processes that end by themselves with the command, as helpers of it do that wait for
 * the end of a pipe. */
#define MAX_PAUSES_FOR_LIVING 50

/* Sleeps until main may have ended, a signal arrived, or the time is over. False: the time is over.
 */
static bool wait_a_while(const struct gput_session *session, int64_t deadline_ns, bool forever)
{
    int64_t left_ms = forever ? -1 : (deadline_ns - clock_monotonic_ns()) / 1000000;
    if (!forever && left_ms <= 0)
        return false;
    struct pollfd ended = {.fd = session->target.pid_fd, .events = POLLIN};
    bool is_reported =
        session->target.pid_fd >= 0 && session->ledger.main_ended_ns == 0 &&
        (session->settings.mode == SESSION_LAUNCHED || !session->settings.limits.enforce);
    if (!is_reported && (forever || left_ms > POLL_INTERVAL_MS))
        left_ms = POLL_INTERVAL_MS;
    if (left_ms > INT32_MAX)
        left_ms = INT32_MAX;
    return poll(&ended, is_reported, (int)left_ms) >= 0;
}

/* The newest processes are only found by a later scan: without the thread there is none. */
static bool is_ending_tree(struct gput_session *session)
{
    return session->schedule.has_thread &&
           limits_are_ending_tree(&session->limits, session->ledger.main_ended_ns);
}

/* True when main has ended, and all that was to be ended for a limit; or when that was given up. */
static bool tree_has_ended(struct gput_session *session)
{
    bool main_lives = session->ledger.main_ended_ns == 0 && !session_main_has_ended(session);
    /* A launched command is waited for in any case: we collect its status. */
    if (main_lives &&
        (session->settings.mode == SESSION_LAUNCHED || !session->settings.limits.enforce))
        return false;
    if (!main_lives)
        ledger_note_main_end(&session->ledger);
    if (!schedule_lock(&session->schedule))
        return !main_lives;
    bool has_ended = main_lives ? limits_gave_up(&session->limits) : !is_ending_tree(session);
    schedule_unlock(&session->schedule);
    return has_ended;
}

/* Whether there are children, with those that are ending and cannot be collected yet. */
static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Whether some process of a launched command is about to end, as far as is known after so many
 * pauses: without its exit record neither totals nor bounds of peaks are proven. */
static bool awaits_ends(struct gput_session *session, int pauses)
{
    struct process_log *log = &session->ledger.log;
    if (process_log_end_unannounced(log))
        return true;
    if (session->settings.mode != SESSION_LAUNCHED || !session->ledger.collected.has_main_usage ||
        !session->events.has_exit_records || pauses >= MAX_PAUSES_FOR_LIVING)
        return false;
    /* The kernel announces the end of an orphan before we can collect it. */
    return process_log_descendants(log).living > 0 ||
           (session->settings.options.no_other_children && has_children());
}

/* Reads the last events and exit records, and the system's figures. Three times: a process is
 * complete when its threads are gone, and final when no more has arrived after that. */
static void end_counting(struct gput_session *session)
{
    if (!session_events_end(&session->events)) {
        session->schedule.is_stuck = true;
        return;
    }
    for (int i = 0; i < 3; i++)
        session_events_read(&session->events);
    /* The kernel announces an exit only after waking the process that waits for it. */
    struct timespec pause = {.tv_nsec = NS_PER_SECOND / 1000};
    for (int i = 0; i < MAX_PAUSES && awaits_ends(session, i); i++) {
        nanosleep(&pause, NULL);
        session_events_read(&session->events);
        if (session->settings.mode == SESSION_LAUNCHED)
            session_reap_orphans(session);
    }
    process_log_read_counts(&session->ledger.log);
    /* The counters of this process, without its threads that only track. */
    struct session_counts *counts = &session->ledger.collected.counts;
    if (session->settings.mode == SESSION_SELF) {
        collected_add_self(&session->ledger.collected);
        session_counts_subtract(counts, &session->ledger.cost.sampling_counts);
        session_counts_subtract(counts, &session->events.counts);
        session_counts_subtract_calls(counts, session->settings.calls);
        sinks_subtract_thread_counts(&session->sinks, counts);
    }
    ledger_close(&session->ledger);
    /* The kernel may have announced how a process that was not launched has ended. */
    const struct collected *collected = &session->ledger.collected;
    const struct process *main = session->ledger.log.main;
    int status = STATUS_UNKNOWN;
    if (session->settings.mode == SESSION_LAUNCHED && collected->has_main_usage)
        status = collected->main_status;
    else if (session->settings.mode == SESSION_ATTACHED && main && main->end.has_status)
        status = main->end.status;
    session_identity_end(&session->ledger.identity, status);
    ledger_end(&session->ledger, session->schedule.had_thread + session_own_threads(session));
}

/* The last sample must see main before it is collected: then its CPU clock is gone. */
static void end_launched(struct gput_session *session)
{
    bool is_over = schedule_stop(&session->schedule);
    collected_add_main(&session->ledger.collected, session->target.pid, session->target.io_fd,
        &session->target.cgroup);
    if (!is_over || !schedule_lock(&session->schedule))
        return;
    session_reap_orphans(session);
    schedule_unlock(&session->schedule);
    end_counting(session);
}

size_t session_kill_tree(struct gput_session *session)
{
    if (!session->limits.scan || !schedule_lock(&session->schedule))
        return 0;
    size_t n_living = limits_kill_tree(&session->limits);
    schedule_unlock(&session->schedule);
    return n_living;
}

int gput_session_wait(struct gput_session *session, int timeout_ms, bool *ended, int *status,
    struct gput_error *error)
{
    *ended = false;
    *status = session->ledger.collected.main_status;
    if (session->phase == SESSION_CREATED)
        return error_set(error, GPUT_ERROR_STATE, "Tracking has not started.");
    TRY(session_check_owner(session, error));
    int64_t deadline_ns = clock_monotonic_ns() + (int64_t)timeout_ms * 1000000;

    if (!session->ledger.main_end_is_reported) {
        while (!tree_has_ended(session)) {
            if (!wait_a_while(session, deadline_ns, timeout_ms < 0))
                return GPUT_OK;
        }
        if (session->settings.mode == SESSION_LAUNCHED)
            end_launched(session);
        ledger_note_main_report(&session->ledger);
    }
    *ended = true;
    *status = session->ledger.collected.main_status;
    return GPUT_OK;
}

/* NULL unless a sink wants them. */
static struct gput_processes *processes_for_sinks(struct gput_session *session)
{
    struct gput_processes *processes = NULL;
    struct gput_error error;
    if (!session->sinks.want_processes ||
        ledger_list_processes(&session->ledger, &processes) == GPUT_OK)
        return processes;
    error_memory(&error);
    session_warn(&session->settings, "The table of processes is incomplete: %s", error.message);
    return NULL;
}

/* Whether our threads have ended, and the last figures were counted. The ledger of a thread that is
 * stuck is not touched any more: it may go on at any later time. */
static bool is_over(struct gput_session *session)
{
    bool is_over = schedule_stop(&session->schedule);
    sinks_stop(&session->sinks);
    if (is_over && !session->ledger.has_ended)
        end_counting(session);
    if (session->schedule.is_stuck)
        session_warn(&session->settings,
            "The sampling thread waits in the kernel and is left alone: the results are those of "
            "before.");
    return !session->schedule.is_stuck;
}

void session_end(struct gput_session *session, bool is_abandoned)
{
    bool has_ledger = is_over(session);
    if (has_ledger)
        node_reader_finish(&session->node);
    session->phase = SESSION_STOPPED;
    struct gput_results *results = calloc(1, sizeof *results);
    if (results && has_ledger)
        session_make_results(session, results);
    else if (results)
        latest_results(&session->latest, 0, results);
    if (results && is_abandoned)
        sinks_results(&session->sinks, results);
    struct gput_processes *processes = has_ledger ? processes_for_sinks(session) : NULL;
    struct sink_end end = {.is_abandoned = is_abandoned,
        .results_stay = session->settings.options.keep_resource_usage_file,
        .processes = processes,
        .results = results};
    /* A thread that a disk holds up may use them at any later time. */
    if (sinks_close(&session->sinks, &end)) {
        gput_processes_destroy(processes);
        gput_results_destroy(results);
    }
    session_warn_of_set_clock(session);
    session_leave_wall_clock(session);
}

int gput_session_stop(struct gput_session *session, struct gput_error *error)
{
    if (session->phase == SESSION_CREATED)
        return error_set(error, GPUT_ERROR_STATE, "Tracking has not started.");
    if (session->phase == SESSION_STOPPED)
        return error_set(error, GPUT_ERROR_STATE, "Tracking has already been stopped.");
    TRY(session_check_owner(session, error));
    session_end(session, false);
    return GPUT_OK;
}
