/*
 * Figures that the kernel counted for processes: collected from those that ended, or read of those
 * that live.
 */
#pragma once

#include "base/bounded_calls.h"
#include "machine/os/task_counts.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Sums over processes, including children that each has collected. */
struct session_counts {
    int64_t user_ns, system_ns;
    struct task_counts tasks;
    uint64_t children_faults; /* minor and major faults of our children, for SESSION_SELF */
    uint64_t blocks_read, blocks_written; /* of 512 bytes, from and to storage */
    unsigned times_truncated;   /* values added that were truncated to whole microseconds */
    uint64_t largest_rss_bytes; /* ru_maxrss: of the largest process */
    unsigned without_io;        /* processes whose bytes could not be read */
    unsigned living;            /* without context switches */
    bool lacks_some;            /* some of the living are missing: they ended meanwhile */
};

static inline int64_t session_counts_cpu_ns(const struct session_counts *counts)
{
    return counts->user_ns + counts->system_ns;
}

/* Adds the result of wait4() or getrusage(). */
void session_counts_add(struct session_counts *counts, const struct rusage *usage);

/* Adds the counts of the calling process and of the children that it collected. */
void session_counts_add_self(struct session_counts *counts);

struct session_counts session_counts_of_thread(void);

/* Subtracts what the thread that makes bounded calls has used so far. */
void session_counts_subtract_calls(struct session_counts *counts, struct bounded_calls *calls);

/* Subtracts what was counted before, or must not count. */
void session_counts_subtract(struct session_counts *counts, const struct session_counts *before);

/* Adds /proc/PID/io of a process that ended and was not collected yet, or of one that lives. */
void session_counts_add_io(struct session_counts *counts, const char *procfs_root, pid_t pid);

/* The same from a descriptor that was opened while the process lived. */
void session_counts_add_io_fd(struct session_counts *counts, int fd);

/*
 * Adds faults and bytes of a living process minus `before`. Parents first: a process that ends
 * meanwhile is then missing, not counted twice; so is one that does not answer.
 */
void session_counts_add_living(struct session_counts *counts, struct bounded_calls *calls,
    const char *procfs_root, pid_t pid, uint64_t start_time_ticks,
    const struct task_counts *before);
