#include "machine/process/process_log.h"

#include "base/clock.h"
#include "base/order.h"
#include "machine/os/proc_stat.h"
#include "machine/process/bytes.h"
#include "machine/process/process_archive.h"
#include "machine/process/process_figures.h"
#include "machine/process/process_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

static struct process_table *table_of(const struct process_log *log)
{
    return &log->options.tree->table;
}

struct process *process_log_get(const struct process_log *log, pid_t pid)
{
    return process_table_get_open(table_of(log), pid);
}

/* Only where processes are kept after the end: else the parent would be freed first. */
static void set_parent(
    const struct process_log *log, struct process *process, struct process *parent)
{
    process->parent = log->options.keeps_ended ? parent : NULL;
}

/* ---- states ---- */

static void update(const struct process_log *log, struct process *process)
{
    process_update(process, !log->options.has_taskstats);
}

static void archive(struct process_log *log, struct process *process)
{
    bool is_wanted = log->options.keeps_ended || process->is_main;
    process_archive_add(&log->ended, table_of(log), process, is_wanted);
}

/*
 * ---- readings of processes that run ----
 *
 * The peak of RSS (VmHWM), the counters and the name of a process are files of procfs, each too
 * expensive for every scan.
 */

/* Read at most this often: once a tick where ticks are a second apart and come a little early or
 * late. */
#define READ_INTERVAL_NS (NS_PER_SECOND * 9 / 10)
#define READ_INTERVAL_OF_MAIN_NS (NS_PER_SECOND / 10)
/* Short-lived processes are not read. */
#define FIRST_READ_AGE_NS (NS_PER_SECOND / 10)

static int64_t peak_interval_ns(const struct process *process)
{
    return process->is_main ? READ_INTERVAL_OF_MAIN_NS : READ_INTERVAL_NS;
}

/* Sets the name, and reads the command line where it is wanted. */
static void update_name(
    const struct process_log_options *options, struct process *process, const char *name)
{
    process_update_name(process, name, &options->tree->view, options->reads_commands);
}

/* Reads what the process has counted so far. */
static void read_counts(const struct process_log_options *options, struct process *process)
{
    if (options->has_taskstats)
        process_read_threads(process, &options->tree->view);
    else
        process_read_io(process, &options->tree->view);
}

/* Reads at the first scan that finds it: its name, and what it has used before tracking. */
static void begin_readings(
    const struct process_log_options *options, struct process *process, int64_t now_ns)
{
    struct polled *polled = process->polled;
    polled->readings.exec_generation = polled->exec_generation;
    if (!options->keeps_ended)
        polled->readings.peak_read_ns = now_ns + FIRST_READ_AGE_NS - peak_interval_ns(process);
    update_name(options, process, process->polled->stat.name);
    process_update(process, !options->has_taskstats);
    struct baseline *baseline = process->baseline;
    if (!baseline)
        return;
    baseline->peak_bytes = UINT64_MAX;
    process_read_peak(process, options->procfs_root);
    baseline->peak_bytes = process->peak.hwm_bytes;
    read_counts(options, process);
    baseline->counts = process->counts;
    baseline->counts.lacks_io = !process->has_io;
}

/* Reads the peak of RSS if it is due and may have risen. */
static void take_peak(
    const struct process_log_options *options, struct process *process, int64_t now_ns)
{
    struct polled *polled = process->polled;
    bool is_due = now_ns - polled->readings.peak_read_ns >= peak_interval_ns(process) ||
                  (process->is_main && polled->memory.resident_bytes > process->peak.hwm_bytes);
    bool has_risen = process_may_have_risen(process);
    /* It may not run again until it is due. */
    polled->readings.peak_is_pending = has_risen && !is_due;
    if (is_due && has_risen) {
        polled->readings.peak_read_ns = now_ns;
        process_read_peak(process, options->procfs_root);
    }
}

/* Reads the counters if they are due and wanted. With taskstats its exit record has the final
 * counts; without, main's are read at every scan. */
