/*
 * An upper bound of processes and threads that were started, without events: from system-wide
 * counters that every start increases.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The counters at one moment. */
struct session_starts {
    bool is_known;
    uint64_t started;  /* processes and threads of the whole machine since boot */
    uint64_t threads;  /* alive, of the whole machine */
    uint64_t last_pid; /* last allocated in our own pid namespace */
    uint64_t pid_max;  /* after which pids wrap around */
};

/* Not known where the files are not the kernel's procfs. */
void session_starts_read(const char *procfs_root, struct session_starts *starts);

/* An upper bound of starts between the two. `min`: so many are known, so that a counter that
 * increased by less does not count them. UINT64_MAX: not known. */
uint64_t session_starts_between(
    const struct session_starts *before, const struct session_starts *after, uint64_t min);
