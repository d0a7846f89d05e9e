/*
 * /proc/loadavg: the number of threads, and the last pid allocated. As long as that pid does not
 * change, no process and no thread has been started in the pid namespace of the procfs mount, other
 * than by programs that choose pids.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct loadavg {
    uint32_t threads;
    pid_t last_pid;
};

/*
 * Whether programs with the rights of the calling process may choose the pids of those that they
 * start (set_tid of clone3(), kernel.ns_last_pid), as CRIU does. The last pid then stays as it was,
 * or jumps.
 */
bool loadavg_pids_may_be_chosen(void);

/* Returns GPUT_OK or GPUT_ERROR_FORMAT. */
int loadavg_parse(const char *text, struct loadavg *loadavg);

/* Errors: see machine/os/procfs.h; GPUT_ERROR_FORMAT. To read it at every tick, cache a descriptor:
 * procfs_open(root, PROCFS_SYSTEM, "loadavg", …), procfs_reread(), loadavg_parse(). */
int loadavg_read(const char *root, struct loadavg *loadavg, struct gput_error *error);