static void take_counts(const struct process_log_options *options, struct process *process,
    bool reads_counts, int64_t now_ns)
{
    struct polled *polled = process->polled;
    bool is_due =
        (process->is_main && !options->has_taskstats) ||
        (options->has_live_counts ? reads_counts
                                  : now_ns - polled->readings.io_read_ns >= READ_INTERVAL_NS);
    bool is_wanted = options->has_live_counts ||
                     (!options->has_taskstats && (options->keeps_ended || options->keeps_counts));
    polled->readings.counts_are_pending = options->has_live_counts && !is_due;
    /* What is in its exit records must not be read again from what is left of the process. */
    if (is_due && is_wanted && !process_has_last_record(process)) {
        polled->readings.io_read_ns = process->last_poll.read_ns = now_ns;
        /* Keep files of every scan open, once one could be read. */
        if (process->is_main && !options->has_taskstats && process->has_io)
            process_open_io(process, &options->tree->view);
        read_counts(options, process);
    }
}

/* Reads after each scan what may have changed since, if it is due. `reads_counts`: its counters
 * are, with options.has_live_counts. */
static void read_due(const struct process_log_options *options, struct process *process,
    bool reads_counts, int64_t now_ns)
{
    struct polled *polled = process->polled;
    if (!polled->has_run && !polled->readings.peak_is_pending &&
        !polled->readings.counts_are_pending)
        return;
    if (polled->exec_generation != 0 &&
        polled->exec_generation != polled->readings.exec_generation) {
        process->program.is_stale = true;
        polled->readings.exec_generation = polled->exec_generation;
    }
    if (process->program.is_stale ||
        strncmp(process->program.name, polled->stat.name, sizeof process->program.name - 1) != 0)
        update_name(options, process, process->polled->stat.name);
    if (process_has_memory(process))
        take_peak(options, process, now_ns);
    /* The bytes of a zombie can be read, but not those of its threads. */
    if (process_has_memory(process) || (reads_counts && !options->has_taskstats))
        take_counts(options, process, reads_counts, now_ns);
}

/* Reads its counters, and its peak if that may have risen, though they are not due. */
static void read_now(const struct process_log_options *options, struct process *process)
{
    read_counts(options, process);
    if (process_has_memory(process) && process_may_have_risen(process))
        process_read_peak(process, options->procfs_root);
}

/* ---- sums of peaks ---- */

/* Returns by how much a peak that was read may be too low or too high. */
static uint64_t lag_of(const struct process_log *log)
{
    return 3 * log->options.tree->view.lag_bytes;
}

static int by_time(const void *a, const void *b)
{
    return ORDER(*(const int64_t *)a, *(const int64_t *)b);
}

/* Drops what cannot be the highest sum any more: memory follows the processes that live. */
static void compact_sums(struct process_log *log)
{
    const struct process_table *table = table_of(log);
    size_t count = 0;
    int64_t *starts = malloc((table->count + 1) * sizeof *starts);
    if (!starts)
        return; /* the next time */
    for (EACH_OPEN_PROCESS(table, process)) {
        if (!process->is_main)
            starts[count++] = process_unsummed_ns(process);
    }
    if (log->main)
        starts[count++] = process_unsummed_ns(log->main);
    qsort(starts, count, sizeof *starts, by_time);
    peak_sums_compact(&log->totals.sums, starts, count, log->totals.largest_descendant_bytes);
    free(starts);
}

static void add_to_sums(
    struct process_log *log, struct process *process, int64_t until_ns, const struct peak_sum *peak)
{
    if (!log->options.has_taskstats)
        return; /* only exit records bound the peak of all */
    if (!process_totals_add_peak(&log->totals, process, until_ns, peak))
        log->ran_out = true;
    if (peak_sums_are_many(&log->totals.sums))
        compact_sums(log);
}

/* After a scan that has read VmHWM: what was read of it before is the peak of the time before, if
 * it called no execve() since. That is added when there is more. */
