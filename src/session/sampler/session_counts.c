#include "session/sampler/session_counts.h"

#include "base/clock.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"
#include "machine/os/task_counts.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int64_t ns_of_timeval(struct timeval time)
{
    return (int64_t)time.tv_sec * NS_PER_SECOND + (int64_t)time.tv_usec * 1000;
}

void session_counts_add(struct session_counts *counts, const struct rusage *usage)
{
    counts->user_ns += ns_of_timeval(usage->ru_utime);
    counts->system_ns += ns_of_timeval(usage->ru_stime);
    counts->times_truncated += 2;
    struct task_counts tasks = (struct task_counts){.minor_faults = (uint64_t)usage->ru_minflt,
        .major_faults = (uint64_t)usage->ru_majflt,
        .voluntary_switches = (uint64_t)usage->ru_nvcsw,
        .involuntary_switches = (uint64_t)usage->ru_nivcsw};
    task_counts_add(&counts->tasks, &tasks);
    counts->blocks_read += (uint64_t)usage->ru_inblock;
    counts->blocks_written += (uint64_t)usage->ru_oublock;
    uint64_t rss_bytes = (uint64_t)usage->ru_maxrss * 1024;
    if (rss_bytes > counts->largest_rss_bytes)
        counts->largest_rss_bytes = rss_bytes;
}

void session_counts_add_self(struct session_counts *counts)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    session_counts_add(counts, &usage);
    getrusage(RUSAGE_CHILDREN, &usage);
    session_counts_add(counts, &usage);
    counts->children_faults += (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
    session_counts_add_io(counts, "/proc/self", PROCFS_SYSTEM);
}

struct session_counts session_counts_of_thread(void)
{
    struct rusage usage;
    struct session_counts counts = {0};
    getrusage(RUSAGE_THREAD, &usage);
    session_counts_add(&counts, &usage);
    session_counts_add_io(&counts, "/proc/self/task", (pid_t)syscall(SYS_gettid));
    return counts;
}

/* A call that counts the thread which makes it. */
struct counting {
    struct bounded_call call;
    struct session_counts counts;
};

static void run_counting(struct bounded_call *call)
{
    ((struct counting *)call)->counts = session_counts_of_thread();
}

static void destroy_counting(struct bounded_call *call)
{
    free(call);
}

void session_counts_subtract_calls(struct session_counts *counts, struct bounded_calls *calls)
{
    struct counting *counting =
        bounded_calls_threads(calls) > 0 ? calloc(1, sizeof *counting) : NULL;
    if (!counting)
        return;
    counting->call = (struct bounded_call){.run = run_counting, .destroy = destroy_counting};
    if (!bounded_calls_make(calls, 0, &counting->call))
        return;
    session_counts_subtract(counts, &counting->counts);
    free(counting);
}

void session_counts_subtract(struct session_counts *counts, const struct session_counts *before)
{
    counts->user_ns -= before->user_ns;
    counts->system_ns -= before->system_ns;
    counts->times_truncated += before->times_truncated;
    task_counts_subtract(&counts->tasks, &before->tasks);
    counts->children_faults -= before->children_faults;
    counts->blocks_read -= before->blocks_read;
    counts->blocks_written -= before->blocks_written;
    counts->without_io += before->without_io;
}

static void add_io(struct session_counts *counts, int code, const struct proc_io *io)
{
    counts->without_io += code != GPUT_OK;
    if (code == GPUT_OK)
        task_counts_add_io(&counts->tasks, io);
}

void session_counts_add_io(struct session_counts *counts, const char *procfs_root, pid_t pid)
{
    struct proc_io io;
    add_io(counts, proc_io_read(procfs_root, pid, &io, NULL), &io);
}

void session_counts_add_io_fd(struct session_counts *counts, int fd)
{
    char text[PROCFS_TEXT_SIZE];
    struct proc_io io;
    int code = fd >= 0 ? procfs_reread(fd, text, sizeof text, NULL) : GPUT_ERROR_GONE;
    if (code == GPUT_OK)
        code = proc_io_parse(text, &io);
    add_io(counts, code, &io);
}

/* The I/O counters of a process that may not answer. */
static void add_io_bounded(
    struct session_counts *counts, struct bounded_calls *calls, const char *procfs_root, pid_t pid)
{
    struct str text = {0};
    struct proc_io io;
    int code = procfs_read_bounded(calls, procfs_root, pid, "io", &text, NULL);
    if (code == GPUT_OK)
        code = proc_io_parse(str_text(&text), &io);
    add_io(counts, code, &io);
    str_finish(&text);
}

void session_counts_add_living(struct session_counts *counts, struct bounded_calls *calls,
    const char *procfs_root, pid_t pid, uint64_t start_time_ticks, const struct task_counts *before)
{
    struct proc_stat stat;
    int code = proc_stat_read_bounded(calls, procfs_root, pid, &stat, NULL);
    if (code != GPUT_OK || stat.start_time_ticks != start_time_ticks) {
        counts->lacks_some = true;
        return;
    }
    struct session_counts its = {.living = 1};
    its.tasks.minor_faults = stat.minor_faults + stat.cminor_faults;
    its.tasks.major_faults = stat.major_faults + stat.cmajor_faults;
    add_io_bounded(&its, calls, procfs_root, pid);
    task_counts_subtract(&its.tasks, before);
    task_counts_add(&counts->tasks, &its.tasks);
    counts->living++;
    counts->without_io += its.without_io || before->lacks_io;
}
