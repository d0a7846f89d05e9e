#include "process/process_totals.h"

#include "process/bytes.h"
#include "process/process_figures.h"
#include "process/process_log.h"

/* ---- CPU time by scans ---- */

static int64_t max_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void removed_cpu_add(
    struct removed_cpu *removed, const struct process *process, const struct process_view *view)
{
    if (process->is_main)
        return;
    removed->descendants_ns += process_cpu_ns(process);
    if (process->is_other)
        removed->others_ns += process_cpu_ns(process) + process_children_ns(process, view);
    else
        removed->before_ns += process_before_ns(process, view);
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

/* ---- processes that are final ---- */

/* A parent that waits for its child collects what that has counted, and whichever process waits for
 * the parent collects both. */
static void assign_counts(struct process_log *log, const struct process *process)
{
    struct process *parent = process_log_get(log, process->last_parent);
    const struct task_counts *before = &process_baseline(process)->counts;
    struct task_counts counts = process_counts(process);
    if (parent && !process_has_ended(parent))
        task_counts_add(&log->totals.collected_before, before);
    else if (log->options.has_taskstats)
        return;
    else if (!parent || parent->end_ns < process->end_ns)
        task_counts_add(&log->totals.uncollected, &counts);
    else if (parent->polled_ns <= process->end_ns) {
        /* The parent's own figures were read before it collected them. */
        task_counts_add(&parent->counts, &process->counts);
        if (!process->baseline)
            return;
        if (process_add_baseline(parent))
            task_counts_add(&parent->baseline->counts, before);
        else
            log->ran_out = true;
    }
}

/* Of a descendant that ended. */
static void add_peak(struct process_log *log, const struct process *process)
{
    bool is_certain = process_has_own_memory(process);
    log->totals.without_exit_record += !process->has_last_record;
    struct peak_sum peak = process_peak_sum(process);
    log->totals.unbounded_peaks += peak.unbounded;
    /* One of several threads may have held the memory after the exit was announced. */
    if (process->is_announced && process->end_is_exact && process->exits &&
        process->exits->records == 1)
        peak_sums_add(&log->totals.descendants_sums, process->start_ns, process->end_ns, &peak);
    else
        peak_sums_add_always(&log->totals.descendants_sums, &peak);
    bytes_raise(
        is_certain ? &log->totals.largest_descendant_bytes : &log->totals.largest_uncertain_bytes,
        process->peak_rss_bytes);
}

void process_totals_add(struct process_log *log, const struct process *process)
{
    assign_counts(log, process);
    log->totals.ignores_children |= process->ignores_children;
    log->ended_total++;
    if (process->cpu_ns > 0)
        log->totals.cpu_ns += process->cpu_ns;
    if (!process->is_main)
        add_peak(log, process);
}

/* ---- all processes ---- */

/* Those that may still change. */
#define EACH_OPEN(log, process)                                                                    \
    struct process *process = process_log_first(log);                                              \
    process;                                                                                       \
    process = process_log_next(log, process)

struct process_peaks process_log_descendants(const struct process_log *log)
{
    bool has_all = process_log_has_all(log) && log->totals.without_exit_record == 0;
    struct process_peaks peaks = {.largest_bytes = log->totals.largest_descendant_bytes,
        .has_all = has_all,
        .unbounded = log->totals.unbounded_peaks,
        .largest_upper_bound_bytes = log->totals.largest_uncertain_bytes,
        .before_bytes = log->totals.before_peak_bytes};
    for (EACH_OPEN(log, process)) {
        if (process->is_main)
            continue;
        if (process_has_own_memory(process))
            bytes_raise(&peaks.largest_bytes, process->peak_rss_bytes);
        bytes_raise(&peaks.largest_upper_bound_bytes, process->peak_rss_bytes);
        peaks.has_living |= !process_has_ended(process);
        peaks.has_all &= process->has_last_record;
        peaks.unbounded += process_peak_sum(process).unbounded;
    }
    bytes_raise(&peaks.largest_upper_bound_bytes, peaks.largest_bytes);
    return peaks;
}

double process_log_peak_upper_bound(const struct process_log *log, double unbounded_bytes)
{
    struct peak_sums sums = log->totals.descendants_sums;
    for (EACH_OPEN(log, process)) {
        struct peak_sum peak = process_peak_sum(process);
        if (!process->is_main)
            peak_sums_add_always(&sums, &peak);
    }
    return peak_sums_upper_bound(&sums, unbounded_bytes);
}

bool process_log_has_auto_reaped(const struct process_log *log)
{
    if (log->options.has_events)
        return log->totals.auto_reaped > 0;
    bool may_have = log->totals.ignores_children;
    for (EACH_OPEN(log, process))
        may_have |= process->ignores_children;
    return may_have;
}

bool process_log_cpu_ns(const struct process_log *log, int64_t *cpu_ns)
{
    *cpu_ns = log->totals.cpu_ns;
    for (EACH_OPEN(log, process))
        *cpu_ns += process->cpu_ns > 0 ? process->cpu_ns : 0;
    return log->options.has_taskstats && process_log_has_all(log);
}

/* Its exit was announced, and its parent was read since: that may have collected it by now. */
static bool may_be_collected(const struct process_log *log, const struct process *process)
{
    if (log->options.has_taskstats || !process_has_ended(process) ||
        (process->polled && process_is_zombie(process)))
        return false;
    const struct process *parent = process_log_get(log, process->last_parent);
    return parent && !process_has_ended(parent) && parent->polled_ns > process->end_ns;
}

/* Each process has the counts of its own threads alone. */
static struct task_counts counts_of_exit_records(const struct process_log *log)
{
    const struct process_table *table = &log->options.tree->table;
    struct task_counts sum = process_archive_counts(&log->ended);
    for (struct process *process = process_table_first(table); process;
         process = process_table_next(table, process)) {
        struct task_counts counts = process_counts(process);
        if (process->state != PROCESS_FOUND)
            task_counts_add(&sum, &counts);
    }
    return sum;
}

struct task_counts process_log_counts(const struct process_log *log)
{
    if (log->options.has_taskstats)
        return counts_of_exit_records(log);
    struct task_counts sum = log->totals.uncollected;
    for (EACH_OPEN(log, process)) {
        struct task_counts counts = process_counts(process);
        if (may_be_collected(log, process))
            task_counts_subtract(&sum, &process_baseline(process)->counts);
        else
            task_counts_add(&sum, &counts);
    }
    task_counts_subtract(&sum, &log->totals.collected_before);
    sum.lacks_io = !log->main || !log->main->has_io;
    return sum;
}