static void sum_kept_peak(struct process_log *log, struct process *process)
{
    const struct polled *polled = process->polled;
    struct summed_peak *summed = &process->summed;
    uint64_t now_bytes = polled->readings.hwm_bytes;
    if (polled->readings.peak_read_ns != log->now_ns || now_bytes == 0)
        return;
    bool is_same = summed->kept_ns && summed->exec_generation == polled->exec_generation;
    if (is_same && now_bytes + lag_of(log) < summed->kept_bytes)
        add_to_sums(log, process, log->now_ns, &(struct peak_sum){.unbounded = 1}); /* reset */
    else if (is_same && now_bytes > summed->kept_bytes + summed->kept_bytes / 16)
        add_to_sums(log, process, summed->kept_ns,
            &(struct peak_sum){.bytes = summed->kept_bytes + lag_of(log)});
    summed->kept_ns = log->now_ns;
    summed->kept_bytes = now_bytes;
    summed->exec_generation = polled->exec_generation;
}

/* ---- ends ---- */

/* Nothing more will arrive for it. A zombie stays in the table until procfs has it no more. */
static void make_final(struct process_log *log, struct process *process)
{
    process->state = PROCESS_FINAL;
    if (process->polled)
        update(log, process);
    log->ended_total++;
    struct peak_sum last = process_last_peak(process, lag_of(log));
    if (!process->is_main)
        add_to_sums(log, process, process_memory_end_ns(process), &last);
    if (!process_totals_add(&log->totals, process, process_log_get(log, process->last_poll.parent),
            log->options.has_taskstats))
        log->ran_out = true;
    if (!process->is_main) {
        program_accounts_add(&log->programs, process);
        process_account_close(process, process_log_get(log, process_parent_pid(process)));
    }
    if (!process->polled)
        archive(log, process);
}

/* An event or exit record may still arrive: it is checked after each batch. False without memory.
 */
static bool watch(struct process_log *log, struct process *process)
{
    if (!process->is_in_ending)
        process->is_in_ending = process_list_append(&log->ending, process);
    return process->is_in_ending;
}

static void note_alive(struct process *process, int64_t time_ns)
{
    if (time_ns > process->end.at_ns)
        process->end.at_ns = time_ns;
}

/* All changes of state are made here. */
static void enter(struct process_log *log, struct process *process, enum process_input input)
{
    enum process_state before = process->state;
    bool had_ended = process_state_has_ended(before);
    process->state = process_state_after(before, input);
    bool has_ended = process_has_ended(process);
    if (had_ended && !has_ended) {
        process->end.has_status = process->end.is_exact = false;
        note_alive(process, log->now_ns);
    }
    if (has_ended && !had_ended) {
        /* It has ended as far as is known. */
        note_alive(process, process->start.at_ns);
        process->end.round = log->round;
        struct process *parent = process_log_get(log, process_parent_pid(process));
        if (parent)
            parent->last_poll.child_ended = true;
    }
    if (process->state == PROCESS_LEADER_EXITED && !watch(log, process))
        process->state = before;
    if (process->state == PROCESS_FINAL || (has_ended && !watch(log, process)))
        make_final(log, process);
}

/* It was found to be a zombie, or gone; it was alive at that time. */
static void end_process(struct process_log *log, struct process *process, int64_t time_ns)
{
    if (process_has_ended(process))
        return;
    note_alive(process, time_ns);
    enter(log, process, PROCESS_INPUT_DEAD);
}

/* An event or exit record gives the end of what may be its last thread. */
static void note_exit(struct process_log *log, struct process *process, enum process_input input,
    int64_t time_ns, int status)
{
    if (process_state_has_ended(process_state_after(process->state, input))) {
        process->end.is_exact = process->end.has_status = true;
        process->end.status = status;
        process->end.at_ns = time_ns;
    }
    enter(log, process, input);
}

/* Returns the state that a reading of the process shows now. */
static enum process_input read_state(const struct process_log *log, const struct process *process)
{
    if (process_log_get(log, process->pid) != process)
        return PROCESS_INPUT_DEAD;
    return process_read_state(process, &log->options.tree->view);
}

