/*
 * Starting a command so that it runs as it would without the tracker.
 */
#pragma once

#include "base/error.h"
#include "os/own_cgroup.h"

#include <sys/types.h>

/*
 * Starts argv[0], searched for in PATH like execvp() does, and returns when execve() has succeeded
 * or failed. The child inherits everything but close-on-exec descriptors.
 *
 * Uses fork(), not vfork() or posix_spawn(): the ru_maxrss of a child that shares our memory until
 * execve() would include our own peak RSS.
 *
 * With `cgroup` (NULL: none) the child enters it before the command runs.
 *
 * On success the caller waits for `*pid`. Errors: GPUT_ERROR_NOT_FOUND with `Command not found:
 * "x"`, GPUT_ERROR_PERMISSION (not executable, or another failure of execve()), GPUT_ERROR_MEMORY,
 * GPUT_ERROR_IO.
 */
int launch(char *const argv[], struct own_cgroup *cgroup, pid_t *pid, struct gput_error *error);
