#include "machine/process/wait_cause.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "machine/os/cpu_clock.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* Kernel functions by how they begin; the first row that fits counts. The names of Linux 4.18 to
 * 6.18. */
static const struct {
    const char *prefix;
    enum wall_cause cause;
} channels[] = {
    {"pipe_", WALL_PIPE},
    {"anon_pipe_", WALL_PIPE},
    {"fifo_", WALL_PIPE},
    {"wait_for_partner", WALL_PIPE},
    {"unix_", WALL_SOCKET},
    {"__skb_", WALL_SOCKET},
    {"skb_", WALL_SOCKET},
    {"sk_", WALL_SOCKET},
    {"tcp_", WALL_SOCKET},
    {"inet_", WALL_SOCKET},
    {"vsock_", WALL_SOCKET},
    {"netlink_", WALL_SOCKET},
    {"futex_", WALL_LOCK},
    {"__futex_", WALL_LOCK},
    {"do_futex", WALL_LOCK},
    {"locks_lock", WALL_LOCK},
    {"flock_lock", WALL_LOCK},
    {"fcntl_setlk", WALL_LOCK},
    {"posix_lock", WALL_LOCK},
    {"do_semtimedop", WALL_LOCK},
    {"__do_semtimedop", WALL_LOCK},
    {"poll_schedule_timeout", WALL_POLL},
    {"do_poll", WALL_POLL},
    {"do_sys_poll", WALL_POLL},
    {"do_select", WALL_POLL},
    {"ep_poll", WALL_POLL},
    {"do_epoll_wait", WALL_POLL},
    {"io_cqring_wait", WALL_POLL},
    {"eventfd_", WALL_POLL},
    {"inotify_read", WALL_POLL},
    {"do_wait", WALL_CHILD},
    {"__do_wait", WALL_CHILD},
    {"kernel_wait4", WALL_CHILD},
    {"kernel_clone", WALL_CHILD}, /* the child of vfork() */
    {"_do_fork", WALL_CHILD},
    {"wait_for_vfork_done", WALL_CHILD},
    {"hrtimer_nanosleep", WALL_TIMER},
    {"do_nanosleep", WALL_TIMER},
    {"common_nsleep", WALL_TIMER},
    {"timerfd_read", WALL_TIMER},
    {"do_signal_stop", WALL_STOPPED},
    {"ptrace_stop", WALL_STOPPED},
    {"do_freezer_trap", WALL_STOPPED},
    {"__refrigerator", WALL_STOPPED},
    {"do_swap_page", WALL_PAGING},
    {"swap_", WALL_PAGING},
    {"filemap_fault", WALL_PAGING},
    {"shrink_", WALL_PAGING},
    {"reclaim_throttle", WALL_PAGING},
    {"throttle_direct_reclaim", WALL_PAGING},
    {"mem_cgroup_", WALL_PAGING},
    {"try_to_compact", WALL_PAGING},
    {"__iomap_dio_rw", WALL_STORAGE},
    {"iomap_", WALL_STORAGE},
    {"submit_bio_wait", WALL_STORAGE},
    {"blk", WALL_STORAGE},
    {"__blk", WALL_STORAGE},
    {"bio_", WALL_STORAGE},
    {"rq_qos_wait", WALL_STORAGE},
    {"wbt_wait", WALL_STORAGE},
    {"jbd2_", WALL_STORAGE},
    {"ext4_", WALL_STORAGE},
    {"xfs_", WALL_STORAGE},
    {"xlog_", WALL_STORAGE},
    {"btrfs_", WALL_STORAGE},
    {"nfs", WALL_STORAGE},
    {"rpc_wait_bit", WALL_STORAGE},
    {"fuse_dev_do_read", WALL_OTHER}, /* a server that has no request */
    {"fuse_", WALL_STORAGE},
    {"__fuse_", WALL_STORAGE},
    {"request_wait_answer", WALL_STORAGE},
    {"p9_", WALL_STORAGE},
    {"ceph_", WALL_STORAGE},
    {"cl_", WALL_STORAGE}, /* Lustre */
    {"wait_on_buffer", WALL_STORAGE},
    {"__wait_on_buffer", WALL_STORAGE},
    {"balance_dirty_pages", WALL_STORAGE},
    {"inode_dio_wait", WALL_STORAGE},
    {"do_get_write_access", WALL_STORAGE},
    {"nv_", WALL_GPU},
    {"nvidia", WALL_GPU},
    {"uvm_", WALL_GPU},
    {"os_acquire_", WALL_GPU},
    {"amdgpu_", WALL_GPU},
    {"kfd_", WALL_GPU},
    {"drm_", WALL_GPU},
    {"dma_fence_", WALL_GPU},
    {"dma_resv_", WALL_GPU},
    {"ttm_", WALL_GPU},
    {"i915_", WALL_GPU},
    {"xe_", WALL_GPU},
    {"n_tty_read", WALL_OTHER},
};

