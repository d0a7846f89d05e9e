#include "machine/process/process.h"

#include "base/clock.h"
#include "machine/os/cpu_clock.h"
#include "machine/os/kcmp.h"
#include "machine/os/proc_list.h"
#include "machine/os/proc_stat.h"
#include "machine/os/proc_status.h"
#include "machine/os/procfs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A process that does not run can lose memory (to swap, to reclaim): read it now and then. */
#define REREAD_IDLE_NS (10 * NS_PER_SECOND)

/*
 * During an execve() stat waits for the lock that the process holds until its old memory is freed,
 * which storage or a driver can delay for ever. What is then its memory is a stack of arguments,
 * less than this.
 */
#define MAX_PAGES_IN_EXEC 64

/* Each CPU may hold back a batch of pages before it adds them to the shared counters. */
#define BATCH_PAGES 32

static uint64_t lag_pages(void)
{
    uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    return cpus * (2 * cpus > BATCH_PAGES ? 2 * cpus : BATCH_PAGES);
}

struct process_view process_view_of(const char *procfs_root)
{
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    return (struct process_view){
        .procfs_root = procfs_root,
        .has_cpu_clocks = cpu_clock_usable(procfs_root),
        .ns_per_tick = NS_PER_SECOND / sysconf(_SC_CLK_TCK),
        .page_bytes = page_bytes,
        .lag_bytes = lag_pages() * page_bytes,
    };
}

void process_free_threads(struct process *process)
{
    if (process->threads)
        free(process->threads->threads);
    free(process->threads);
    process->threads = NULL;
}

void process_free(struct process *process)
{
    if (!process)
        return;
    free(process->program.command);
    free(process->exits);
    process_free_threads(process);
    free(process->baseline);
    free(process);
}

const struct baseline *process_baseline(const struct process *process)
{
    static const struct baseline nothing;
    return process->baseline ? process->baseline : &nothing;
}

struct baseline *process_add_baseline(struct process *process)
{
    if (!process->baseline)
        process->baseline = calloc(1, sizeof *process->baseline);
    return process->baseline;
}

void process_close_cached(int *fd, struct process_view *view)
{
    if (*fd < 0)
        return;
    close(*fd);
    *fd = -1;
    view->free_files++;
}

/* Reads a file of a process into `text`, and caches its descriptor while that is allowed. */
static int read_file(
    pid_t pid, const char *name, int *cached_fd, struct process_view *view, char *text)
{
    if (*cached_fd < 0) {
        if (view->free_files == 0)
            return procfs_read(view->procfs_root, pid, name, text, PROCFS_TEXT_SIZE, NULL, NULL);
        TRY(procfs_open(view->procfs_root, pid, name, cached_fd, NULL));
        view->free_files--;
    }
    return procfs_reread(*cached_fd, text, PROCFS_TEXT_SIZE, NULL);
}

/* `may_wait`: with a bound, which takes longer. */
static int read_stat(
    struct process *process, struct process_view *view, bool may_wait, struct proc_stat *stat)
{
    char text[PROCFS_TEXT_SIZE];
    if (may_wait && view->calls)
        return proc_stat_read_bounded(view->calls, view->procfs_root, process->pid, stat, NULL);
    TRY(read_file(process->pid, "stat", &process->polled->files.stat_fd, view, text));
    return proc_stat_parse(text, stat);
}

/* Reads the sizes of a process. */
static int read_statm(
    struct process *process, struct process_view *view, uint64_t *resident, uint64_t *file)
{
    char text[PROCFS_TEXT_SIZE];
    struct proc_statm statm;
    TRY(read_file(
        process->polled->memory_pid, "statm", &process->polled->files.statm_fd, view, text));
    TRY(proc_statm_parse(text, &statm));
    process->polled->virtual_pages = statm.virtual_pages;
    *resident = statm.resident_pages * view->page_bytes;
    *file = statm.shared_pages * view->page_bytes;
    return GPUT_OK;
}

