/*
 * Figures that the kernel counted for a session's processes: collected from those that ended, and
 * read from the system at the beginning and the end.
 */
#pragma once

#include "os/network_traffic.h"
#include "os/task_counts.h"

#include "model/results.h"

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
    unsigned times_cut;         /* values added that were truncated to whole microseconds */
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

/* Subtracts what was counted before, or must not count. */
void session_counts_subtract(struct session_counts *counts, const struct session_counts *before);

/* Adds /proc/PID/io of a process that ended and was not collected yet, or of one that lives. */
void session_counts_add_io(struct session_counts *counts, const char *procfs_root, pid_t pid);

/* The same from a descriptor that was opened while the process lived. */
void session_counts_add_io_fd(struct session_counts *counts, int fd);

/*
 * Adds faults and bytes of a living process minus `before`. Parents first: a process that ends
 * meanwhile is then missing, not counted twice.
 */
void session_counts_add_living(struct session_counts *counts, const char *procfs_root, pid_t pid,
    uint64_t start_time_ticks, const struct task_counts *before);

/* Network traffic of the whole system, at the beginning of a session and since. */
struct system_counters {
    int network_fd; /* of main's network; -1: not available */
    bool has_traffic;
    struct network_traffic before, after;
};

void system_counters_init(struct system_counters *system_counters);
void system_counters_begin(
    struct system_counters *system_counters, const char *procfs_root, pid_t pid);
/* Reads the current traffic; may be called repeatedly. */
void system_counters_update(struct system_counters *system_counters);
void system_counters_finish(struct system_counters *system_counters);

/* Sets the figures as of the last update. */
void system_counters_fill(
    const struct system_counters *system_counters, struct gput_accounting *accounting);
/* Sets bytes only where they are known. */
void session_accounting_set_counts(
    struct gput_accounting *accounting, const struct task_counts *counts);
void session_accounting_set_bytes(
    struct gput_accounting *accounting, const struct task_counts *counts);

/*
 * Makes user and system time add up to the whole. That was corrected for time of which the parts
 * are not known (of children before tracking, truncated microseconds), which is divided in their
 * proportion. The kernel divides the time of each thread by clock ticks: where it is short, one
 * part may be less than that of our own threads. Parts that are unknown stay so.
 */
void session_accounting_fit_parts(struct gput_accounting *accounting);

/* Sets all figures to unknown. */
void session_accounting_clear(struct gput_accounting *accounting);
