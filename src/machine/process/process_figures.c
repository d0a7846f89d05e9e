#include "machine/process/process_figures.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "machine/os/proc_stat.h"
#include "machine/os/proc_status.h"
#include "machine/os/procfs.h"
#include "machine/os/task_counts.h"
#include "machine/process/bytes.h"

#include <stdlib.h>
#include <string.h>

/* A fault maps one page, or a huge one. */
#define BYTES_PER_FAULT (UINT64_C(2) << 20)
#define MAX_COMMAND_BYTES 4095

static void raise_peak(struct process *process, uint64_t bytes, enum gput_process_peak trust)
{
    if (bytes <= process_baseline(process)->peak_bytes && trust != GPUT_PROCESS_PEAK_SAMPLED)
        return;
    if (bytes > process->peak.rss_bytes)
        process->peak.rss_bytes = bytes;
    if (trust > process->peak.trust)
        process->peak.trust = trust;
}

void process_note_lost_events(struct process *process)
{
    process->history.has_lost_events = process->history.has_replaced_memory = true;
    if (process->peak.trust == GPUT_PROCESS_PEAK_FINAL)
        process->peak.trust = GPUT_PROCESS_PEAK_KEPT;
}

void process_update(struct process *process, bool with_faults)
{
    const struct polled *polled = process->polled;
    int64_t cpu_ns = process_cpu_ns(process);
    if (cpu_ns > process->cpu_ns)
        process->cpu_ns = cpu_ns;
    process->last_poll.read_ns = polled->read_ns;
    if (polled->stat.ppid > 0)
        process->last_poll.parent = polled->stat.ppid;
    /* One that is exiting has no memory any more, not even its parent's. */
    process->history.had_own_memory |=
        process_has_memory(process) && polled->memory.resident_bytes > 0;
    if (polled->peak_resident_bytes)
        raise_peak(process, polled->peak_resident_bytes, GPUT_PROCESS_PEAK_SAMPLED);
    if (with_faults) {
        process->counts.minor_faults = polled->stat.minor_faults + polled->stat.cminor_faults;
        process->counts.major_faults = polled->stat.major_faults + polled->stat.cmajor_faults;
    }
}

bool process_started(const struct process *process, uint64_t start_time_ticks, int64_t ns_per_tick)
{
    int64_t start_ns = clock_monotonic_of_boot_ns((int64_t)start_time_ticks * ns_per_tick);
    int64_t lived_ns =
        process->end.at_ns > process->start.at_ns ? process->end.at_ns : process->start.at_ns;
    return start_ns <= lived_ns + ns_per_tick;
}

enum process_input process_read_state(
    const struct process *process, const struct process_view *view)
{
    struct proc_stat stat;
    enum process_input unchanged =
        process->state == PROCESS_LEADER_EXITED ? PROCESS_INPUT_LEADER_EXITED : PROCESS_INPUT_RUNS;
    int code = proc_stat_read_bounded(view->calls, view->procfs_root, process->pid, &stat, NULL);
    if (code != GPUT_OK)
        return code == GPUT_ERROR_GONE || process_has_ended(process) ? PROCESS_INPUT_DEAD
                                                                     : unchanged;
    if (!process_started(process, stat.start_time_ticks, view->ns_per_tick) || stat.state == 'X')
        return PROCESS_INPUT_DEAD;
    if (stat.state != 'Z')
        return PROCESS_INPUT_RUNS;
    return stat.thread_count > 1 ? PROCESS_INPUT_LEADER_EXITED : PROCESS_INPUT_DEAD;
}

/* ---- its name ---- */

/* The old one may be another program's: none where it cannot be read any more. */
static void read_command(struct process *process, const struct process_view *view)
{
    struct str text = {0};
    free(process->program.command);
    process->program.command = NULL;
    int code =
        procfs_read_bounded(view->calls, view->procfs_root, process->pid, "cmdline", &text, NULL);
    size_t length = text.length < MAX_COMMAND_BYTES ? text.length : MAX_COMMAND_BYTES;
    bool is_empty = code != GPUT_OK || length == 0;
    while (length > 0 && text.data[length - 1] == '\0')
        length--;
    for (size_t i = 0; i < length; i++) {
        if (text.data[i] == '\0')
            text.data[i] = ' ';
    }
    if (!is_empty)
        process->program.command = strndup(text.data, length);
    str_finish(&text);
}