/* A living thread; 0: none can be found. */
static pid_t living_thread(const struct process *process, const struct process_view *view)
{
    int fd;
    pid_t found = 0;
    struct proc_stat stat;
    struct pid_vector threads = {0};
    if (procfs_open(view->procfs_root, process->pid, "task", &fd, NULL) != GPUT_OK)
        return 0;
    procfs_list_fd(fd, &threads);
    close(fd);
    for (size_t i = 0; i < threads.count && !found; i++) {
        if (proc_stat_read(view->procfs_root, threads.pids[i], &stat, NULL) == GPUT_OK &&
            stat.state != 'Z' && stat.state != 'X')
            found = threads.pids[i];
    }
    pid_vector_finish(&threads);
    return found;
}

static void set_memory_pid(struct process *process, pid_t pid, struct process_view *view)
{
    struct polled *polled = process->polled;
    if (pid == polled->memory_pid)
        return;
    process_close_cached(&polled->files.statm_fd, view);
    polled->memory_pid = pid;
}

/* The memory of a process whose leader has exited is only in the files of its other threads. */
static int read_statm_of_thread(
    struct process *process, struct process_view *view, uint64_t *resident, uint64_t *file)
{
    bool has_other = process->polled->memory_pid != process->pid;
    if (has_other && read_statm(process, view, resident, file) == GPUT_OK && *resident > 0)
        return GPUT_OK;
    pid_t thread = living_thread(process, view);
    if (!thread)
        return GPUT_ERROR_GONE;
    set_memory_pid(process, thread, view);
    int code = read_statm(process, view, resident, file);
    /* The last thread gives its memory back before its state shows that it is exiting. */
    return code == GPUT_OK && *resident == 0 ? GPUT_ERROR_GONE : code;
}

static void set_fast(struct process *process, uint64_t resident, uint64_t file)
{
    struct polled *polled = process->polled;
    memory_set_fast(&polled->memory, resident, file);
    if (!process_is_vfork_child(process) &&
        polled->memory.resident_bytes > polled->peak_resident_bytes)
        polled->peak_resident_bytes = polled->memory.resident_bytes;
}

/* Reads the pages of hugetlbfs, which statm does not have. */
static void read_hugetlb(struct process *process, const struct process_view *view)
{
    struct proc_status status;
    if (view->has_hugetlb &&
        proc_status_read(view->procfs_root, process->polled->memory_pid, &status, NULL) == GPUT_OK)
        process->polled->memory.hugetlb_bytes = status.hugetlb_bytes;
}

/* After the stat of the same scan. */
static int read_cheap(struct process *process, struct process_view *view)
{
    uint64_t resident, file;
    if (!process_leader_has_exited(process)) {
        set_memory_pid(process, process->pid, view);
        TRY(read_statm(process, view, &resident, &file));
    } else if (read_statm_of_thread(process, view, &resident, &file) != GPUT_OK) {
        /* It is exiting: the next scan will show that. */
        return GPUT_OK;
    }
    set_fast(process, resident, file);
    read_hugetlb(process, view);
    return GPUT_OK;
}

/* After its statm was read. A vfork child has the memory of its parent until the lock of that can
 * be taken. */
static bool may_be_in_exec(const struct process *process)
{
    uint64_t pages = process->polled->virtual_pages;
    return (pages > 0 && pages < MAX_PAGES_IN_EXEC) || process_is_vfork_child(process);
}

bool process_may_wait(struct process *process, struct process_view *view)
{
    uint64_t resident, file;
    return process->polled &&
           (read_statm(process, view, &resident, &file) != GPUT_OK || may_be_in_exec(process));
}

/* Where pids are not ours there are no CPU clocks: what stat has, in ticks. */
static int64_t cpu_ns_of_stat(const struct proc_stat *stat, const struct process_view *view)
{
    return (int64_t)(stat->utime_ticks + stat->stime_ticks) * view->ns_per_tick;
}

