/*
 * Runs a command under a session and waits until it ends, so that terminals, shells and senders of
 * signals see one program.
 */
#pragma once

#include "track/display.h"
#include "track/signals.h"

#include <gputracker/session.h>

#include <stdbool.h>

/* How following the command ended. */
struct launch_end {
    int status;     /* wait(2) status of the command, when it was not abandoned */
    bool abandoned; /* it still runs: a second Ctrl-C came, or gpu-tracker's own CPU time is used up
                     */
    bool goes_on;   /* abandoned for the CPU time: launch_wait() waits for it */
    int killed_by;  /* the signal that asked for that */
    int asked_by;   /* SIGTERM or SIGHUP, which others sent before the command ended; 0: none */
    int stop_fd;    /* see signals_release(); to be closed */
};

/*
 * Starts the command; `signals` is for launch_follow(). From here on SIGTERM and its like end
 * nothing but the command; see launch.c for what is done with signals. Errors: those of
 * gput_session_launch(); GPUT_ERROR_IO when signals cannot be waited for: then it is not started.
 */
int launch_start(struct gput_session *session, char *const argv[], struct signals *signals,
    struct gput_error *error);

/*
 * Waits for the end of the command, and updates `display` until then. Afterwards Ctrl-C can end
 * gpu-tracker again, also while a report is written.
 * Errors: those of gput_session_wait().
 */
int launch_follow(struct gput_session *session, struct signals *signals,
    const struct display *display, struct launch_end *end, struct gput_error *error);

/*
 * Waits for a command that goes on after its report, at no cost, and passes SIGTERM and SIGHUP on.
 * Returns its wait(2) status. The session is destroyed, or does not use the process any more.
 */
int launch_wait(pid_t pid, int stop_fd);
