#include "process/process_log.h"

#include "base/clock.h"
#include "os/proc_stat.h"
#include "os/procfs.h"
#include "process/bytes.h"
#include "process/process_log_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The kernel's figures of a process that runs are read at most this often: once a tick where ticks
 * are a second apart and come a little early or late. */
#define READ_INTERVAL_NS (NS_PER_SECOND * 9 / 10)
#define READ_INTERVAL_OF_MAIN_NS (NS_PER_SECOND / 10)
/* Short-lived processes are not read. */
#define FIRST_READ_AGE_NS (NS_PER_SECOND / 10)

/* ---- the living ---- */

struct process_record *process_log_get(const struct process_log *log, pid_t pid)
{
    return process_table_get(&log->living, pid);
}

static struct process_record *first(const struct process_log *log)
{
    return process_table_first(&log->living);
}

static struct process_record *next(
    const struct process_log *log, const struct process_record *record)
{
    return process_table_next(&log->living, record);
}

/* A new record without a parent; NULL without memory. */
static struct process_record *add(struct process_log *log, pid_t pid)
{
    struct process_record *record = calloc(1, sizeof *record);
    if (record)
        record->pid = pid;
    if (!record || !process_table_insert(&log->living, record)) {
        free(record);
        log->ran_out = true;
        return NULL;
    }
    record->number = log->seen++;
    record->cpu_ns = -1;
    record->peak_gpu_ram_bytes = NAN;
    return record;
}

/* Only where records are kept after the end: else the parent's record would be freed first. */
static void set_parent(
    const struct process_log *log, struct process_record *record, struct process_record *parent)
{
    record->parent = log->options.keeps_ended ? parent : NULL;
}

/* ---- the end of a process ---- */

static void update_record(const struct process_log *log, struct process_record *record)
{
    process_record_update(record);
    if (!log->options.has_taskstats)
        process_record_update_faults(record);
}

/* No more events or exit records will come for it. */
static void close_record(struct process_log *log, struct process_record *record)
{
    process_table_remove(&log->living, record);
    if (record->process) {
        update_record(log, record);
        record->process->record = NULL;
        record->process = NULL;
    }
    process_log_sums_add(log, record);
    bool is_wanted = log->options.keeps_ended || record->is_main;
    process_archive_add(&log->ended, &log->living, record, is_wanted);
}

static bool watch(struct process_log *log, struct process_record *record)
{
    if (!record->is_in_ending)
        record->is_in_ending = process_record_list_append(&log->ending, record);
    return record->is_in_ending;
}

static void note_alive(struct process_record *record, int64_t time_ns)
{
    if (time_ns > record->end_ns)
        record->end_ns = time_ns;
}

/* It has ended as far as is known, and was alive at that time; its exit record may come a little
 * later. */
static void end_record(struct process_log *log, struct process_record *record, int64_t time_ns)
{
    if (record->has_ended)
        return;
    record->has_ended = true;
    note_alive(record, record->start_ns);
    note_alive(record, time_ns);
    record->ended_round = log->round;
    pid_t parent_pid = record->last_parent ? record->last_parent : record->parent_pid;
    struct process_record *parent = process_log_get(log, parent_pid);
    if (parent)
        parent->child_ended = true;
    if (!watch(log, record))
        close_record(log, record);
}

/* The kernel announced the exit of a thread which is the last one, as far as is known. */
static void note_end(
    struct process_log *log, struct process_record *record, int64_t time_ns, int status)
{
    record->end_is_exact = record->has_status = true;
    record->status = status;
    record->end_ns = time_ns;
    end_record(log, record, time_ns);
}

/* A scan found that its leader has exited and other threads live. */
static void note_leader_exit(struct process_log *log, struct process_record *record)
{
    if (!record->has_ended)
        record->leader_has_exited = watch(log, record);
}