static void set_name(struct process *process, const char *name, size_t length)
{
    if (length > sizeof process->program.name - 1)
        length = sizeof process->program.name - 1;
    memcpy(process->program.name, name, length);
    process->program.name[length] = '\0';
}

/* Between the readings of its name and of its command line a process may have called execve(): then
 * it gets its new name, and the command line is to be read again. */
static bool follow_execve(struct process *process, const struct process_view *view)
{
    CLEANUP_STR struct str text = {0};
    if (procfs_read_bounded(view->calls, view->procfs_root, process->pid, "comm", &text, NULL) !=
        GPUT_OK)
        return false;
    size_t length = strcspn(str_text(&text), "\n");
    if (length == 0 || (strlen(process->program.name) == length &&
                           memcmp(process->program.name, str_text(&text), length) == 0))
        return false;
    set_name(process, str_text(&text), length);
    return true;
}

void process_update_name(
    struct process *process, const char *name, const struct process_view *view, bool reads_command)
{
    bool is_new = process->program.is_stale ||
                  strncmp(process->program.name, name, sizeof process->program.name - 1) != 0;
    process->program.is_stale = false;
    if (!is_new)
        return;
    set_name(process, name, strlen(name));
    if (reads_command)
        read_command(process, view);
    if (reads_command && follow_execve(process, view))
        read_command(process, view);
}

/* ---- the kernel's own figures ---- */

/* The peak of an exit record is that of the last exec generation, and since the program reset it
 * (clear_refs): what the kernel kept before was more. */
static enum gput_process_peak trust_of_end(
    const struct process *process, const struct taskstats_exit *exit, uint64_t lag_bytes)
{
    if (exit->peak_rss_bytes <= process_baseline(process)->peak_bytes)
        return process->peak.trust;
    /* An execve() resets it, too. */
    bool is_reset =
        !process->history.has_execed && exit->peak_rss_bytes + lag_bytes < process->peak.hwm_bytes;
    return process->history.has_replaced_memory || is_reset ? GPUT_PROCESS_PEAK_KEPT
                                                            : GPUT_PROCESS_PEAK_FINAL;
}

bool process_add_exit_record(
    struct process *process, const struct taskstats_exit *exit, uint64_t lag_bytes)
{
    const struct baseline *before = process_baseline(process);
    if (!process->exits)
        process->exits = calloc(1, sizeof *process->exits);
    if (!process->exits)
        return false;
    bool is_late = process->exits->is_complete; /* overtaken by the last one */
    process->exits->records++;
    process->exits->cpu_ns += (int64_t)exit->cpu_ns;
    task_counts_add(&process->exits->counts, &exit->counts);
    if (!is_late)
        task_counts_subtract(&process->counts, &exit->counts);
    bytes_raise(&process->exits->peak_bytes, exit->peak_rss_bytes);
    raise_peak(process, exit->peak_rss_bytes, GPUT_PROCESS_PEAK_UNKNOWN);
    if (exit->is_last) {
        process->counts = (struct task_counts){0};
        process->has_io = !before->counts.lacks_io;
        process->exits->is_complete = true;
        process->exits->last_is_leader = exit->is_leader;
        process->exits->last_at_ns = process->start.at_ns + (int64_t)exit->process_elapsed_ns;
        process->peak.trust = trust_of_end(process, exit, lag_bytes);
    } else if (!is_late)
        return true;
    int64_t cpu_ns = process->exits->cpu_ns - before->cpu_ns;
    if (cpu_ns > process->cpu_ns)
        process->cpu_ns = cpu_ns;
    return true;
}

void process_read_peak(struct process *process, const char *procfs_root)
{
    struct polled *polled = process->polled;
    struct proc_status status;
    polled->readings.hwm_bytes = 0;
    /* For one that has just ended, the last reading stays. */
    if (proc_status_read(procfs_root, polled->memory_pid, &status, NULL) != GPUT_OK ||
        !status.has_memory)
        return;
    process->history.ignores_children |= status.ignores_children;
    polled->readings.faults = polled->stat.minor_faults;
    polled->readings.rss_bytes = polled->memory.resident_bytes;
    polled->readings.hwm_bytes = status.peak_rss_bytes;
    bytes_raise(&process->peak.hwm_bytes, status.peak_rss_bytes);
    raise_peak(process, status.peak_rss_bytes, GPUT_PROCESS_PEAK_KEPT);
}

