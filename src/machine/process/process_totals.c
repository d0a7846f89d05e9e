#include "machine/process/process_totals.h"

#include "base/clock.h"
#include "machine/process/bytes.h"
#include "machine/process/process_figures.h"

#define DIVISIBLE_TICKS 5

int64_t cpu_divisible_ns(void)
{
    return DIVISIBLE_TICKS * clock_tick_ns();
}

bool process_totals_add_peak(struct process_totals *totals, struct process *process,
    int64_t until_ns, const struct peak_sum *peak)
{
    int64_t from_ns = process_unsummed_ns(process);
    process->summed = (struct summed_peak){.until_ns = until_ns};
    return peak_sums_add(&totals->sums, from_ns, until_ns, peak);
}

static bool is_short_lived(const struct process *process)
{
    return process->start.is_exact && process->end.is_exact && process_has_last_record(process) &&
           process->end.at_ns - process->start.at_ns < SHORT_LIVED_NS;
}

bool process_totals_add(struct process_totals *totals, struct process *process,
    struct process *parent, bool has_taskstats)
{
    totals->ignores_children |= process->history.ignores_children;
    if (process->cpu_ns > 0)
        totals->cpu_ns += process->cpu_ns;
    if (process->cpu_ns >= cpu_divisible_ns())
        totals->divisible_ns += process->cpu_ns;
    if (is_short_lived(process)) {
        totals->short_lived++;
        totals->short_lived_cpu_ns += process->cpu_ns;
    } else {
        totals->others_lack_ns += process_cpu_lacks_ns(process);
    }
    if (!process->is_main) {
        /* Of a descendant that ended. */
        bool is_certain = process_has_own_memory(process);
        totals->without_exit_record += !process_has_last_record(process);
        totals->without_faults += process_has_no_faults(process);
        totals->unbounded_peaks += process->peak.trust != GPUT_PROCESS_PEAK_FINAL;
        bytes_raise(
            is_certain ? &totals->largest_descendant_bytes : &totals->largest_uncertain_bytes,
            process->peak.rss_bytes);
    }
    /* A parent that waits for its child collects what that has counted, and whichever process waits
     * for the parent collects both. */
    const struct task_counts *before = &process_baseline(process)->counts;
    struct task_counts counts = process_counts(process);
    if (parent && !process_has_ended(parent))
        task_counts_add(&totals->collected_before, before);
    else if (has_taskstats)
        return true;
    else if (!parent || parent->end.at_ns < process->end.at_ns)
        task_counts_add(&totals->uncollected, &counts);
    else if (parent->last_poll.read_ns <= process->end.at_ns) {
        /* The parent's own figures were read before it collected them. */
        task_counts_add(&parent->counts, &process->counts);
        if (process->baseline && !process_add_baseline(parent))
            return false;
        if (process->baseline)
            task_counts_add(&parent->baseline->counts, before);
    }
    return true;
}