/* Only events leave open whether other threads live. */
static bool needs_check(const struct process_log *log, const struct process *process)
{
    return log->options.has_events &&
           (process->state == PROCESS_EXITED || process->state == PROCESS_LEADER_EXITED);
}

/* Whether the event or exit record of a process that has ended may arrive with the next batch. */
static bool awaits_more(const struct process_log *log, const struct process *process)
{
    bool lacks_figures = log->options.has_taskstats && !process_has_last_record(process);
    bool lacks_end = log->options.has_events && !process->end.is_exact && !log->has_lost_events;
    return lacks_end || (lacks_figures && process->end.round == log->round);
}

/*
 * The record of the last of several threads may overtake those of others, which began to exit
 * before and had to wait for a processor. They all arrive before the process is dead, so the batch
 * after that is the last one.
 */
static bool awaits_threads(struct process_log *log, struct process *process)
{
    const struct exit_figures *exits = process->exits;
    bool had_threads = exits && (exits->records > 1 || !exits->last_is_leader ||
                                    (process->polled && process_thread_count(process) > 1));
    if (process->state != PROCESS_COMPLETE || !had_threads || process->end.has_no_thread)
        return false;
    process->end.has_no_thread = read_state(log, process) == PROCESS_INPUT_DEAD;
    return true;
}

/* True where a process must stay in `ending`. */
static bool must_stay(struct process_log *log, struct process *process)
{
    if (!process_has_ended(process))
        return process->state == PROCESS_LEADER_EXITED;
    /* Its last poll may not have all that it used. */
    if (log->options.has_events && process->polled && !process_is_zombie(process))
        return true;
    return awaits_more(log, process) || awaits_threads(log, process);
}

static int by_number_descending(const void *a, const void *b)
{
    const struct process *const *left = a, *const *right = b;
    return ORDER((*right)->number, (*left)->number);
}

/* Closes the processes that have ended and await nothing more. Others stay in the list. */
static void close_ended(struct process_log *log)
{
    size_t waiting = 0;
    log->awaited = 0;
    /* Events arrive in order. Else children first: their parents collect what they counted. */
    if (!log->options.has_events && log->ending.count > 1)
        qsort(log->ending.processes, log->ending.count, sizeof(void *), by_number_descending);
    for (size_t i = 0; i < log->ending.count; i++) {
        struct process *process = log->ending.processes[i];
        bool has_ended = process_has_ended(process);
        if (needs_check(log, process) && !(has_ended && awaits_more(log, process))) {
            enter(log, process, read_state(log, process));
            if (!process_has_ended(process))
                note_alive(process, log->now_ns);
        }
        process->is_in_ending = must_stay(log, process);
        log->awaited += process->is_in_ending && !process->end.is_exact;
        if (process->is_in_ending)
            log->ending.processes[waiting++] = process;
        else
            enter(log, process, PROCESS_INPUT_CLOSED);
    }
    log->ending.count = waiting;
}

/* ---- scans ---- */

/* A process that polls have found: announced before or not. */
static void count(struct process_log *log, struct process *process)
{
    struct polled *polled = process->polled;
    polled->is_counted = true;
    if (process->state == PROCESS_FOUND) {
        process->number = log->seen++;
        enter(log, process, PROCESS_INPUT_RUNS);
    }
    if (process->is_main)
        log->main = process;
    if (!process->start.is_exact)
        process->start.at_ns = clock_monotonic_of_boot_ns(
            (int64_t)polled->stat.start_time_ticks * log->options.ns_per_tick);
    if (!process->parent && !process->is_main) {
        struct process *parent = process_log_get(log, polled->stat.ppid);
        set_parent(log, process, parent);
        process->parent_pid = polled->stat.ppid;
        /* Its own start is in clock ticks, the parent's may be exact. */
        if (parent && process->start.at_ns < parent->start.at_ns)
            process->start.at_ns = parent->start.at_ns;
    }
    begin_readings(&log->options, process, log->now_ns);
    bytes_raise(&log->totals.before_peak_bytes, process_baseline(process)->peak_bytes);
}