static void clear_end(struct process_record *record)
{
    record->has_ended = record->has_status = record->end_is_exact = false;
}

static int64_t monotonic_of_ticks(const struct process_log *log, uint64_t ticks)
{
    return clock_monotonic_of_boot_ns((int64_t)ticks * log->options.ns_per_tick);
}

static bool lives(
    const struct process_log *log, const struct process_record *record, bool *leader_has_exited)
{
    return process_log_get(log, record->pid) == record &&
           process_record_lives(
               record, log->options.procfs_root, log->options.ns_per_tick, leader_has_exited);
}

/*
 * The exit of the leader is announced like the end of the process. But other threads may live on,
 * or one of them may become the leader (execve). So the process is read once more.
 */
static void check_end(struct process_log *log, struct process_record *record)
{
    bool leader_has_exited;
    if (!lives(log, record, &leader_has_exited)) {
        end_record(log, record, record->start_ns);
        record->is_gone = true;
        return;
    }
    clear_end(record);
    record->leader_has_exited = leader_has_exited;
    note_alive(record, log->now_ns);
}

/* Its event or exit record may come with the next batch. */
static bool expects_more(const struct process_log *log, const struct process_record *record)
{
    bool lacks_figures = log->options.has_taskstats && !record->is_final;
    bool lacks_end = log->options.has_events && !record->end_is_exact && !log->has_lost_events;
    return record->has_ended && (lacks_end || (lacks_figures && record->ended_round == log->round));
}

static bool needs_check(const struct process_log *log, const struct process_record *record)
{
    bool is_certain = record->is_final || record->is_gone || !log->options.has_events;
    return !is_certain && (record->has_ended || record->leader_has_exited);
}

/* Whether it must stay in `ending`. */
static bool must_stay(const struct process_log *log, const struct process_record *record)
{
    if (!record->has_ended)
        return record->leader_has_exited;
    /* Else the tree, which still has it, would add it as a new one. */
    if (log->options.has_events && record->process && !process_is_zombie(record->process))
        return true;
    return expects_more(log, record);
}

static int by_number_descending(const void *a, const void *b)
{
    const struct process_record *const *left = a, *const *right = b;
    return ((*left)->number < (*right)->number) - ((*left)->number > (*right)->number);
}

static void close_ended(struct process_log *log)
{
    size_t waiting = 0;
    log->awaited = 0;
    /* Events come in order. Else children first: their parents collect what they counted. */
    if (!log->options.has_events && log->ending.count > 1)
        qsort(log->ending.records, log->ending.count, sizeof(void *), by_number_descending);
    for (size_t i = 0; i < log->ending.count; i++) {
        struct process_record *record = log->ending.records[i];
        if (needs_check(log, record) && !expects_more(log, record))
            check_end(log, record);
        record->is_in_ending = must_stay(log, record);
        log->awaited += record->is_in_ending && !record->end_is_exact;
        if (record->is_in_ending)
            log->ending.records[waiting++] = record;
        else if (record->has_ended)
            close_record(log, record);
    }
    log->ending.count = waiting;
}

/* ---- scans ---- */

static void update_name(
    const struct process_log *log, struct process_record *record, const char *name)
{
    process_record_update_name(record, name, log->options.procfs_root, log->options.reads_commands);
}

static void read_peak(const struct process_log *log, struct process_record *record)
{
    process_record_read_peak(record, log->options.procfs_root);
}

/* Of a process that lives. */
static void read_counts(const struct process_log *log, struct process_record *record)
{
    if (log->options.has_taskstats)
        process_record_read_threads(record, log->options.procfs_root);
    else
        process_record_read_io(record, log->options.procfs_root);
}

static int64_t peak_interval_ns(const struct process_record *record)
{
    return record->is_main ? READ_INTERVAL_OF_MAIN_NS : READ_INTERVAL_NS;
}

