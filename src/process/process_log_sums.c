#include "process/process_log_sums.h"

#include "process/bytes.h"
#include "process/process_ranking.h"

#include <stdlib.h>

static struct process_record *first(const struct process_log *log)
{
    return process_table_first(&log->living);
}

static struct process_record *next(
    const struct process_log *log, const struct process_record *record)
{
    return process_table_next(&log->living, record);
}

/* A parent that waits for its child collects what that has counted, and whichever process waits for
 * the parent collects both. */
static void assign_counts(struct process_log *log, const struct process_record *record)
{
    struct process_record *parent = process_log_get(log, record->last_parent);
    struct task_counts counts = process_record_counts(record);
    if (parent && !process_state_has_ended(parent->state))
        task_counts_add(&log->collected_before, &record->before);
    else if (log->options.has_taskstats)
        return;
    else if (!parent || parent->end_ns < record->end_ns)
        task_counts_add(&log->uncollected, &counts);
    else if (parent->polled_ns <= record->end_ns) {
        /* The parent's own figures were read before it collected them. */
        task_counts_add(&parent->now, &record->now);
        task_counts_add(&parent->before, &record->before);
    }
}

/* Of a descendant that ended. */
static void add_peak(struct process_log *log, const struct process_record *record)
{
    bool is_certain = process_record_has_own_memory(record);
    log->without_exit_record += !record->has_last_record;
    struct peak_sum peak = process_record_peak_sum(record);
    log->unbounded_peaks += peak.unbounded;
    /* One of several threads may have held the memory after the exit was announced. */
    if (record->is_announced && record->end_is_exact && record->exit_records == 1)
        peak_sums_add(&log->descendants_sums, record->start_ns, record->end_ns, &peak);
    else
        peak_sums_add_always(&log->descendants_sums, &peak);
    bytes_raise(is_certain ? &log->largest_descendant_bytes : &log->largest_uncertain_bytes,
        record->peak_rss_bytes);
}

void process_log_sums_add(struct process_log *log, const struct process_record *record)
{
    assign_counts(log, record);
    log->ignores_children |= record->ignores_children;
    log->ended_total++;
    if (record->cpu_ns > 0)
        log->ended_cpu_ns += record->cpu_ns;
    if (!record->is_main)
        add_peak(log, record);
}

bool process_log_needs_thread_exits(const struct process_log *log)
{
    return log->awaited > 0 && !log->options.has_taskstats;
}

bool process_log_has_all(const struct process_log *log)
{
    return log->options.has_events && !log->has_lost_events && !log->ran_out;
}

struct process_peaks process_log_descendants(const struct process_log *log)
{
    bool has_all = process_log_has_all(log) && log->without_exit_record == 0;
    struct process_peaks peaks = {.largest_bytes = log->largest_descendant_bytes,
        .has_all = has_all,
        .unbounded = log->unbounded_peaks,
        .largest_upper_bound_bytes = log->largest_uncertain_bytes,
        .before_bytes = log->before_peak_bytes};
    for (struct process_record *record = first(log); record; record = next(log, record)) {
        if (record->is_main)
            continue;
        if (process_record_has_own_memory(record))
            bytes_raise(&peaks.largest_bytes, record->peak_rss_bytes);
        bytes_raise(&peaks.largest_upper_bound_bytes, record->peak_rss_bytes);
        peaks.has_living |= !process_state_has_ended(record->state);
        peaks.has_all &= record->has_last_record;
        peaks.unbounded += process_record_peak_sum(record).unbounded;
    }
    bytes_raise(&peaks.largest_upper_bound_bytes, peaks.largest_bytes);
    return peaks;
}

double process_log_peak_upper_bound(const struct process_log *log, double unbounded_bytes)
{
    struct peak_sums sums = log->descendants_sums;
    for (struct process_record *record = first(log); record; record = next(log, record)) {
        struct peak_sum peak = process_record_peak_sum(record);
        if (!record->is_main)
            peak_sums_add_always(&sums, &peak);
    }
    return peak_sums_upper_bound(&sums, unbounded_bytes);
}

bool process_log_has_auto_reaped(const struct process_log *log)
{
    if (log->options.has_events)
        return log->auto_reaped > 0;
    bool may_have = log->ignores_children;
    for (struct process_record *record = first(log); record; record = next(log, record))
        may_have |= record->ignores_children;
    return may_have;
}

bool process_log_cpu_ns(const struct process_log *log, int64_t *cpu_ns)
{
    *cpu_ns = log->ended_cpu_ns;
    for (struct process_record *record = first(log); record; record = next(log, record))
        *cpu_ns += record->cpu_ns > 0 ? record->cpu_ns : 0;
    return log->options.has_taskstats && process_log_has_all(log);
}

/* Its exit was announced, and its parent was read since: that may have collected it by now. */
static bool may_be_collected(const struct process_log *log, const struct process_record *record)
{
    if (log->options.has_taskstats || !process_state_has_ended(record->state) ||
        (record->process && process_is_zombie(record->process)))
        return false;
    const struct process_record *parent = process_log_get(log, record->last_parent);
    return parent && !process_state_has_ended(parent->state) && parent->polled_ns > record->end_ns;
}

struct task_counts process_log_counts(const struct process_log *log)
{
    struct task_counts sum = log->uncollected;
    for (struct process_record *record = first(log); record; record = next(log, record)) {
        struct task_counts counts = process_record_counts(record);
        if (may_be_collected(log, record))
            task_counts_subtract(&sum, &record->before);
        else
            task_counts_add(&sum, &counts);
    }
    if (log->options.has_taskstats) {
        struct task_counts ended = process_archive_counts(&log->ended);
        task_counts_add(&sum, &ended);
        return sum;
    }
    task_counts_subtract(&sum, &log->collected_before);
    sum.lacks_io = !log->main || !log->main->has_io;
    return sum;
}

struct process_record **process_log_list(const struct process_log *log, size_t *count)
{
    *count = 0;
    struct process_record **list =
        malloc((log->living.count + log->ended.kept.count + 1) * sizeof(void *));
    if (!list)
        return NULL;
    for (struct process_record *record = first(log); record; record = next(log, record))
        list[(*count)++] = record;
    for (size_t i = 0; i < log->ended.kept.count; i++)
        list[(*count)++] = log->ended.kept.records[i];
    process_ranking_sort(list, *count);
    return list;
}
