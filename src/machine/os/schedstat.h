/*
 * /proc/PID/task/T/schedstat: how long a thread ran, and how long it was ready to run and waited
 * for a CPU, to the nanosecond. Readable for any thread without privileges, also for a zombie. The
 * wait is counted when it is over: of a thread that waits now, what it has waited so far is
 * missing. /proc/PID/schedstat is that of the first thread alone.
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

struct schedstat {
    uint64_t run_ns;
    uint64_t wait_ns; /* for a CPU */
    uint64_t
        timeslices; /* how often it got one; 0 with all others 0 where the kernel counts none */
};

/* Returns GPUT_OK or GPUT_ERROR_FORMAT. */
int schedstat_parse(const char *text, struct schedstat *schedstat);

/* Reads a descriptor that was kept. Errors: see machine/os/procfs.h; GPUT_ERROR_FORMAT. */
int schedstat_reread(int fd, struct schedstat *schedstat);
