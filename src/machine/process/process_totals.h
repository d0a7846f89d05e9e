/*
 * Sums over the processes that are final: CPU time, counts and peaks by exit records and readings.
 * CPU time by exit records is of every process that the kernel announced. It lacks the exit itself,
 * and what a thread used since its last clock tick.
 *
 * Figures of the others are added when totals are asked for (process_log_totals.c).
 */
#pragma once

#include "machine/os/task_counts.h"
#include "machine/process/peak_sums.h"
#include "machine/process/process.h"
#include "machine/process/process_threads.h"

#include <stdbool.h>
#include <stdint.h>

/* A process that lived for less than this is short-lived. */
#define SHORT_LIVED_NS 50000000

/*
 * The kernel distinguishes user and system time by what its ticks interrupt, and a process that no
 * tick interrupted has user time alone. So these parts say something of CPU time from here on.
 */
int64_t cpu_divisible_ns(void);

struct process_totals {
    int64_t cpu_ns;             /* as far as known */
    uint64_t short_lived;       /* processes: of those whose start, end and CPU time is announced */
    int64_t short_lived_cpu_ns; /* what they used */
    int64_t others_lack_ns;     /* the others used at most so much more than is in `cpu_ns` */
    int64_t divisible_ns;   /* of that, processes of which ticks distinguish user and system time */
    int64_t cpu_outside_ns; /* of that, orphans collected outside the tree (taskstats) */
    struct run_queue_times run_queue; /* of exit records: beyond what readings of threads gave */
    uint64_t auto_reaped;             /* descendants that seem to be auto-reaped */
    bool ignores_children;            /* some ignored SIGCHLD */
    uint64_t without_exit_record;     /* descendants without their last exit record */
    uint64_t without_faults;          /* descendants whose exit records have no page fault */
    uint64_t unbounded_peaks;         /* descendants whose peak may be higher than known */
    /* Without taskstats: counts of those that no process of the tree has collected. And what the
     * collected ones had counted before tracking began. */
    struct task_counts uncollected, collected_before;
    /* Peak RSS of descendants: of the largest that certainly had memory of its own; and of the
     * largest that may have been a vfork child. */
    uint64_t largest_descendant_bytes, largest_uncertain_bytes;
    struct peak_sums sums; /* of all together but main since its last execve(); with taskstats */
    uint64_t before_peak_bytes; /* highest peak of one process when tracking began, also of those
                                   that live */
};

/* Adds the memory of a process up to that time to the sums of peaks. False without memory for it.
 */
bool process_totals_add_peak(struct process_totals *totals, struct process *process,
    int64_t until_ns, const struct peak_sum *peak);

/*
 * Adds a process that has just become final. `parent` is that of its last scan if it is open, or
 * NULL; without taskstats it gets the counts that it has collected from the process. False when
 * there was no memory for these.
 */
bool process_totals_add(struct process_totals *totals, struct process *process,
    struct process *parent, bool has_taskstats);
