/*
 * The sums of a process log: totals of processes that are final, and figures of those that may
 * still change.
 */
#include "machine/process/process_log.h"

#include "machine/process/bytes.h"
#include "machine/process/process_figures.h"

#include <math.h>

static const struct process_table *table_of(const struct process_log *log)
{
    return &log->options.tree->table;
}

struct process_peaks process_log_descendants(const struct process_log *log)
{
    bool has_all = process_log_has_all(log) && log->totals.without_exit_record == 0;
    struct process_peaks peaks = {.largest_bytes = log->totals.largest_descendant_bytes,
        .has_all = has_all,
        .unbounded = log->totals.unbounded_peaks,
        .without_faults = log->totals.without_faults,
        .largest_upper_bound_bytes = log->totals.largest_uncertain_bytes,
        .before_bytes = log->totals.before_peak_bytes};
    for (EACH_OPEN_PROCESS(table_of(log), process)) {
        if (process->is_main)
            continue;
        if (process_has_own_memory(process))
            bytes_raise(&peaks.largest_bytes, process->peak.rss_bytes);
        bytes_raise(&peaks.largest_upper_bound_bytes, process->peak.rss_bytes);
        peaks.living += !process_has_ended(process);
        peaks.has_all &= process_has_last_record(process);
        peaks.without_faults += process_has_no_faults(process);
        peaks.unbounded += process->peak.trust != GPUT_PROCESS_PEAK_FINAL;
    }
    bytes_raise(&peaks.largest_upper_bound_bytes, peaks.largest_bytes);
    return peaks;
}

uint64_t process_log_without_exit_record(const struct process_log *log)
{
    const struct process *main = log->main;
    uint64_t count = log->totals.without_exit_record;
    count += main && process_has_ended(main) && !process_has_last_record(main);
    for (EACH_OPEN_PROCESS(table_of(log), process))
        count +=
            !process->is_main && process_has_ended(process) && !process_has_last_record(process);
    return count;
}

double process_log_peak_upper_bound(
    const struct process_log *log, double main_bytes, double unbounded_bytes)
{
    struct peak_sums sums;
    if (!process_log_descendants(log).has_all)
        return NAN;
    uint64_t lag_bytes = 3 * log->options.tree->view.lag_bytes;
    bool has_memory = peak_sums_copy(&log->totals.sums, &sums);
    for (EACH_OPEN_PROCESS(table_of(log), process)) {
        struct peak_sum last = process_last_peak(process, lag_bytes);
        if (!process->is_main)
            has_memory &= peak_sums_add(&sums, process_unsummed_ns(process), INT64_MAX, &last);
    }
    const struct peak_sum main = {.bytes = (uint64_t)fmax(main_bytes, 0)};
    int64_t main_ns = log->main ? process_unsummed_ns(log->main) : 0;
    has_memory &= peak_sums_add(&sums, main_ns, INT64_MAX, &main);
    double bytes = peak_sums_upper_bound(&sums, unbounded_bytes);
    peak_sums_finish(&sums);
    return has_memory && !isnan(main_bytes) ? bytes : NAN;
}

bool process_log_has_auto_reaped(const struct process_log *log)
{
    if (log->options.has_events)
        return log->totals.auto_reaped > 0;
    bool may_have = log->totals.ignores_children;
    for (EACH_OPEN_PROCESS(table_of(log), process))
        may_have |= process->history.ignores_children;
    return may_have;
}

bool process_log_cpu_ns(const struct process_log *log, int64_t *cpu_ns)
{
    *cpu_ns = log->totals.cpu_ns;
    for (EACH_OPEN_PROCESS(table_of(log), process))
        *cpu_ns += process->cpu_ns > 0 ? process->cpu_ns : 0;
    return log->options.has_taskstats && process_log_has_all(log);
}

struct run_queue_times process_log_run_queue(const struct process_log *log)
{
    struct run_queue_times times = log->options.tree->run_queue;
    run_queue_times_add(&times, &log->totals.run_queue);
    return times;
}

int64_t process_log_divisible_ns(const struct process_log *log)
{
    int64_t ns = log->totals.divisible_ns, least_ns = cpu_divisible_ns();
    for (EACH_OPEN_PROCESS(table_of(log), process))
        ns += process->cpu_ns >= least_ns ? process->cpu_ns : 0;
    return ns;
}

bool process_log_others_at_most_ns(const struct process_log *log, int64_t *cpu_ns)
{
    if (!process_log_cpu_ns(log, cpu_ns))
        return false;
    *cpu_ns += log->totals.others_lack_ns - log->totals.short_lived_cpu_ns;
    for (EACH_OPEN_PROCESS(table_of(log), process)) {
        *cpu_ns += process_cpu_lacks_ns(process);
        if (!process_is_running(process) || !process->polled)
            continue;
        int64_t taken_ns = process->cpu_ns > 0 ? process->cpu_ns : 0;
        int64_t now_ns = process_cpu_ns(process);
        *cpu_ns += now_ns > taken_ns ? now_ns - taken_ns : 0;
    }
    return true;
}

/* Its exit was announced, and its parent was read since: that may have collected it by now. */
static bool may_be_collected(const struct process_log *log, const struct process *process)
{
    if (log->options.has_taskstats || !process_has_ended(process) ||
        (process->polled && process_is_zombie(process)))
        return false;
    const struct process *parent = process_log_get(log, process->last_poll.parent);
    return parent && !process_has_ended(parent) && parent->last_poll.read_ns > process->end.at_ns;
}

/* Each process has the counts of its own threads alone. */
static struct task_counts counts_of_exit_records(const struct process_log *log)
{
    const struct process_table *table = table_of(log);
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
    for (EACH_OPEN_PROCESS(table_of(log), process)) {
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
