/* gpu-tracker live: a process that is running already, or the machine, on the terminal. */
#include "base/error.h"
#include "common/message.h"
#include "common/screen.h"
#include "live/live.h"
#include "live/ranks_view.h"
#include "options/arguments.h"
#include "track/signals.h"
#include "track/tracking_files.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Stops and goes on as shells want it; true on a signal that asks to end. */
static bool obey(const struct display *display, const struct signal_event *event)
{
    bool stops = event->number == SIGTSTP || event->number == SIGTTIN || event->number == SIGTTOU;
    if (stops)
        display_suspend(display);
    bool ends = signals_handle(event);
    if (stops)
        display_resume(display);
    return ends;
}

/* Until the view is closed. The process may end before. */
static void follow(struct gput_session *session, struct signals *signals, struct live *live)
{
    struct display display = live_display(live);
    bool has_ended = gput_session_pid(session) == 0;
    for (;;) {
        int status;
        if (!has_ended && gput_session_wait(session, 0, &has_ended, &status, NULL) == GPUT_OK &&
            has_ended)
            live_note_end(live);
        int timeout = display.update(display.user);
        struct signal_event event;
        if (live_is_closed(live) ||
            (signals_next(signals, display.fd, timeout, &event) && obey(&display, &event)))
            return;
    }
}

/* Tracks the process or the machine, and shows it until the view is closed. */
static int show(struct gput_session *session, pid_t pid, struct tracking *tracking,
    struct live *live, struct gput_error *error)
{
    char title[256];
    struct signals signals;
    TRY(signals_catch(&signals, error));
    signals_receive(&signals);
    int code = pid ? gput_session_track_pid(session, pid, error)
                   : gput_session_track_machine(session, error);
    if (code == GPUT_OK) {
        if (pid)
            snprintf(title, sizeof title, "Process %d", (int)pid);
        else if (gethostname(title, sizeof title) != 0)
            snprintf(title, sizeof title, "this machine");
        title[sizeof title - 1] = '\0';
        tracking->messages.holds_lines = true;
        live_begin(live, session, title);
        follow(session, &signals, live);
        gput_session_stop(session, NULL); /* nothing of it is kept */
    }
    signals_close_stop(signals_release(&signals, NULL));
    return code;
}

/* Opens the view. An error says what can be done without one. */
static int open_view(
    const struct tracking *tracking, pid_t pid, struct live **live, struct gput_error *error)
{
    const struct live_options options = {.is_machine = pid == 0,
        .interval_seconds = tracking->options.sleep_time_seconds,
        .sub_tracking_file = tracking->live_marks};
    struct gput_error reason;
    int code = live_open(&options, live, &reason);
    if (code == GPUT_OK)
        return code;
    return error_set(error, code, "The live view cannot be shown: %.400s.%s", reason.message,
        code != GPUT_ERROR_UNSUPPORTED ? ""
        : pid                          ? " gpu-tracker attach tracks without one."
                                       : " gpu-tracker serve measures without one.");
}

/* Checks the process, opens view and session, and shows them. */
static int live_command(
    const struct arguments *arguments, struct tracking *tracking, struct gput_error *error)
{
    pid_t pid;
    struct live *live = NULL;
    struct gput_session *session = NULL;
    int code = tracking_read_pid(arguments, &pid, error);
    /* Whoever has the wrong process has no use for hints at terminals. */
    if (code == GPUT_OK && pid && !tracking->options.procfs_root && kill(pid, 0) != 0 &&
        errno == ESRCH)
        code = error_set(error, GPUT_ERROR_NOT_FOUND, "There is no process %d to track.", (int)pid);
    if (code == GPUT_OK)
        code = open_view(tracking, pid, &live, error);
    if (code != GPUT_OK)
        return code;
    tracking->options.snapshots = tracking->options.gpu_optional = true;
    code = tracking_files_create_session(tracking, &session, error);
    if (code == GPUT_OK)
        code = show(session, pid, tracking, live, error);
    live_end(live, SCREEN_NEVER_WAITS);
    tracking->messages.holds_lines = false;
    gput_session_destroy(session);
    return code;
}

int cmd_live(const struct arguments *arguments)
{
    struct gput_error error;
    struct tracking tracking;
    signals_survive_closed_pipes();
    const char *job = arguments_value(arguments, OPTION_LIVE_JOB);
    if (job)
        return message_exit_status(ranks_view_run(job, &error), &error, EXIT_FAILURE);
    int code = tracking_read(arguments, false, &tracking, &error);
    if (code == GPUT_OK) {
        if (!arguments_have(arguments, OPTION_SLEEP_TIME))
            tracking.options.sleep_time_seconds = 0.5;
        code = live_command(arguments, &tracking, &error);
        tracking_finish(&tracking);
    }
    return message_exit_status(code, &error, EXIT_FAILURE);
}