/*
 * Events may still follow for a main that ended before the first scan, and for its children. Other
 * zombies that no event announced were counted already, or will never be announced.
 */
static bool must_count(const struct process_log *log, const struct process *process)
{
    if (process->polled->is_counted || process->state == PROCESS_FINAL)
        return false;
    bool is_new_main = process->is_main && !log->main;
    bool is_new = process->polled->is_new && !log->options.has_events;
    return is_new_main || is_new || process->state != PROCESS_FOUND || !process_is_zombie(process);
}

/* An end that events left open is decided by a reading of its own (close_ended). */
static void note_scan(struct process_log *log, struct process *process, int64_t now_ns)
{
    if (process_is_zombie(process)) {
        end_process(log, process, now_ns);
        return;
    }
    if (process_has_ended(process) && !process->polled->is_new)
        return;
    note_alive(process, now_ns);
    if (process_leader_has_exited(process))
        enter(log, process, PROCESS_INPUT_LEADER_EXITED);
    else if (process->state != PROCESS_RUNNING)
        enter(log, process, PROCESS_INPUT_RUNS);
}

void process_log_scan(struct process_log *log, int64_t now_ns)
{
    const struct process_tree *tree = log->options.tree;
    log->now_ns = now_ns;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (must_count(log, process))
            count(log, process);
        if (!process_state_is_open(process->state))
            continue;
        read_due(&log->options, process, log->reads_counts, now_ns);
        sum_kept_peak(log, process);
        note_scan(log, process, now_ns);
    }
    if (!log->options.has_events)
        close_ended(log);
}

void process_log_adopt_orphans(struct process_log *log)
{
    struct process_tree *tree = log->options.tree;
    if (tree->table.count == tree->count)
        return;
    for (EACH_OPEN_PROCESS(table_of(log), process)) {
        if (!process->polled && !process_has_ended(process) &&
            process_tree_adopt(tree, process->pid) == GPUT_OK && process->polled)
            count(log, process);
    }
}

void process_log_remove(void *user, struct process *process)
{
    struct process_log *log = user;
    bool is_open = process_state_is_open(process->state);
    if (is_open)
        update(log, process);
    process_end_polls(process, &log->options.tree->view);
    /* With events, its exit event ends it: until then its children may still be announced. */
    if (!is_open)
        archive(log, process);
    else if (!log->options.has_events)
        end_process(log, process, log->now_ns);
    else
        note_alive(process, log->now_ns);
}

void process_log_set_gpu_ram(struct process_log *log, pid_t pid, double bytes, int64_t time_ns)
{
    struct process *process = process_log_get(log, pid);
    /* A process that started later only reuses the pid. */
    if (process && process->start.at_ns <= time_ns)
        process->peak.gpu_ram_bytes = fmax(process->peak.gpu_ram_bytes, bytes);
}

/* ---- events ---- */

/* Adds a process that was announced. */
static void add_fork(struct process_log *log, const struct process_event *event)
{
    struct process *parent = process_log_get(log, event->parent);
    struct process *process = process_log_get(log, event->pid);
    if (process && !process_has_ended(process) && !process->start.is_exact) {
        /* A scan was first. */
        process->start.is_exact = true;
        process->start.at_ns = event->time_ns;
        return;
    }
    /* The exit of the previous process with that pid was lost. */
    if (process)
        end_process(log, process, process->start.at_ns);
    if (!parent)
        return;
    process = process_table_add(table_of(log), event->pid);
    if (!process) {
        log->ran_out = true;
        return;
    }
    process->number = log->seen++;
    process->start.is_exact = true;
    process->start.at_ns = event->time_ns;
    set_parent(log, process, parent);
    process->parent_pid = parent->pid;
    process->program.is_stale = parent->program.is_stale;
    memcpy(process->program.name, parent->program.name, sizeof process->program.name);
    process->program.command = parent->program.command ? strdup(parent->program.command) : NULL;
    enter(log, process, PROCESS_INPUT_FORK);
}

