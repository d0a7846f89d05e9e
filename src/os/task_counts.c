#include "os/task_counts.h"

#include "os/proc_stat.h"
#include "os/proc_status.h"
#include "os/procfs.h"

void task_counts_add(struct task_counts *counts, const struct task_counts *more)
{
    counts->minor_faults += more->minor_faults;
    counts->major_faults += more->major_faults;
    counts->voluntary_switches += more->voluntary_switches;
    counts->involuntary_switches += more->involuntary_switches;
    counts->read_call_bytes += more->read_call_bytes;
    counts->write_call_bytes += more->write_call_bytes;
    counts->read_bytes += more->read_bytes;
    counts->write_bytes += more->write_bytes;
    counts->cancelled_write_bytes += more->cancelled_write_bytes;
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

static void subtract(uint64_t *count, uint64_t less)
{
    *count = *count > less ? *count - less : 0;
}

void task_counts_subtract(struct task_counts *counts, const struct task_counts *less)
{
    subtract(&counts->minor_faults, less->minor_faults);
    subtract(&counts->major_faults, less->major_faults);
    subtract(&counts->voluntary_switches, less->voluntary_switches);
    subtract(&counts->involuntary_switches, less->involuntary_switches);
    subtract(&counts->read_call_bytes, less->read_call_bytes);
    subtract(&counts->write_call_bytes, less->write_call_bytes);
    subtract(&counts->read_bytes, less->read_bytes);
    subtract(&counts->write_bytes, less->write_bytes);
    subtract(&counts->cancelled_write_bytes, less->cancelled_write_bytes);
    counts->lacks_io |= less->lacks_io;
}

static void raise_to(uint64_t *count, uint64_t min)
{
    *count = *count < min ? min : *count;
}

void task_counts_raise(struct task_counts *counts, const struct task_counts *min)
{
    raise_to(&counts->minor_faults, min->minor_faults);
    raise_to(&counts->major_faults, min->major_faults);
    raise_to(&counts->voluntary_switches, min->voluntary_switches);
    raise_to(&counts->involuntary_switches, min->involuntary_switches);
    raise_to(&counts->read_call_bytes, min->read_call_bytes);
    raise_to(&counts->write_call_bytes, min->write_call_bytes);
    raise_to(&counts->read_bytes, min->read_bytes);
    raise_to(&counts->write_bytes, min->write_bytes);
    raise_to(&counts->cancelled_write_bytes, min->cancelled_write_bytes);
}

/* `tasks` is the process's task folder, which has a folder for each thread like procfs for each
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
