#include "machine/os/task_counts.h"

#include "machine/os/proc_stat.h"
#include "machine/os/proc_status.h"
#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <stddef.h>
#include <string.h>

/* Every count. */
static const size_t offsets[] = {
#define COUNT_AT(member) offsetof(struct task_counts, member)
    COUNT_AT(minor_faults),
    COUNT_AT(major_faults),
    COUNT_AT(voluntary_switches),
    COUNT_AT(involuntary_switches),
    COUNT_AT(read_call_bytes),
    COUNT_AT(write_call_bytes),
    COUNT_AT(read_bytes),
    COUNT_AT(write_bytes),
    COUNT_AT(cancelled_write_bytes),
};
#define COUNTS (sizeof offsets / sizeof *offsets)

static uint64_t *count(struct task_counts *counts, size_t i)
{
    return (uint64_t *)((char *)counts + offsets[i]);
}

static uint64_t count_of(const struct task_counts *counts, size_t i)
{
    return *(const uint64_t *)((const char *)counts + offsets[i]);
}

void task_counts_add(struct task_counts *counts, const struct task_counts *more)
{
    for (size_t i = 0; i < COUNTS; i++)
        *count(counts, i) += count_of(more, i);
    counts->lacks_io |= more->lacks_io;
}

void task_counts_add_io(struct task_counts *counts, const struct proc_io *io)
{
    counts->read_call_bytes += io->read_call_bytes;
    counts->write_call_bytes += io->write_call_bytes;
    counts->read_bytes += io->read_bytes;
    counts->write_bytes += io->write_bytes;
    counts->cancelled_write_bytes += io->cancelled_write_bytes;
}

void task_counts_subtract(struct task_counts *counts, const struct task_counts *less)
{
    for (size_t i = 0; i < COUNTS; i++) {
        uint64_t before = count_of(counts, i), subtracted = count_of(less, i);
        *count(counts, i) = before > subtracted ? before - subtracted : 0;
    }
    counts->lacks_io |= less->lacks_io;
}

void task_counts_raise(struct task_counts *counts, const struct task_counts *min)
{
    for (size_t i = 0; i < COUNTS; i++) {
        if (count_of(counts, i) < count_of(min, i))
            *count(counts, i) = count_of(min, i);
    }
}

/* Reads the counts of a thread. `tasks` has a folder for each thread, as procfs has for each
 * process. */
static void read_thread(const char *tasks, pid_t thread, struct task_counts *counts)
{
    struct proc_stat stat;
    struct proc_status status;
    struct proc_io io;
    if (proc_stat_read(tasks, thread, &stat, NULL) != GPUT_OK || stat.state == 'Z' ||
        stat.state == 'X' || proc_status_read(tasks, thread, &status, NULL) != GPUT_OK)
        return;
    counts->minor_faults += stat.minor_faults;
    counts->major_faults += stat.major_faults;
    counts->voluntary_switches += status.voluntary_context_switches;
    counts->involuntary_switches += status.nonvoluntary_context_switches;
    int code = proc_io_read(tasks, thread, &io, NULL);
    counts->lacks_io |= code != GPUT_OK && code != GPUT_ERROR_GONE;
    if (code != GPUT_OK)
        return;
    task_counts_add_io(counts, &io);
}

int task_counts_read(
    const char *root, pid_t pid, struct task_counts *counts, struct gput_error *error)
{
    char tasks[PROCFS_PATH_SIZE];
    struct pid_vector threads = {0};
    int code = procfs_list_threads(root, pid, &threads, error);
    for (size_t i = 0; i < threads.count && procfs_path(root, pid, "task", tasks); i++)
        read_thread(tasks, threads.pids[i], counts);
    pid_vector_finish(&threads);
    return code;
}

/* ---- io ---- */

int proc_io_parse(const char *text, struct proc_io *io)
{
    const char *end = text + strlen(text);
    struct scan_line line;
    bool has_read = false;
    bool has_write = false;

    *io = (struct proc_io){0};
    while (scan_next_line(&text, end, &line)) {
        has_read |= SCAN_NUMBER(&line, "rchar:", &io->read_call_bytes);
        has_write |= SCAN_NUMBER(&line, "wchar:", &io->write_call_bytes);
        SCAN_NUMBER(&line, "read_bytes:", &io->read_bytes);
        SCAN_NUMBER(&line, "write_bytes:", &io->write_bytes);
        SCAN_NUMBER(&line, "cancelled_write_bytes:", &io->cancelled_write_bytes);
    }
    return has_read && has_write ? GPUT_OK : GPUT_ERROR_FORMAT;
}

int proc_io_read(const char *root, pid_t pid, struct proc_io *io, struct gput_error *error)
{
    char text[1024];

    TRY(procfs_read(root, pid, "io", text, sizeof text, NULL, error));
    if (proc_io_parse(text, io) != GPUT_OK)
        return error_set(
            error, GPUT_ERROR_FORMAT, "%s/%d/io has an unexpected format.", root, (int)pid);
    return GPUT_OK;
}
