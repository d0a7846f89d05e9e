/*
 * Starting a command so that it runs as it would without the tracker.
 */
#pragma once

#include "base/error.h"
#include "machine/os/own_cgroup.h"

#include <stdbool.h>
#include <sys/types.h>

/* Differences between the child and the caller. NULL: none. */
struct launch_options {
    const int *streams; /* three descriptors, 3 or more, that become its 0, 1 and 2; -1: the same */
    bool ignores_sigchld; /* the command ignores SIGCHLD, also where the caller does not */
};

/* A command that is being started: a child of ours that has not called execve() yet. */
struct launch {
    pid_t pid;
    const char *name; /* of the caller's argv */
    int go[2];        /* a pipe: a byte lets the child call execve() */
    int report_fd;    /* says whether that succeeded */
};

/*
 * Begins to start argv[0], searched for in PATH like execvp() does, with that environment. Else the
 * child inherits everything but close-on-exec descriptors. It waits for launch_exec(): before that
 * the caller opens what it can only open while the process lives, however short that is.
 *
 * Uses fork(), not vfork() or posix_spawn(): the ru_maxrss of a child that shares our memory until
 * execve() would include our own peak RSS.
 *
 * With `cgroup` (NULL: none) the child enters it before the command runs.
 *
 * Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO; there is no child then.
 */
int launch_begin(char *const argv[], char *const environment[], struct own_cgroup *cgroup,
    const struct launch_options *options, struct launch *launch, struct gput_error *error);

/*
 * Lets the child run the command. Returns when execve() has succeeded or failed. On success the
 * caller waits for `launch->pid`.
 *
 * Errors: GPUT_ERROR_NOT_FOUND with `Command not found: "x"` (and why, where there is such a
 * file), GPUT_ERROR_PERMISSION (not executable, or another failure of execve()); the child is gone
 * then.
 */
int launch_exec(struct launch *launch, struct gput_error *error);