/* Sets the stat of this scan. After an execve() the memory is new. */
static void update_stat(struct process *process, const struct proc_stat *stat)
{
    struct polled *polled = process->polled;
    polled->stat = *stat;
    polled->stat.name[sizeof process->program.name - 1] = '\0';
    if (polled->exec_generation != stat->start_stack_address &&
        !process_leader_has_exited(process)) {
        /* It called execve: its memory is new. */
        memory_reset(&polled->memory);
        polled->metered.memory_is_stale = true;
        polled->metered.copies = (struct copies){.faults = stat->minor_faults};
        polled->exec_generation = stat->start_stack_address;
    }
}

/* Until execve, a child is of its parent's exec generation; after vfork it also shares its memory.
 */
bool process_may_share_memory(
    const struct process *process, const struct process *other, const struct process_view *view)
{
    return view->has_cpu_clocks && process->polled->exec_generation != 0 &&
           process->polled->exec_generation == other->polled->exec_generation;
}

static void share_parent_memory(
    struct process *process, const struct process *vfork_parent, const struct process_view *view)
{
    bool is_vfork_child =
        vfork_parent && process_may_share_memory(process, vfork_parent, view) &&
        kcmp_find_same_memory(view->calls, process->pid, &vfork_parent->pid, 1) == 0;
    process->polled->vfork_parent = is_vfork_child ? vfork_parent->pid : 0;
}

static uint64_t exec_generation_of(pid_t pid, const struct process_view *view)
{
    struct proc_stat stat;
    bool has_stat = proc_stat_read(view->procfs_root, pid, &stat, NULL) == GPUT_OK;
    return has_stat ? stat.start_stack_address : 0;
}

/* Reads what is read of a process only once, at its first poll. */
static int read_first(
    struct process *process, const struct process *parent, struct process_view *view)
{
    struct polled *polled = process->polled;
    struct proc_stat stat;
    uint64_t resident, file;
    TRY(read_statm(process, view, &resident, &file));
    /* A vfork child, too, as far as is known. */
    bool is_like_parent = parent ? parent->polled->virtual_pages == polled->virtual_pages
                                 : process->pid != view->launched;
    TRY(read_stat(process, view, is_like_parent || may_be_in_exec(process), &stat));
    polled->exec_generation = stat.start_stack_address;
    update_stat(process, &stat);
    share_parent_memory(process, parent, view);
    int code = read_cheap(process, view);
    if (process_leader_has_exited(process))
        polled->exec_generation = exec_generation_of(polled->memory_pid, view);
    if (code == GPUT_OK && view->has_cpu_clocks)
        code = cpu_clock_read(process->pid, &polled->cpu_ns);
    else if (code == GPUT_OK)
        polled->cpu_ns = cpu_ns_of_stat(&stat, view);
    return code;
}

int process_begin_polls(
    struct process *process, const struct process *parent, struct process_view *view)
{
    struct polled *polled = malloc(sizeof *polled);
    if (!polled)
        return GPUT_ERROR_MEMORY;
    *polled = (struct polled){.memory_pid = process->pid,
        .files = {-1, -1, -1, -1},
        .is_new = true,
        .has_run = true,
        .children_unread = true};
    process->polled = polled;
    int code = read_first(process, parent, view);
    if (code != GPUT_OK)
        process_end_polls(process, view);
    return code;
}

void process_close_cached_files(struct process *process, struct process_view *view)
{
    struct polled *polled = process->polled;
    process_close_cached(&polled->files.stat_fd, view);
    process_close_cached(&polled->files.statm_fd, view);
    process_close_cached(&polled->files.children_fd, view);
    for (size_t i = 0; process->threads && i < process->threads->count; i++) {
        process_close_cached(&process->threads->threads[i].schedstat_fd, view);
        process_close_cached(&process->threads->threads[i].wchan_fd, view);
    }
}

void process_end_polls(struct process *process, struct process_view *view)
{
    process_close_cached_files(process, view);
    process_close_cached(&process->polled->files.io_fd, view);
    memory_finish(&process->polled->memory);
    free(process->polled);
    process->polled = NULL;
}

