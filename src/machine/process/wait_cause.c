#include "machine/process/wait_cause.h"

#include <stdbool.h>
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