/* A process that the tree found gets the record that an event made, or a new one. */
static void add_process(struct process_log *log, struct process *process)
{
    struct process_record *record = process_log_get(log, process->pid);
    if (record && needs_check(log, record))
        check_end(log, record);
    if (!record || record->has_ended)
        record = add(log, process->pid);
    if (!record)
        return;
    record->process = process;
    process->record = record;
    record->exec_generation = process->exec_generation;
    record->is_main = process->is_main;
    record->is_old = process->is_old;
    record->before_ns = process->cpu_before_ns;
    if (record->is_main)
        log->main = record;
    if (!record->is_announced)
        record->start_ns = monotonic_of_ticks(log, process->start_time_ticks);
    if (!record->parent && !record->is_main) {
        struct process_record *parent = process_log_get(log, process->parent);
        set_parent(log, record, parent);
        record->parent_pid = process->parent;
        /* Its own start is in clock ticks, the parent's may be exact. */
        if (parent && record->start_ns < parent->start_ns)
            record->start_ns = parent->start_ns;
    }
    if (!log->options.keeps_ended)
        record->peak_read_ns = log->now_ns + FIRST_READ_AGE_NS - peak_interval_ns(record);
    update_name(log, record, process->name);
    update_record(log, record);
    if (record->is_old) {
        record->before_peak_bytes = UINT64_MAX;
        read_peak(log, record);
        record->before_peak_bytes = record->peak_hwm_bytes;
        bytes_raise(&log->before_peak_bytes, record->before_peak_bytes);
        read_counts(log, record);
        record->before = record->now;
        record->before.lacks_io = !record->has_io;
    }
}

/* For a process that has run since the last scan, or has a reading pending. */
static void read_kernel_figures(
    const struct process_log *log, struct process_record *record, int64_t now_ns)
{
    struct process *process = record->process;
    if (process->exec_generation != 0 && process->exec_generation != record->exec_generation) {
        record->name_is_stale = true;
        record->exec_generation = process->exec_generation;
    }
    if (record->name_is_stale || strncmp(record->name, process->name, sizeof record->name - 1) != 0)
        update_name(log, record, process->name);
    if (!process_has_memory(process))
        return;
    bool is_due = now_ns - record->peak_read_ns >= peak_interval_ns(record) ||
                  (record->is_main && process->memory.resident_bytes > record->peak_hwm_bytes);
    bool has_risen = process_record_may_have_risen(record);
    /* It may not run again until it is due. */
    record->peak_is_pending = has_risen && !is_due;
    if (is_due && has_risen) {
        record->peak_read_ns = now_ns;
        read_peak(log, record);
    }
    /* With taskstats its exit record has the final counts; without, main's are read at every scan.
     */
    bool has_taskstats = log->options.has_taskstats;
    bool is_counted =
        (record->is_main && !has_taskstats) || now_ns - record->io_read_ns >= READ_INTERVAL_NS;
    record->counts_are_pending = log->options.has_live_counts && !is_counted;
    bool is_kept = !has_taskstats && (log->options.keeps_ended || log->options.keeps_counts);
    /* What is in its exit records must not be read again from what is left of the process. */
    if (is_counted && !record->is_final && (is_kept || log->options.has_live_counts)) {
        record->io_read_ns = record->polled_ns = now_ns;
        read_counts(log, record);
    }
}

void process_log_scan(struct process_log *log, struct process_tree *tree, int64_t now_ns)
{
    log->now_ns = now_ns;
    peak_sums_begin(&log->descendants_sums, now_ns);
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        /* Events may still follow for a main that ended before the first scan, and for its
         * children. Other processes that ended so early were announced already, or never will be.
         */
        bool is_new_main = process->is_main && !log->main;
        bool is_new = is_new_main || (process->is_new && !log->options.has_events);
        if (!process->record && (is_new || !process_is_zombie(process)))
            add_process(log, process);
        if (!process->record)
            continue;
        const struct process_record *record = process->record;
        if (process->has_run || record->peak_is_pending || record->counts_are_pending)
            read_kernel_figures(log, process->record, now_ns);
        if (process_leader_has_exited(process))
            note_leader_exit(log, process->record);
        if (process_is_zombie(process))
            end_record(log, process->record, now_ns);
    }
    if (!log->options.has_events)
        close_ended(log);
}

