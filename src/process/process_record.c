#include "process/process_record.h"

#include "base/clock.h"
#include "os/proc_io.h"
#include "os/proc_stat.h"
#include "os/proc_status.h"
#include "os/procfs.h"

#include <stdlib.h>
#include <string.h>

/* A fault maps one page, or a huge one. */
#define BYTES_PER_FAULT (UINT64_C(2) << 20)
#define COMMAND_BYTES 4096

void process_record_free(struct process_record *record)
{
    free(record->command);
    free(record);
}

static void raise_peak(struct process_record *record, uint64_t bytes, enum process_peak peak)
{
    if (bytes <= record->before_peak_bytes && peak != PROCESS_PEAK_SAMPLED)
        return;
    if (bytes > record->peak_rss_bytes)
        record->peak_rss_bytes = bytes;
    if (peak > record->peak)
        record->peak = peak;
}

void process_record_note_lost_events(struct process_record *record)
{
    record->has_lost_events = record->has_replaced_memory = true;
    if (record->peak == PROCESS_PEAK_FINAL)
        record->peak = PROCESS_PEAK_HWM;
}

void process_record_update(struct process_record *record)
{
    const struct process *process = record->process;
    int64_t cpu_ns = process_cpu_ns(process);
    if (cpu_ns > record->cpu_ns)
        record->cpu_ns = cpu_ns;
    record->polled_ns = process->read_ns;
    if (process->parent > 0)
        record->last_parent = process->parent;
    /* One that is exiting has no memory any more, not even its parent's. */
    record->had_own_memory |= process_has_memory(process) && process->memory.resident_bytes > 0;
    if (process->peak_resident_bytes)
        raise_peak(record, process->peak_resident_bytes, PROCESS_PEAK_SAMPLED);
}

enum process_input process_record_read_state(
    const struct process_record *record, const char *procfs_root, int64_t ns_per_tick)
{
    struct proc_stat stat;
    enum process_input unchanged =
        record->state == PROCESS_LEADER_EXITED ? PROCESS_INPUT_LEADER_EXITED : PROCESS_INPUT_RUNS;
    int code = proc_stat_read(procfs_root, record->pid, &stat, NULL);
    if (code != GPUT_OK)
        return code == GPUT_ERROR_GONE || process_state_has_ended(record->state)
                   ? PROCESS_INPUT_DEAD
                   : unchanged;
    /* A process that started later only reuses the pid. */
    int64_t start_ns = clock_monotonic_of_boot_ns((int64_t)stat.start_time_ticks * ns_per_tick);
    int64_t lived_ns = record->end_ns > record->start_ns ? record->end_ns : record->start_ns;
    if (start_ns > lived_ns + ns_per_tick || stat.state == 'X')
        return PROCESS_INPUT_DEAD;
    if (stat.state != 'Z')
        return PROCESS_INPUT_RUNS;
    return stat.thread_count > 1 ? PROCESS_INPUT_LEADER_EXITED : PROCESS_INPUT_DEAD;
}

/* ---- its name ---- */

/* The old one may be another program's: none where it cannot be read any more. */
static void read_command(struct process_record *record, const char *procfs_root)
{
    char text[COMMAND_BYTES];
    size_t length;
    free(record->command);
    record->command = NULL;
    if (procfs_read(procfs_root, record->pid, "cmdline", text, sizeof text, &length, NULL) !=
            GPUT_OK ||
        length == 0)
        return;
    while (length > 0 && text[length - 1] == '\0')
        length--;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\0')
            text[i] = ' ';
    }
    text[length] = '\0';
    record->command = strdup(text);
}

void process_record_update_name(
    struct process_record *record, const char *name, const char *procfs_root, bool reads_command)
{
    bool is_new =
        record->name_is_stale || strncmp(record->name, name, sizeof record->name - 1) != 0;
    record->name_is_stale = false;
    if (!is_new)
        return;
    size_t length = strnlen(name, sizeof record->name - 1);
    memcpy(record->name, name, length);
    record->name[length] = '\0';
    if (reads_command)
        read_command(record, procfs_root);
}

/* ---- the kernel's own figures ---- */

/* The peak of an exit record is that of the last exec generation. */
static enum process_peak peak_of_end(
    const struct process_record *record, const struct taskstats_exit *exit)
{
    if (exit->peak_rss_bytes <= record->before_peak_bytes)
        return record->peak;
    return record->has_replaced_memory ? PROCESS_PEAK_HWM : PROCESS_PEAK_FINAL;
}

