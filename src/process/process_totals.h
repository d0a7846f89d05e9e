/*
 * All totals are folded from processes here. There are three, from three sources, which are
 * compared at the end of a session:
 *
 * - CPU time by scans (cpu_totals): the CPU clocks of living processes, and what parents have
 *   collected from those that ended, whether a scan ever saw them or not. It lacks what a process
 *   used after its last poll if that was not collected: its parent ignores SIGCHLD (auto-reaped),
 *   or had ended, and the process that adopted the child is not tracked. And it lacks up to two
 *   clock ticks for each parent, as collected time is in clock ticks.
 * - CPU time by exit records (process_log_cpu_ns()): of every process that the kernel announced. It
 *   lacks the exit itself, and what a thread used since its last clock tick.
 * - Counts and peaks of all processes (process_log_counts(), process_log_descendants()).
 *
 * Totals of those that ended are kept as sums, those of the others are added up when they are asked
 * for. The functions that read the totals of a log are in process_log.h.
 */
#ifndef PROCESS_PROCESS_TOTALS_H
#define PROCESS_PROCESS_TOTALS_H

#include "os/task_counts.h"
#include "process/peak_sums.h"
#include "process/process.h"

#include <stdbool.h>
#include <stdint.h>

struct process_log;
struct process_tree;

/* ---- CPU time by scans ---- */

/* CPU time of processes that a tree has removed. */
struct removed_cpu {
    int64_t descendants_ns; /* of descendants, when last polled */
    int64_t before_ns;      /* and before tracking began, which their parents collected, too */
    int64_t others_ns; /* used and collected by other roots: no process of the tree collects it */
};

void removed_cpu_add(
    struct removed_cpu *removed, const struct process *process, const struct process_view *view);

/* CPU time used since tracking began; never decreases. */
struct cpu_totals {
    int64_t main_ns;        /* by the main process itself, all its threads */
    int64_t descendants_ns; /* by all others, including ended ones */
};

/*
 * Updates the totals from the last scan. `orphans_ns` is what the calling process has collected
 * from orphans that it adopted. `own_ns` is what the tracker itself used inside the main process (0
 * when it is a process of its own): that is subtracted.
 *
 * Collected time comes in clock ticks, so the figure for ended processes may lag by up to two ticks
 * for each parent. The lag does not accumulate, because the kernel's counters are totals.
 */
void cpu_totals_update(
    struct cpu_totals *totals, const struct process_tree *tree, int64_t orphans_ns, int64_t own_ns);

/* ---- all inputs ---- */

/* Of processes that are final. */
struct process_totals {
    int64_t cpu_ns;               /* as far as known */
    int64_t cpu_outside_ns;       /* of that, orphans collected outside the tree (taskstats) */
    uint64_t auto_reaped;         /* descendants that seem to be auto-reaped */
    bool ignores_children;        /* some ignored SIGCHLD */
    uint64_t without_exit_record; /* descendants without their last exit record */
    uint64_t unbounded_peaks;     /* descendants whose peak may be higher than known */
    /* Without taskstats: counts of those that no process of the tree has collected. And what the
     * collected ones had counted before tracking began. */
    struct task_counts uncollected, collected_before;
    /* Peak RSS of descendants: of the largest that certainly had memory of its own; of the largest
     * that may have been a vfork child; and of all together. */
    uint64_t largest_descendant_bytes, largest_uncertain_bytes;
    struct peak_sums descendants_sums;
    uint64_t before_peak_bytes; /* highest peak of one process when tracking began, also of those
                                   that live */
};

/* Adds a process that has just become final. */
void process_totals_add(struct process_log *log, const struct process *process);

#endif