void process_log_adopt_orphans(struct process_log *log, struct process_tree *tree)
{
    if (log->living.count <= tree->count)
        return;
    for (struct process_record *record = first(log); record; record = next(log, record)) {
        if (!record->process && !record->has_ended &&
            process_tree_adopt(tree, record->pid) == GPUT_OK) {
            struct process *process = process_tree_get(tree, record->pid);
            if (process && !process->record)
                add_process(log, process);
        }
    }
}

void process_log_remove(void *user, struct process *process)
{
    struct process_log *log = user;
    struct process_record *record = process->record;
    if (!record)
        return;
    update_record(log, record);
    record->process = NULL;
    process->record = NULL;
    /* With events, its exit event ends it: until then its children may still be announced. */
    if (!log->options.has_events)
        end_record(log, record, log->now_ns);
    else
        note_alive(record, log->now_ns);
}

void process_log_set_gpu_ram(struct process_log *log, pid_t pid, double bytes, int64_t time_ns)
{
    struct process_record *record = process_log_get(log, pid);
    /* A process that started later only reuses the pid. */
    if (record && record->start_ns <= time_ns)
        record->peak_gpu_ram_bytes = fmax(record->peak_gpu_ram_bytes, bytes);
}

/* ---- events ---- */

static void add_fork(struct process_log *log, const struct process_event *event)
{
    struct process_record *parent = process_log_get(log, event->parent);
    struct process_record *record = process_log_get(log, event->pid);
    if (record && !record->has_ended && !record->is_announced) {
        /* A scan came first. */
        record->is_announced = true;
        record->start_ns = event->time_ns;
        return;
    }
    /* The exit of the previous process with that pid was lost. */
    if (record)
        end_record(log, record, record->start_ns);
    if (parent && (record = add(log, event->pid))) {
        record->is_announced = true;
        record->start_ns = event->time_ns;
        set_parent(log, record, parent);
        record->parent_pid = parent->pid;
        record->name_is_stale = parent->name_is_stale;
        memcpy(record->name, parent->name, sizeof record->name);
        record->command = parent->command ? strdup(parent->command) : NULL;
    }
}

static void add_exec(struct process_record *record)
{
    /* Another thread called it: the leader's exit was not that of the process. */
    if (!record->is_final)
        clear_end(record);
    /* The first execve() of a launched command is its start. */
    bool is_beginning = record->is_main && !record->is_old && !record->has_execed;
    record->has_replaced_memory |= !is_beginning;
    record->has_execed = true;
    /* One that has ended keeps its last name. */
    record->name_is_stale = !record->process || !process_is_zombie(record->process);
}

static void add_end(
    struct process_log *log, struct process_record *record, const struct process_event *event)
{
    /* The exit of another thread matters only when the leader has exited; and not when the last
     * exit record has given the end of the process. */
    bool is_known = record->is_final && record->end_is_exact;
    bool may_be_last = !event->is_thread || record->has_ended || record->leader_has_exited;
    if (is_known || !may_be_last)
        return;
    log->auto_reaped += event->is_collected && !event->is_thread && !record->is_main;
    note_end(log, record, event->time_ns, event->status);
}

void process_log_event(struct process_log *log, const struct process_event *event)
{
    struct process_record *record;
    switch (event->kind) {
    case PROCESS_EVENT_FORK:
        add_fork(log, event);
        break;
    case PROCESS_EVENT_EXEC:
        record = process_log_get(log, event->pid);
        if (record)
            add_exec(record);
        break;
    case PROCESS_EVENT_EXIT:
        record = process_log_get(log, event->pid);
        if (record)
            add_end(log, record, event);
        break;
    }
}

