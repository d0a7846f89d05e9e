/*
 * Sums over the processes that are final: CPU time, counts and peaks by exit records and readings.
 * CPU time by exit records is of every process that the kernel announced. It lacks the exit itself,
 * and what a thread used since its last clock tick.
 *
 * Figures of the others are added when totals are asked for (process_log_totals.c).
 */
#pragma once

#include "machine/os/task_counts.h"
#include "machine/process/process.h"
#include "machine/process/process_threads.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An upper bound of the memory that processes had together: none had more than its peak, and each
 * only while it lived. A process counts by intervals of time, each with a bound of its own: what it
 * had before execve() is another memory than after it. The sum of all is kept as a step function of
 * time.
 */

/* Peaks of several processes: the sum of the known ones, and how many have a peak without known
 * bound. */
struct peak_sum {
    uint64_t bytes, unbounded;
};

/* All zeroes: nothing was added. */
struct peak_sums {
    struct peak_step {
        int64_t begin_ns; /* until the next one begins; before the first one there was nothing */
        struct peak_sum sum;
    } * steps; /* owned */
    size_t count, capacity;
    size_t compact_at; /* from that many steps on peak_sums_compact() is due */
    int64_t latest_ns; /* latest end of an interval */
};

void peak_sums_finish(struct peak_sums *sums);

/* Adds an interval of a process; `end_ns` INT64_MAX: it has no known end. False without memory. */
bool peak_sums_add(
    struct peak_sums *sums, int64_t start_ns, int64_t end_ns, const struct peak_sum *peak);

/* True where there are so many steps that peak_sums_compact() is worth its time. */
static inline bool peak_sums_are_many(const struct peak_sums *sums)
{
    return sums->count > 512 && sums->count >= sums->compact_at;
}

/*
 * Drops steps that cannot be the highest any more. `starts` are the times, ascending, from which on
 * intervals without known end will be added: those of the processes that live. Between two of them
 * all steps will get the same. A peak without known bound is `least_bytes` at least.
 */
void peak_sums_compact(
    struct peak_sums *sums, const int64_t *starts, size_t n_starts, uint64_t least_bytes);

/* Copies into `copy`, which the caller finishes in any case. False without memory. */
bool peak_sums_copy(const struct peak_sums *sums, struct peak_sums *copy);

/* The bound, with `unbounded_bytes` for each peak without known bound; NaN when that is NaN and
 * there is one. */
double peak_sums_upper_bound(const struct peak_sums *sums, double unbounded_bytes);

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