void process_read_threads(struct process *process, struct process_view *view)
{
    struct task_counts now = {0};
    if (process_may_wait(process, view) ||
        task_counts_read(view->procfs_root, process->pid, &now, NULL) != GPUT_OK)
        return;
    process->counts = now;
    process->has_io = !now.lacks_io && !process_baseline(process)->counts.lacks_io;
}

static bool read_open_io(const struct process *process, struct proc_io *io)
{
    char text[PROCFS_TEXT_SIZE];
    int fd = process->polled ? process->polled->files.io_fd : -1;
    return fd >= 0 && procfs_reread(fd, text, sizeof text, NULL) == GPUT_OK &&
           proc_io_parse(text, io) == GPUT_OK;
}

void process_read_io(struct process *process, struct process_view *view)
{
    struct task_counts *counts = &process->counts;
    struct proc_io io;
    if (process_may_wait(process, view) ||
        (!read_open_io(process, &io) &&
            proc_io_read(view->procfs_root, process->pid, &io, NULL) != GPUT_OK))
        return;
    process->has_io = true;
    counts->read_call_bytes = counts->write_call_bytes = 0;
    counts->read_bytes = counts->write_bytes = counts->cancelled_write_bytes = 0;
    task_counts_add_io(counts, &io);
}

struct task_counts process_counts(const struct process *process)
{
    struct task_counts counts = process->counts;
    if (process->exits)
        task_counts_add(&counts, &process->exits->counts);
    task_counts_subtract(&counts, &process_baseline(process)->counts);
    counts.lacks_io |= !process->has_io;
    return counts;
}

/* Part of a thread's exit that neither its record nor its event spans. */
#define EXIT_OF_THREAD_NS NS_PER_MS
/* The same of its last thread, where no event gives the end, also on a busy machine. */
#define EXIT_OF_PROCESS_NS (5 * NS_PER_MS)
/* Where no event gives the end: the kernel frees a page in a tenth of that. */
#define FREE_BYTE_NS 1

int64_t process_cpu_lacks_ns(const struct process *process)
{
    unsigned threads = process->exits ? process->exits->records : 1;
    int64_t ns = threads * (clock_tick_ns() + EXIT_OF_THREAD_NS);
    if (process_has_last_record(process) && process->end.at_ns > process->exits->last_at_ns)
        return ns + process->end.at_ns - process->exits->last_at_ns;
    return ns + (int64_t)process->peak.rss_bytes * FREE_BYTE_NS;
}

/* ---- how far its peak can be trusted ---- */

bool process_has_no_faults(const struct process *process)
{
    return process_has_last_record(process) && task_counts_faults(&process->exits->counts) == 0;
}

struct peak_sum process_last_peak(const struct process *process, uint64_t lag_bytes)
{
    uint64_t bytes = process_has_last_record(process) ? process->exits->peak_bytes : 0;
    bool is_known = bytes > 0 && bytes + lag_bytes >= process->summed.kept_bytes &&
                    !process->history.has_lost_events;
    return (struct peak_sum){.bytes = is_known ? bytes : 0, .unbounded = !is_known};
}

/* The kernel sends the exit record of a thread before that gives its memory up, and announces the
 * exit after that, but of the first thread alone. */
int64_t process_memory_end_ns(const struct process *process)
{
    const struct exit_figures *exits = process->exits;
    if (!process->end.is_exact || !exits)
        return INT64_MAX;
    if (exits->records == 1)
        return process->end.at_ns;
    int64_t end_ns =
        process->end.at_ns > exits->last_at_ns ? process->end.at_ns : exits->last_at_ns;
    return end_ns + EXIT_OF_PROCESS_NS + (int64_t)exits->peak_bytes * FREE_BYTE_NS;
}

/*
 * A heuristic to save readings, no bound: memory can also be filled by processes that share it, and
 * by the kernel (huge pages).
 */
bool process_may_have_risen(const struct process *process)
{
    const struct polled *polled = process->polled;
    uint64_t touched = (polled->stat.minor_faults - polled->readings.faults) * BYTES_PER_FAULT;
    return polled->readings.rss_bytes + touched > process->peak.hwm_bytes ||
           polled->memory.resident_bytes > process->peak.hwm_bytes;
}

bool process_has_own_memory(const struct process *process)
{
    return !process_has_last_record(process) || process_is_old(process) ||
           process->history.has_execed || process->history.had_own_memory;
}
