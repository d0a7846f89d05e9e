/*
 * Launching a command otherwise than gput_session_launch() does: with other standard streams or
 * another environment; and ending it before its time.
 */
#pragma once

#include "base/error.h"

#include <gputracker/session.h>

#include <stdint.h>
#include <sys/types.h>

/* All zero: as gput_session_launch(). */
struct session_launch {
    const int *streams;       /* three descriptors, 3 or more, that become its 0, 1 and 2; -1: the
                                 caller's */
    char *const *environment; /* "NAME=value", NULL at the end; GPUT_SESSION is added */
    /* Called when there is a process that has not called execve() yet. NULL: not. */
    void (*starting)(void *user, pid_t pid);
    /* Called once execve() has succeeded, before the first sample. `exec_ns`: the monotonic clock
     * just before; `ended_ns`: when the command ended, where it already has; else 0. Nobody waits
     * for `pid` during the call. */
    void (*launched)(void *user, pid_t pid, int64_t exec_ns, int64_t ended_ns);
    void *user;
};

/* As gput_session_launch(). */
int session_launch(struct gput_session *session, char *const argv[],
    const struct session_launch *how, struct gput_error *error);

/* Sends SIGKILL to all processes of a launched command that are known, and to all of its control
 * group. The caller then waits for its end, and calls this again while some are left. Returns how
 * many were alive. */
size_t session_kill_tree(struct gput_session *session);
