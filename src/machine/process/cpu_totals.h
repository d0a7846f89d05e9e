/*
 * CPU time by scans: the CPU clocks of living processes, and what parents have collected from those
 * that ended, whether a scan ever saw them or not. It lacks:
 *
 *   - what a process used after its last poll, if no tracked process collected that. Its parent
 *     ignores SIGCHLD (auto-reaped); or it had ended, and the process that adopted the child is not
 *     tracked.
 *   - up to two clock ticks for each parent, as collected time is in clock ticks.
 *
 * At the end of a session it is compared with what the kernel counted (process_log_cpu_ns(),
 * collected.h).
 */
#pragma once

#include "machine/process/process_tree.h"

#include <stdint.h>

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
