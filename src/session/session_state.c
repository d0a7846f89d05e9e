#include "session/session_state.h"

#include "base/error.h"
#include "base/wall_clock.h"
#include "machine/os/proc_stat.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
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