/* Adds an execve() that was announced: the memory and the name are new. */
static void add_exec(struct process_log *log, struct process *process, int64_t time_ns)
{
    /* Another thread called it: the leader's exit was not that of the process. */
    enter(log, process, PROCESS_INPUT_EXEC);
    /* The first execve() of a launched command is its start. */
    bool is_beginning =
        process->is_main && !process_is_old(process) && !process->history.has_execed;
    process->history.has_replaced_memory |= !is_beginning;
    /* Its memory until then is within the peak of all alone. */
    add_to_sums(log, process, time_ns, &(struct peak_sum){.unbounded = !is_beginning});
    process->history.has_execed = true;
    /* One that has ended keeps its last name. */
    process->program.is_stale = !process->polled || !process_is_zombie(process);
}

static void add_exit(
    struct process_log *log, struct process *process, const struct process_event *event)
{
    /* The last exit record has given it already. */
    if (process_has_last_record(process) && process->end.is_exact)
        return;
    log->totals.auto_reaped += event->is_collected && !event->is_thread && !process->is_main;
    note_exit(log, process, event->is_thread ? PROCESS_INPUT_THREAD_EXIT : PROCESS_INPUT_EXIT,
        event->time_ns, event->status);
}

void process_log_event(struct process_log *log, const struct process_event *event)
{
    struct process *process;
    switch (event->kind) {
    case PROCESS_EVENT_FORK:
        add_fork(log, event);
        break;
    case PROCESS_EVENT_EXEC:
        process = process_log_get(log, event->pid);
        if (process)
            add_exec(log, process, event->time_ns);
        break;
    case PROCESS_EVENT_EXIT:
        process = process_log_get(log, event->pid);
        if (process)
            add_exit(log, process, event);
        break;
    }
}

/* The kernel notes the start of a process a little before it announces it; on a busy machine the
 * one that forks may have to wait for a processor in between. */
#define START_LAG_NS (NS_PER_SECOND / 10)
#define LONGEST_START_LAG_NS (5 * NS_PER_SECOND)

/*
 * Events are read after the records that are added now: meanwhile the pid may have been given to a
 * process that started since. One that had not lived as long as the record says is not the one.
 */
static bool may_be_of(
    const struct taskstats_exit *exit, const struct process *process, int64_t lag_ns)
{
    int64_t elapsed_ns = (int64_t)exit->process_elapsed_ns;
    return process_state_is_open(process->state) &&
           (exit->read_ns == 0 || process->start.at_ns + elapsed_ns <= exit->read_ns + lag_ns);
}

/* Else the record would be lost of one that was announced late. */
static bool may_be_announced_late(const struct taskstats_exit *exit, const struct process *process)
{
    return !process_has_last_record(process) && process->start.at_ns <= exit->read_ns &&
           may_be_of(exit, process, LONGEST_START_LAG_NS);
}

static struct process *find_recorded(
    const struct process_log *log, const struct taskstats_exit *exit)
{
    struct process *newest = process_table_get(table_of(log), exit->process);
    struct process *process = newest;
    while (process && !may_be_of(exit, process, START_LAG_NS))
        process = process_table_older(process);
    for (struct process *late = newest; late && !process; late = process_table_older(late))
        process = may_be_announced_late(exit, late) ? late : NULL;
    return process;
}

