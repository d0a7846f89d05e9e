/*
 * /proc/PID/status: figures that other files lack: the kernel's own RSS peak, pids in nested
 * namespaces, the CPUs a process may use, context switches. Twice the cost of stat.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_STATUS_MAX_NAMESPACES 8

struct proc_status {
    pid_t pid;
    uid_t uid;               /* real */
    bool has_memory;         /* false for zombies and kernel threads: the next is then 0 */
    uint64_t swapped_bytes;  /* VmSwap: without shared memory */
    uint64_t peak_rss_bytes; /* VmHWM: kept by the kernel since the last execve() */
    uint64_t hugetlb_bytes;  /* HugetlbPages, which are in no RSS */
    /* NSpid: the pid in each pid namespace from that of the procfs mount inwards. 0 entries before
     * Linux 4.1. Deeper nesting than the array is truncated: the innermost is then missing. */
    uint32_t namespace_count;
    pid_t namespace_pids[PROC_STATUS_MAX_NAMESPACES];
    bool ignores_children; /* SIGCHLD is ignored: children are auto-reaped */
    /* CPUs of the affinity mask, may include offline ones; 0: not known. */
    uint32_t allowed_cpu_count;
    uint64_t voluntary_context_switches; /* of the main thread alone */
    uint64_t nonvoluntary_context_switches;
};

/* Returns GPUT_OK, or GPUT_ERROR_FORMAT when Pid or PPid is missing. */
int proc_status_parse(const char *text, struct proc_status *status);

/* Errors: see machine/os/procfs.h; GPUT_ERROR_FORMAT. */
int proc_status_read(
    const char *root, pid_t pid, struct proc_status *status, struct gput_error *error);