int process_set_baseline(struct process *process)
{
    struct baseline *baseline = process_add_baseline(process);
    if (!baseline)
        return GPUT_ERROR_MEMORY;
    baseline->is_old = true;
    baseline->cpu_ns = process->polled->cpu_ns;
    baseline->children_ticks = proc_stat_children_ticks(&process->polled->stat);
    return GPUT_OK;
}

/* Its CPU clock; `*read_on` is false when nothing else can have changed. */
static int poll_cpu_clock(struct process *process, int64_t now_ns, bool *read_on)
{
    struct polled *polled = process->polled;
    int64_t cpu_ns;
    TRY(cpu_clock_read(process->pid, &cpu_ns));
    /* A clock that went back belongs to another process. */
    if (cpu_ns < polled->cpu_ns)
        return GPUT_ERROR_GONE;
    polled->has_run = cpu_ns != polled->cpu_ns;
    polled->cpu_ns = cpu_ns;
    polled->has_run |= polled->was_not_read;
    *read_on = polled->has_run || now_ns - polled->read_ns >= REREAD_IDLE_NS;
    return GPUT_OK;
}

/* Reads the CPU clock, and the rest only if that has moved. */
static int poll_process(struct process *process, const struct process *vfork_parent,
    struct process_view *view, int64_t now_ns)
{
    struct polled *polled = process->polled;
    bool read_on = true;
    polled->is_new = false;
    if (view->has_cpu_clocks)
        TRY(poll_cpu_clock(process, now_ns, &read_on));
    if (!read_on)
        return GPUT_OK;

    struct proc_stat stat;
    uint64_t resident, file, exec_generation = polled->exec_generation;
    bool has_memory = polled->memory_pid == process->pid && !process_is_vfork_child(process) &&
                      read_statm(process, view, &resident, &file) == GPUT_OK;
    TRY(read_stat(process, view, may_be_in_exec(process), &stat));
    if (stat.start_time_ticks != polled->stat.start_time_ticks)
        return GPUT_ERROR_GONE;
    update_stat(process, &stat);
    if (process_is_vfork_child(process))
        share_parent_memory(process, vfork_parent, view);
    /* Only now it is known whose memory that was: when it is not a vfork child any more, its own.
     */
    if (has_memory && exec_generation == polled->exec_generation &&
        !process_leader_has_exited(process)) {
        set_fast(process, resident, file);
        read_hugetlb(process, view);
    } else {
        TRY(read_cheap(process, view));
    }
    if (!view->has_cpu_clocks) {
        polled->cpu_ns = cpu_ns_of_stat(&stat, view);
        polled->has_run = true;
    }
    polled->children_unread |= polled->has_run;
    polled->read_ns = now_ns;
    return GPUT_OK;
}

int process_poll(struct process *process, const struct process *vfork_parent,
    struct process_view *view, int64_t now_ns)
{
    int code = poll_process(process, vfork_parent, view, now_ns);
    process->polled->was_not_read = code == GPUT_ERROR_FILES || code == GPUT_ERROR_IO;
    return code;
}

void process_read_collected(struct process *process, struct process_view *view)
{
    struct proc_stat stat, *last = &process->polled->stat;
    if (read_stat(process, view, process_may_wait(process, view), &stat) != GPUT_OK ||
        stat.start_time_ticks != last->start_time_ticks)
        return;
    last->cutime_ticks = stat.cutime_ticks;
    last->cstime_ticks = stat.cstime_ticks;
}

void process_open_io(struct process *process, struct process_view *view)
{
    if (process->polled->files.io_fd < 0 && view->free_files > 0 && !process_is_zombie(process) &&
        procfs_open(view->procfs_root, process->pid, "io", &process->polled->files.io_fd, NULL) ==
            GPUT_OK)
        view->free_files--;
}