/* In them a thread waits for a page: of a read or write, or of a page fault. */
static const char *const of_pages[] = {
    "folio_wait_bit", "__folio_lock", "wait_on_page", "__lock_page", "io_schedule"};

/* System calls in which a thread sleeps for one thing alone. */
static const struct {
    long number;
    enum wall_cause cause;
} calls[] = {
    {SYS_futex, WALL_LOCK},
    {SYS_wait4, WALL_CHILD},
    {SYS_waitid, WALL_CHILD},
    {SYS_nanosleep, WALL_TIMER},
    {SYS_clock_nanosleep, WALL_TIMER},
    {SYS_ppoll, WALL_POLL},
    {SYS_pselect6, WALL_POLL},
    {SYS_epoll_pwait, WALL_POLL},
#ifdef SYS_poll
    {SYS_poll, WALL_POLL},
    {SYS_select, WALL_POLL},
    {SYS_epoll_wait, WALL_POLL},
#endif
    {SYS_recvfrom, WALL_SOCKET},
    {SYS_recvmsg, WALL_SOCKET},
    {SYS_sendto, WALL_SOCKET},
    {SYS_sendmsg, WALL_SOCKET},
    {SYS_accept, WALL_SOCKET},
    {SYS_accept4, WALL_SOCKET},
    {SYS_connect, WALL_SOCKET},
    {SYS_fsync, WALL_STORAGE},
    {SYS_fdatasync, WALL_STORAGE},
    {SYS_pread64, WALL_STORAGE},
    {SYS_pwrite64, WALL_STORAGE},
    {SYS_flock, WALL_LOCK},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_of_pages(const char *channel)
{
    for (size_t i = 0; i < COUNT_OF(of_pages); i++) {
        if (begins_with(channel, of_pages[i]))
            return true;
    }
    return false;
}

enum wall_cause wait_cause_of_channel(const char *channel)
{
    if (channel[0] == '0' || channel[0] == '\0')
        return WALL_COMPUTING;
    for (size_t i = 0; i < COUNT_OF(channels); i++) {
        if (begins_with(channel, channels[i].prefix))
            return channels[i].cause;
    }
    return WALL_CAUSE_COUNT;
}

enum wall_cause wait_cause_of_call(const char *channel, const char *call)
{
    char *end;
    long number = strtol(call, &end, 10);
    bool is_in_call = end != call && number >= 0;
    bool is_in_fault = end != call && number == -1;
    if (is_of_pages(channel) && end == call)
        return WALL_CAUSE_COUNT;
    if (is_of_pages(channel))
        return is_in_fault ? WALL_PAGING : WALL_STORAGE;
    for (size_t i = 0; is_in_call && i < COUNT_OF(calls); i++) {
        if (calls[i].number == number)
            return calls[i].cause;
    }
    return is_in_fault ? WALL_PAGING : WALL_OTHER;
}

enum wall_cause wait_cause_of_state(char state)
{
    switch (state) {
    case 'R':
        return WALL_COMPUTING;
    case 'D':
        return WALL_STORAGE;
    case 'T':
    case 't':
        return WALL_STOPPED;
    default:
        return WALL_OTHER;
    }
}

/* Reads wchan of a thread, which never waits. Its descriptor is kept while that is allowed. */
static int read_channel(const struct process *process, struct thread *thread,
    struct process_view *view, char text[static 256])
{
    char name[64];
    snprintf(name, sizeof name, "task/%d/wchan", (int)thread->id);
    if (thread->wchan_fd < 0 && view->free_files == 0)
        return procfs_read(view->procfs_root, process->pid, name, text, 256, NULL, NULL);
    if (thread->wchan_fd < 0) {
        TRY(procfs_open(view->procfs_root, process->pid, name, &thread->wchan_fd, NULL));
        view->free_files--;
    }
    return procfs_reread(thread->wchan_fd, text, 256, NULL);
}

/* Reads stat or syscall of a thread, which make their reader wait during an execve(). */
static int read_bounded(const struct process *process, const struct thread *thread,
    const char *file, struct process_view *view, struct str *text)
{
    char name[64];
    snprintf(name, sizeof name, "task/%d/%s", (int)thread->id, file);
    return procfs_read_bounded(view->calls, view->procfs_root, process->pid, name, text, NULL);
}

/* The state is shown even where the function that it sleeps in is not. */
static enum wall_cause cause_by_state(
    const struct process *process, const struct thread *thread, struct process_view *view)
{
    CLEANUP_STR struct str text = {0};
    struct proc_stat stat;
    if (read_bounded(process, thread, "stat", view, &text) != GPUT_OK ||
        proc_stat_parse(str_text(&text), &stat) != GPUT_OK)
        return WALL_UNKNOWN;
    enum wall_cause cause = wait_cause_of_state(stat.state);
    return cause == WALL_OTHER ? WALL_UNKNOWN : cause;
}

enum wall_cause process_state_read(
    struct process *process, struct thread *thread, struct process_view *view)
{
    CLEANUP_STR struct str call = {0};
    char channel[256];
    struct process_threads *list = process->threads;
    if (list->states == PROCESS_STATES_REFUSED)
        return cause_by_state(process, thread, view);
    if (read_channel(process, thread, view, channel) != GPUT_OK)
        return WALL_UNKNOWN;
    enum wall_cause cause = wait_cause_of_channel(channel);
    if (cause != WALL_COMPUTING)
        list->states = PROCESS_STATES_KNOWN;
    if (cause == WALL_COMPUTING && list->states == PROCESS_STATES_NEW) {
        /* Readers without permission get "0", too. */
        int code = read_bounded(process, thread, "syscall", view, &call);
        list->states =
            code == GPUT_ERROR_PERMISSION ? PROCESS_STATES_REFUSED : PROCESS_STATES_KNOWN;
        return code == GPUT_OK ? cause : cause_by_state(process, thread, view);
    }
    if (cause != WALL_CAUSE_COUNT)
        return cause;
    if (read_bounded(process, thread, "syscall", view, &call) != GPUT_OK)
        return WALL_OTHER;
    return wait_cause_of_call(channel, str_text(&call));
}

/* It sleeps as it did at the moment before. */
static bool sleeps_on(
    const struct process *process, const struct process_view *view, int64_t *cpu_ns)
{
    const struct process_threads *list = process->threads;
    *cpu_ns = -1;
    if (!view->has_cpu_clocks || cpu_clock_read(process->pid, cpu_ns) != GPUT_OK)
        return false;
    return list->has_causes && !list->any_ran && *cpu_ns == list->state_cpu_ns;
}

void process_states_sample(struct process *process, struct process_view *view, int64_t weight_ns)
{
    struct process_threads *list = process->threads;
    int64_t cpu_ns;
    if (!list || process_is_zombie(process))
        return;
    bool is_same = sleeps_on(process, view, &cpu_ns);
    list->any_ran = list->any_ran && is_same;
    for (size_t i = 0; i < list->count; i++) {
        struct thread *thread = &list->threads[i];
        if (!thread->is_listed || thread->has_record)
            continue;
        if (!is_same)
            thread->cause = (unsigned char)process_state_read(process, thread, view);
        list->any_ran |= thread->cause == WALL_COMPUTING;
        /* Only those that sleep divide what is not counted. */
        enum wall_cause cause = (enum wall_cause)thread->cause;
        if (cause != WALL_UNKNOWN) {
            if (cause == WALL_CAUSE_COUNT)
                thread->samples.pages_ns += weight_ns;
            else
                thread->samples.ns[cause] += weight_ns;
            thread->samples.count += cause != WALL_COMPUTING;
        }
    }
    list->state_cpu_ns = cpu_ns;
    list->has_causes = true;
}