void process_record_add_exit(struct process_record *record, const struct taskstats_exit *exit)
{
    record->exit_records++;
    record->exited_ns += (int64_t)exit->cpu_ns;
    raise_peak(record, exit->peak_rss_bytes, PROCESS_PEAK_UNKNOWN);
    struct task_counts counts = {.minor_faults = exit->minor_faults,
        .major_faults = exit->major_faults,
        .voluntary_switches = exit->voluntary_switches,
        .involuntary_switches = exit->involuntary_switches,
        .read_call_bytes = exit->read_call_bytes,
        .write_call_bytes = exit->write_call_bytes,
        .read_bytes = exit->read_bytes,
        .write_bytes = exit->write_bytes,
        .cancelled_write_bytes = exit->cancelled_write_bytes};
    task_counts_add(&record->ended, &counts);
    task_counts_subtract(&record->now, &counts);
    if (!exit->is_last)
        return;
    record->now = (struct task_counts){0};
    record->has_io = !record->before.lacks_io;
    record->has_last_record = true;
    record->peak = peak_of_end(record, exit);
    if (record->exited_ns - record->before_ns > record->cpu_ns)
        record->cpu_ns = record->exited_ns - record->before_ns;
}

void process_record_read_peak(struct process_record *record, const char *procfs_root)
{
    struct proc_status status;
    /* For one that has just ended, the last reading stays. */
    if (proc_status_read(procfs_root, record->process->memory_pid, &status, NULL) != GPUT_OK ||
        !status.has_memory)
        return;
    record->ignores_children |= status.ignores_children;
    record->faults_when_read = record->process->minor_faults;
    record->rss_when_read = record->process->memory.resident_bytes;
    if (status.peak_rss_bytes > record->peak_hwm_bytes)
        record->peak_hwm_bytes = status.peak_rss_bytes;
    raise_peak(record, status.peak_rss_bytes, PROCESS_PEAK_HWM);
}

void process_record_read_threads(struct process_record *record, const char *procfs_root)
{
    struct task_counts now = {0};
    if (task_counts_read(procfs_root, record->pid, &now, NULL) != GPUT_OK)
        return;
    record->now = now;
    record->has_io = !now.lacks_io && !record->before.lacks_io;
}

void process_record_update_faults(struct process_record *record)
{
    const struct process *process = record->process;
    record->now.minor_faults = process->minor_faults + process->children_minor_faults;
    record->now.major_faults = process->major_faults + process->children_major_faults;
}

void process_record_read_io(struct process_record *record, const char *procfs_root)
{
    struct proc_io io;
    if (proc_io_read(procfs_root, record->pid, &io, NULL) != GPUT_OK)
        return;
    record->has_io = true;
    record->now.read_call_bytes = record->now.write_call_bytes = 0;
    record->now.read_bytes = record->now.write_bytes = record->now.cancelled_write_bytes = 0;
    task_counts_add_io(&record->now, &io);
}

struct task_counts process_record_counts(const struct process_record *record)
{
    struct task_counts counts = record->ended;
    task_counts_add(&counts, &record->now);
    task_counts_subtract(&counts, &record->before);
    counts.lacks_io |= !record->has_io;
    return counts;
}

/* ---- how far its peak can be trusted ---- */

struct peak_sum process_record_peak_sum(const struct process_record *record)
{
    bool is_final = record->peak == PROCESS_PEAK_FINAL;
    return (struct peak_sum){
        .bytes = is_final ? record->peak_rss_bytes : 0, .unbounded = !is_final};
}

/*
 * A heuristic to save readings, no bound: memory can also be filled by processes that share it, and
 * by the kernel (huge pages).
 */
bool process_record_may_have_risen(const struct process_record *record)
{
    const struct process *process = record->process;
    uint64_t touched = (process->minor_faults - record->faults_when_read) * BYTES_PER_FAULT;
    return record->rss_when_read + touched > record->peak_hwm_bytes ||
           process->memory.resident_bytes > record->peak_hwm_bytes;
}

bool process_record_has_own_memory(const struct process_record *record)
{
    return !record->has_last_record || record->is_old || record->has_execed ||
           record->had_own_memory;
}

bool process_record_list_append(struct process_record_list *list, struct process_record *record)
{
    if (list->count == list->capacity) {
        size_t larger = list->capacity ? list->capacity * 2 : 64;
        struct process_record **records = realloc(list->records, larger * sizeof(void *));
        if (!records)
            return false;
        list->records = records;
        list->capacity = larger;
    }
    list->records[list->count++] = record;
    return true;
}

void process_record_list_finish(struct process_record_list *list)
{
    free(list->records);
    *list = (struct process_record_list){0};
}
