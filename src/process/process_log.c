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

/* More may come for it: it is checked after each batch. False without memory. */
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

/* It has ended as far as is known. */
static void begin_end(struct process_log *log, struct process_record *record)
{
    note_alive(record, record->start_ns);
    record->ended_round = log->round;
    pid_t parent_pid = record->last_parent ? record->last_parent : record->parent_pid;
    struct process_record *parent = process_log_get(log, parent_pid);
    if (parent)
        parent->child_ended = true;
}

/* All changes of state are made here. */
static void enter(struct process_log *log, struct process_record *record, enum process_input input)
{
    enum process_state before = record->state;
    bool had_ended = process_state_has_ended(before);
    record->state = process_state_after(before, input);
    bool has_ended = process_state_has_ended(record->state);
    if (had_ended && !has_ended)
        record->has_status = record->end_is_exact = false;
    if (has_ended && !had_ended)
        begin_end(log, record);
    if (record->state == PROCESS_FINAL)
        close_record(log, record);
    else if (record->state == PROCESS_LEADER_EXITED && !watch(log, record))
        record->state = before;
    else if (has_ended && !watch(log, record))
        close_record(log, record);
}

/* It was found to be a zombie, or gone; it was alive at that time. */
static void end_record(struct process_log *log, struct process_record *record, int64_t time_ns)
{
    if (process_state_has_ended(record->state))
        return;
    note_alive(record, time_ns);
    enter(log, record, PROCESS_INPUT_DEAD);
}

/* An event or exit record gives the end of what may be its last thread. */
static void note_exit(struct process_log *log, struct process_record *record,
    enum process_input input, int64_t time_ns, int status)
{
    if (process_state_has_ended(process_state_after(record->state, input))) {
        record->end_is_exact = record->has_status = true;
        record->status = status;
        record->end_ns = time_ns;
    }
    enter(log, record, input);
}

static int64_t monotonic_of_ticks(const struct process_log *log, uint64_t ticks)
{
    return clock_monotonic_of_boot_ns((int64_t)ticks * log->options.ns_per_tick);
}

/* What a reading of the process says now. */
static enum process_input read_state(
    const struct process_log *log, const struct process_record *record)
{
    if (process_log_get(log, record->pid) != record)
        return PROCESS_INPUT_DEAD;
    return process_record_read_state(record, log->options.procfs_root, log->options.ns_per_tick);
}

static void check(struct process_log *log, struct process_record *record)
{
    enter(log, record, read_state(log, record));
    if (!process_state_has_ended(record->state))
        note_alive(record, log->now_ns);
}

/* Only events leave open whether other threads live. */
static bool needs_check(const struct process_log *log, const struct process_record *record)
{
    return log->options.has_events &&
           (record->state == PROCESS_EXITED || record->state == PROCESS_LEADER_EXITED);
}

/* Of one that has ended: its event or exit record may come with the next batch. */
static bool awaits_more(const struct process_log *log, const struct process_record *record)
{
    bool lacks_figures = log->options.has_taskstats && !record->has_last_record;
    bool lacks_end = log->options.has_events && !record->end_is_exact && !log->has_lost_events;
    return lacks_end || (lacks_figures && record->ended_round == log->round);
}

/* Whether it must stay in `ending`. */
static bool must_stay(const struct process_log *log, const struct process_record *record)
{
    if (!process_state_has_ended(record->state))
        return record->state == PROCESS_LEADER_EXITED;
    /* Else the tree, which still has it, would add it as a new one. */
    if (log->options.has_events && record->process && !process_is_zombie(record->process))
        return true;
    return awaits_more(log, record);
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
        bool has_ended = process_state_has_ended(record->state);
        if (needs_check(log, record) && !(has_ended && awaits_more(log, record)))
            check(log, record);
        record->is_in_ending = must_stay(log, record);
        log->awaited += record->is_in_ending && !record->end_is_exact;
        if (record->is_in_ending)
            log->ending.records[waiting++] = record;
        else
            enter(log, record, PROCESS_INPUT_SETTLED);
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
        check(log, record);
    if (!record || process_state_has_ended(record->state))
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
    if (is_counted && !record->has_last_record && (is_kept || log->options.has_live_counts)) {
        record->io_read_ns = record->polled_ns = now_ns;
        read_counts(log, record);
    }
}

/* An end that events left open is settled by a reading of its own (close_ended). */
static void note_scan(struct process_log *log, struct process_record *record, int64_t now_ns)
{
    if (process_is_zombie(record->process))
        end_record(log, record, now_ns);
    else if (process_state_has_ended(record->state))
        return;
    else if (process_leader_has_exited(record->process))
        enter(log, record, PROCESS_INPUT_LEADER_EXITED);
    else if (record->state == PROCESS_LEADER_EXITED)
        enter(log, record, PROCESS_INPUT_RUNS);
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
        note_scan(log, process->record, now_ns);
    }
    if (!log->options.has_events)
        close_ended(log);
}

void process_log_adopt_orphans(struct process_log *log, struct process_tree *tree)
{
    if (log->living.count <= tree->count)
        return;
    for (struct process_record *record = first(log); record; record = next(log, record)) {
        if (!record->process && !process_state_has_ended(record->state) &&
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
    if (record && !process_state_has_ended(record->state) && !record->is_announced) {
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

static void add_exec(struct process_log *log, struct process_record *record)
{
    /* Another thread called it: the leader's exit was not that of the process. */
    enter(log, record, PROCESS_INPUT_EXEC);
    /* The first execve() of a launched command is its start. */
    bool is_beginning = record->is_main && !record->is_old && !record->has_execed;
    record->has_replaced_memory |= !is_beginning;
    record->has_execed = true;
    /* One that has ended keeps its last name. */
    record->name_is_stale = !record->process || !process_is_zombie(record->process);
}

static void add_exit(
    struct process_log *log, struct process_record *record, const struct process_event *event)
{
    /* The last exit record has given it already. */
    if (record->has_last_record && record->end_is_exact)
        return;
    log->auto_reaped += event->is_collected && !event->is_thread && !record->is_main;
    note_exit(log, record, event->is_thread ? PROCESS_INPUT_THREAD_EXIT : PROCESS_INPUT_EXIT,
        event->time_ns, event->status);
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
            add_exec(log, record);
        break;
    case PROCESS_EVENT_EXIT:
        record = process_log_get(log, event->pid);
        if (record)
            add_exit(log, record, event);
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
    if (exit->is_last && exit->is_leader)
        enter(log, record, PROCESS_INPUT_LAST_RECORD);
    else if (exit->is_last)
        note_exit(log, record, PROCESS_INPUT_LAST_THREAD_RECORD,
            record->start_ns + (int64_t)exit->process_elapsed_ns, exit->status);
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
        if (record->name_is_stale && !process_state_has_ended(record->state))
            read_name(log, record);
    }
}

/* Ends processes that are gone and that no scan can find any more. */
static void end_missing(struct process_log *log)
{
    struct process_record *after;
    for (struct process_record *record = first(log); record; record = after) {
        after = next(log, record);
        if (!record->process && !process_state_has_ended(record->state) &&
            read_state(log, record) == PROCESS_INPUT_DEAD)
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
        any |= process_state_has_ended(record->state) && !record->end_is_exact;
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
        if (!record->process || !process_state_is_running(record->state))
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