void process_log_exit(struct process_log *log, const struct taskstats_exit *exit)
{
    struct process_record *record = process_log_get(log, exit->process);
    if (!record)
        return;
    process_record_add_exit(record, exit);
    if (exit->is_last && record->cpu_ns > 0 && !process_log_get(log, exit->parent))
        log->ended_outside_ns += record->cpu_ns;
    if (exit->is_leader)
        update_name(log, record, exit->name);
    /* Events announce the exit of the leader alone. */
    if (exit->is_last && !exit->is_leader)
        note_end(log, record, record->start_ns + (int64_t)exit->process_elapsed_ns, exit->status);
}

/* For those that no scan has seen yet: they may be gone before the next one. */
static void read_name(const struct process_log *log, struct process_record *record)
{
    struct proc_stat stat;
    if (proc_stat_read(log->options.procfs_root, record->pid, &stat, NULL) != GPUT_OK)
        return;
    update_name(log, record, stat.name);
    int64_t cpu_ns = (int64_t)(stat.utime_ticks + stat.stime_ticks) * log->options.ns_per_tick;
    if (cpu_ns > record->cpu_ns)
        record->cpu_ns = cpu_ns;
}

static void read_names(struct process_log *log)
{
    for (struct process_record *record = first(log); record; record = next(log, record)) {
        if (record->name_is_stale && !record->has_ended)
            read_name(log, record);
    }
}

/* Ends processes that are gone and that no scan can find any more. */
static void end_missing(struct process_log *log)
{
    struct process_record *after;
    for (struct process_record *record = first(log); record; record = after) {
        bool leader_has_exited;
        after = next(log, record);
        if (!record->process && !record->has_ended && !lives(log, record, &leader_has_exited))
            end_record(log, record, record->start_ns);
    }
}

/* Lost events may be exits, and execve() of those that live. */
static void note_lost_events(struct process_log *log)
{
    log->has_lost_events = true;
    end_missing(log);
    for (struct process_record *record = first(log); record; record = next(log, record))
        process_record_note_lost_events(record);
}

bool process_log_end_unannounced(struct process_log *log)
{
    bool any = false;
    end_missing(log);
    for (struct process_record *record = first(log); record; record = next(log, record))
        any |= record->has_ended && !record->end_is_exact;
    return any && log->options.has_events && !log->has_lost_events;
}

void process_log_end_batch(struct process_log *log, bool lost)
{
    if (log->options.keeps_ended)
        read_names(log);
    if (lost)
        note_lost_events(log);
    close_ended(log);
    log->round++;
}

/* ---- reading ---- */

void process_log_refresh(struct process_log *log)
{
    for (struct process_record *record = first(log); record; record = next(log, record)) {
        if (record->process)
            update_record(log, record);
    }
}

void process_log_read_counts(struct process_log *log)
{
    for (struct process_record *record = first(log); record; record = next(log, record)) {
        /* While it exits, procfs still has what its exit records gave. */
        if (!record->process || record->has_ended || record->is_final)
            continue;
        update_record(log, record);
        read_counts(log, record);
        if (process_has_memory(record->process) && process_record_may_have_risen(record))
            read_peak(log, record);
    }
}

/* ---- beginning and end ---- */

void process_log_init(struct process_log *log, const struct process_log_options *options)
{
    *log = (struct process_log){.options = *options};
    process_archive_init(&log->ended, options->max_ended);
}

void process_log_finish(struct process_log *log)
{
    struct process_record *after;
    for (struct process_record *record = first(log); record; record = after) {
        after = next(log, record);
        process_record_free(record);
    }
    process_archive_finish(&log->ended);
    process_table_finish(&log->living);
    process_record_list_finish(&log->ending);
    *log = (struct process_log){0};
}
