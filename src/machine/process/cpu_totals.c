#include "machine/process/cpu_totals.h"

static int64_t max_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void cpu_totals_update(
    struct cpu_totals *totals, const struct process_tree *tree, int64_t orphans_ns, int64_t own_ns)
{
    int64_t living_ns = 0;
    int64_t collected_ns = orphans_ns + tree->removed.others_ns;

    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        collected_ns += process_children_ns(process, &tree->view);
        if (process->is_main)
            totals->main_ns = max_ns(totals->main_ns, process_cpu_ns(process) - own_ns);
        else
            living_ns += process_cpu_ns(process);
    }
    /*
     * Two lower bounds for processes that ended. What their parents collected: complete, but in
     * ticks, and missing where a parent ignores SIGCHLD; what was used before tracking began is
     * subtracted. And their CPU clocks when last polled.
     */
    int64_t ended_ns = max_ns(collected_ns - tree->removed.before_ns, tree->removed.descendants_ns);
    totals->descendants_ns = max_ns(totals->descendants_ns, living_ns + ended_ns);
}
