/*
 * The CPU clock that the kernel keeps for every process: all its threads, including ended ones, in
 * nanoseconds, readable without privileges and without a file.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * User and system time of the process with that pid in our own pid namespace, without its children.
 * A zombie still has its clock; a pid may have been reused (see start_time_ticks of stat). Errors:
 * GPUT_ERROR_GONE.
 */
int cpu_clock_read(pid_t pid, int64_t *ns);

/* True when <procfs_root> is a procfs of our own pid namespace, so that pids found there mean the
 * same processes here: clocks can be read and signals sent by them. False for a recorded tree, and
 * for the procfs of another pid namespace, even an outer one. */
bool cpu_clock_usable(const char *procfs_root);
