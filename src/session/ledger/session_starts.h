/*
 * An upper bound of processes and threads that were started, without events: from system-wide
 * counters that every start increases.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The counters at one moment. */
struct session_starts {
    bool is_known;
    uint64_t started;  /* processes and threads of the whole machine since boot */
    uint64_t threads;  /* alive, of the whole machine */
    uint64_t last_pid; /* last allocated in our own pid namespace */
    uint64_t pid_max;  /* after which pids wrap around */
    bool is_initial;   /* that is the machine's first one: every start gives out a pid there */
};

/* Not known where the files are not the kernel's procfs. */
void session_starts_read(const char *procfs_root, struct session_starts *starts);

/* Pids of processes that were found and that started in between; highest 0: there are none. */
struct found_pids {
    pid_t lowest, highest;
};

/*
 * An upper bound of starts between the two. `min`: so many are known, so that a counter that
 * increased by less does not count them. UINT64_MAX: not known.
 *
 * Programs with rights may choose the pid of a process that they start (set_tid of clone3()), which
 * leaves the last pid as it was. Where a process was found whose pid is out of order, last pids
 * prove nothing.
 */
uint64_t session_starts_between(const struct session_starts *before,
    const struct session_starts *after, struct found_pids found, uint64_t min);
