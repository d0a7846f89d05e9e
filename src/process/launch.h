/*
 * Starting a command so that it runs as it would without us.
 */
#ifndef PROCESS_LAUNCH_H
#define PROCESS_LAUNCH_H

#include "base/error.h"
#include "os/own_cgroup.h"

#include <sys/types.h>

/*
 * Starts argv[0], looked up in PATH as execvp() does, and returns when the program has begun (or
 * could not). The child inherits everything the caller has, but descriptors that are close-on-exec.
 *
 * Started by fork(), not vfork() or posix_spawn(): a child that shares our memory until execve()
 * would carry our own peak of RSS over into its ru_maxrss.
 *
 * With `cgroup` (NULL: none) the child enters it before anything of the command runs.
 *
 * On success `*pid` is to be waited for. Errors: GPUT_ERROR_NOT_FOUND with `Command not found:
 * "x"`, GPUT_ERROR_PERMISSION (not executable, or another failure of execve()), GPUT_ERROR_MEMORY,
 * GPUT_ERROR_IO.
 */
int launch(char *const argv[], struct own_cgroup *cgroup, pid_t *pid, struct gput_error *error);

#endif
