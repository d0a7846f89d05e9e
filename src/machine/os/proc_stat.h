/*
 * /proc/PID/stat: the least expensive file of a process: parent, state, CPU ticks, faults, threads,
 * size. Readable for any process without privileges.
 */
#pragma once

#include "base/bounded_calls.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Times are in clock ticks of sysconf(_SC_CLK_TCK) a second (100 on nearly every machine). */
struct proc_stat {
    pid_t pid;
    pid_t ppid;
    pid_t session;
    uint32_t flags; /* PF_* of the kernel, for the functions below */
    uint32_t thread_count;
    char state; /* R running, S sleeping, D disk, Z zombie, T stopped, X dead … */
    uint64_t cutime_ticks, cstime_ticks; /* of collected children, and theirs */
    uint64_t start_time_ticks; /* since boot; identifies the process together with the pid */
    /* Start of its stack: set by every execve() and inherited by fork(), so that equal numbers mean
     * one exec generation. 0 without permission to ptrace the process. */
    uint64_t start_stack_address;
    uint64_t utime_ticks, stime_ticks;     /* of all threads, including ended ones */
    uint64_t minor_faults, major_faults;   /* of all threads, including ended ones */
    uint64_t cminor_faults, cmajor_faults; /* of collected children */
    char name[64]; /* raw bytes, truncated to 15 by the kernel except for its own threads */
};

#define PROC_STAT_FORKED_NO_EXEC 0x00000040u
#define PROC_STAT_KERNEL_THREAD 0x00200000u

/* True when it has not called execve() since it was forked: it may share memory with its parent. */
static inline bool proc_stat_is_fork(const struct proc_stat *stat)
{
    return (stat->flags & PROC_STAT_FORKED_NO_EXEC) != 0;
}

/* It has no memory of its own. */
static inline bool proc_stat_is_kernel_thread(const struct proc_stat *stat)
{
    return (stat->flags & PROC_STAT_KERNEL_THREAD) != 0;
}

/* CPU time of the children that it has collected, and of theirs. */
static inline uint64_t proc_stat_children_ticks(const struct proc_stat *stat)
{
    return stat->cutime_ticks + stat->cstime_ticks;
}

/*
 * Reads a terminated text. The name may contain blanks, parentheses and newlines. Everything up to
 * its RSS (field 24) must be there. Returns GPUT_OK or GPUT_ERROR_FORMAT; `stat` is then undefined.
 */
int proc_stat_parse(const char *text, struct proc_stat *stat);

/* Errors: see machine/os/procfs.h; GPUT_ERROR_FORMAT. */
int proc_stat_read(const char *root, pid_t pid, struct proc_stat *stat, struct gput_error *error);

/* The same with a bound (procfs_read_bounded()), for a process that may be in an execve(). */
int proc_stat_read_bounded(struct bounded_calls *calls, const char *root, pid_t pid,
    struct proc_stat *stat, struct gput_error *error);

/*
 * /proc/PID/statm: RAM of a process in pages, in about a microsecond and without stalling it.
 * Readable for any process without privileges; zombies and kernel threads have 0.
 */

struct proc_statm {
    uint64_t virtual_pages;  /* the size of the address space */
    uint64_t resident_pages; /* RSS; without hugetlb pages */
    uint64_t shared_pages;   /* resident pages of files and shared memory, whether shared or not */
};

/* Returns GPUT_OK or GPUT_ERROR_FORMAT. */
int proc_statm_parse(const char *text, struct proc_statm *statm);

/* Errors: see machine/os/procfs.h; GPUT_ERROR_FORMAT. */
int proc_statm_read(
    const char *root, pid_t pid, struct proc_statm *statm, struct gput_error *error);

/*
 * /proc/PID/task/T/schedstat: how long a thread ran, and how long it was ready to run and waited
 * for a CPU, to the nanosecond. Readable for any thread without privileges, also for a zombie. The
 * wait is counted when it is over: of a thread that waits now, what it has waited so far is
 * missing. /proc/PID/schedstat is that of the first thread alone.
 */

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