int process_read_exact(struct process *process, bool rollup, struct process_view *view)
{
    struct polled *polled = process->polled;
    uint64_t resident, file;
    TRY(memory_read_exact(
        &polled->memory, view->calls, view->procfs_root, polled->memory_pid, rollup));
    if (read_statm(process, view, &resident, &file) == GPUT_OK)
        memory_reconcile(&polled->memory, resident, file, view->lag_bytes);
    /* What faulted before the reading is in it: under load much of a second may lie between. */
    struct proc_stat stat;
    polled->metered.exact.faults = polled->stat.minor_faults;
    if (read_stat(process, view, may_be_in_exec(process), &stat) == GPUT_OK &&
        stat.start_time_ticks == polled->stat.start_time_ticks)
        polled->metered.exact.faults = stat.minor_faults;
    return GPUT_OK;
}

void process_refresh(struct process *process, struct process_view *view)
{
    uint64_t resident = 0, file = 0;
    int code = read_statm(process, view, &resident, &file);
    if (code == GPUT_OK || code == GPUT_ERROR_GONE)
        memory_set_fast(&process->polled->memory, resident, file);
}

/*
 * Most processes have one thread. Their `children` file is cached from the second scan on: a tenth
 * of the cost.
 */
int process_read_children(
    struct process *process, struct process_view *view, struct pid_vector *children)
{
    struct polled *polled = process->polled;
    bool may_keep = polled->files.children_fd >= 0 || (view->free_files > 0 && !polled->is_new);
    if (polled->stat.thread_count != 1 || !may_keep)
        return proc_children_read(
            view->procfs_root, process->pid, polled->stat.thread_count, children, NULL);
    if (polled->files.children_fd < 0) {
        char name[64];
        snprintf(name, sizeof name, "task/%d/children", (int)process->pid);
        TRY(procfs_open(view->procfs_root, process->pid, name, &polled->files.children_fd, NULL));
        view->free_files--;
    }
    return proc_children_reread(polled->files.children_fd, children);
}

/* Asked of the kernel now. */
static bool still_exists(struct process *process, struct process_view *view)
{
    struct proc_stat stat;
    return read_stat(process, view, true, &stat) == GPUT_OK &&
           stat.start_time_ticks == process->polled->stat.start_time_ticks;
}

int process_signal(struct process *process, struct process_view *view, int number)
{
    if (!view->has_cpu_clocks)
        return ESRCH; /* its pid is another process's in our namespace */
    int fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    bool has_none = fd < 0 && errno != ESRCH; /* an old kernel, no free descriptor */
    int failure = ESRCH;
    /* The process found after the pidfd was opened is the one that the pidfd refers to. */
    if ((fd >= 0 || has_none) && still_exists(process, view)) {
        long done = has_none ? kill(process->pid, number)
                             : syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
        failure = done == 0 ? 0 : errno;
    }
    if (fd >= 0)
        close(fd);
    return failure;
}

bool process_has_collected(const struct process *process)
{
    return process->polled->stat.cminor_faults + process->polled->stat.cmajor_faults > 0;
}

bool process_is_zombie(const struct process *process)
{
    return (process->polled->stat.state == 'Z' && !process_leader_has_exited(process)) ||
           process->polled->stat.state == 'X';
}

bool process_leader_has_exited(const struct process *process)
{
    return process->polled->stat.state == 'Z' && process->polled->stat.thread_count > 1;
}

uint32_t process_thread_count(const struct process *process)
{
    return process->polled->stat.thread_count - process_leader_has_exited(process);
}

bool process_has_memory(const struct process *process)
{
    return !process_is_zombie(process) && !process_is_vfork_child(process);
}

bool process_is_opaque(const struct process *process)
{
    return process->polled->exec_generation == 0 && !process->polled->memory.has_exact;
}

int64_t process_cpu_ns(const struct process *process)
{
    return process->polled->cpu_ns - process_baseline(process)->cpu_ns;
}

int64_t process_children_ns(const struct process *process, const struct process_view *view)
{
    uint64_t before = process_baseline(process)->children_ticks;
    uint64_t now = proc_stat_children_ticks(&process->polled->stat);
    return (int64_t)(now - before) * view->ns_per_tick;
}

int64_t process_before_ns(const struct process *process, const struct process_view *view)
{
    const struct baseline *baseline = process_baseline(process);
    return baseline->cpu_ns + (int64_t)baseline->children_ticks * view->ns_per_tick;
}
