/*
 * What the kernel counted for processes that this one has waited for, and for itself.
 */
#pragma once

#include "machine/os/cgroup.h"
#include "machine/os/own_cgroup.h"
#include "session/sampler/session_counts.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* As of wait(2): neither exited nor killed. */
#define STATUS_UNKNOWN (-1)

struct collected {
    /* Of orphans; at the end also of main, all that it waited for and those still running. */
    struct session_counts counts;
    int64_t orphans_ns;             /* CPU time of orphans */
    struct session_counts at_start; /* of the calling process, for SESSION_SELF */
    uint64_t forked_rss_bytes;      /* upper bound of our forked copy before execve() */

    /* After the end of a launched command. */
    bool has_main_usage; /* false: it was collected elsewhere */
    struct rusage main_usage;
    int main_status;                  /* as of wait(2), or STATUS_UNKNOWN */
    struct cgroup_usage cgroup_usage; /* NaN: not available */
};

/* Notes what the calling process has used before it is tracked, or before it forks a command. */
void collected_begin_self(struct collected *collected);
void collected_begin_fork(struct collected *collected, const char *procfs_root);

/* Waits for a child of ours that has ended and adds what it used. `io_fd` gives its I/O counters;
 * -1: they are read from procfs. False: it was not waited for. */
bool collected_add_orphan(
    struct collected *collected, const char *procfs_root, pid_t pid, int io_fd);

/* Waits for a launched command and adds what it used, less what our fork wrote before it started.
 */
void collected_add_main(
    struct collected *collected, pid_t pid, int io_fd, const struct own_cgroup *cgroup);

/* Adds what the calling process used since collected_begin_self(). */
void collected_add_self(struct collected *collected);