void process_log_exit(struct process_log *log, const struct taskstats_exit *exit)
{
    struct process *process = find_recorded(log, exit);
    if (!process)
        return;
    log->ran_out |= !process_add_exit_record(process, exit, lag_of(log));
    process_threads_add_record(process, exit, &log->totals.run_queue);
    if (exit->is_last && process->cpu_ns > 0 && !process_log_get(log, exit->parent))
        log->totals.cpu_outside_ns += process->cpu_ns;
    if (exit->is_leader)
        update_name(&log->options, process, exit->name);
    /* Events announce the exit of the leader alone. */
    if (exit->is_last && exit->is_leader)
        enter(log, process, PROCESS_INPUT_LAST_RECORD);
    else if (exit->is_last)
        note_exit(log, process, PROCESS_INPUT_LAST_THREAD_RECORD,
            process->start.at_ns + (int64_t)exit->process_elapsed_ns, exit->status);
}

/* For those that no scan has seen yet: they may have ended by the next one. */
static void read_name(const struct process_log *log, struct process *process)
{
    struct proc_stat stat;
    if (proc_stat_read_bounded(log->options.tree->view.calls, log->options.procfs_root,
            process->pid, &stat, NULL) != GPUT_OK)
        return;
    update_name(&log->options, process, stat.name);
    int64_t cpu_ns = (int64_t)(stat.utime_ticks + stat.stime_ticks) * log->options.ns_per_tick;
    if (cpu_ns > process->cpu_ns)
        process->cpu_ns = cpu_ns;
}

/* Ends processes that are gone and that no scan can find any more. */
static void end_missing(struct process_log *log)
{
    struct process *after;
    for (struct process *process = process_table_first_open(table_of(log)); process;
         process = after) {
        after = process_table_next_open(table_of(log), process);
        if (!process->polled && !process_has_ended(process) &&
            read_state(log, process) == PROCESS_INPUT_DEAD)
            end_process(log, process, process->start.at_ns);
    }
}

bool process_log_end_unannounced(struct process_log *log)
{
    bool any = false;
    end_missing(log);
    for (EACH_OPEN_PROCESS(table_of(log), process))
        any |= process_has_ended(process) && !process->end.is_exact;
    return any && log->options.has_events && !log->has_lost_events;
}

void process_log_end_batch(struct process_log *log, bool lost)
{
    if (log->options.keeps_ended) {
        for (EACH_OPEN_PROCESS(table_of(log), process)) {
            if (process->program.is_stale && !process_has_ended(process))
                read_name(log, process);
        }
    }
    if (lost) {
        /* Lost events may be exits, and execve() of those that live. */
        log->has_lost_events = true;
        end_missing(log);
        for (EACH_OPEN_PROCESS(table_of(log), process))
            process_note_lost_events(process);
    }
    close_ended(log);
    log->round++;
}

/* ---- what is known ---- */

bool process_log_needs_thread_exits(const struct process_log *log)
{
    return log->awaited > 0 && !log->options.has_taskstats;
}

bool process_log_has_all(const struct process_log *log)
{
    return log->options.has_events && !log->has_lost_events && !log->ran_out;
}

struct process **process_log_list(const struct process_log *log, size_t *count)
{
    const struct process_table *table = &log->options.tree->table;
    *count = 0;
    struct process **list = malloc((table->count + log->ended.kept.count + 1) * sizeof(void *));
    if (!list)
        return NULL;
    for (struct process *process = process_table_first(table); process;
         process = process_table_next(table, process)) {
        if (process->state != PROCESS_FOUND)
            list[(*count)++] = process;
    }
    for (size_t i = 0; i < log->ended.kept.count; i++)
        list[(*count)++] = log->ended.kept.processes[i];
    process_list_sort(list, *count);
    return list;
}

void process_log_refresh(struct process_log *log)
{
    for (EACH_OPEN_PROCESS(table_of(log), process)) {
        if (process->polled)
            update(log, process);
    }
}

void process_log_read_counts(struct process_log *log)
{
    for (EACH_OPEN_PROCESS(table_of(log), process)) {
        /* While it exits, procfs still has what its exit records gave. */
        if (!process->polled || !process_is_running(process))
            continue;
        update(log, process);
        read_now(&log->options, process);
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
    process_archive_finish(&log->ended);
    process_list_finish(&log->ending);
    peak_sums_finish(&log->totals.sums);
    *log = (struct process_log){0};
}
