#include "machine/process/pipe_waits.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "machine/os/procfs.h"
#include "machine/process/wait_cause.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Limits of what is looked at in one moment. */
#define MAX_WAITERS 4
#define MAX_SEARCHED 64
#define MAX_DESCRIPTORS 256
/* Parents between a process and main. */
#define MAX_DEPTH 8
/* After the first moments, one of several stands for the others where a process reads or writes: a
 * look costs 0.15 ms. */
#define MOMENTS_OF_EACH 16
#define MOMENTS_OF_ONE 4
/* A search may take this part of the time. */
#define SEARCH_PART 100

/* ---- which pipe a thread waits in ---- */

/* A reading of the descriptors that a process polls, in another thread. */
struct poll_reading {
    struct bounded_call call;
    pid_t pid;
    uintptr_t address;
    size_t size; /* 0 where the memory cannot be read */
    union {
        struct pollfd polled;
        fd_set selected;
    };
};

/* The pipe in which a process sleeps. */
struct awaited {
    uint64_t inode;   /* 0: none */
    bool is_write;    /* it writes to the pipe */
    bool has_timeout; /* it may go on without anything in the pipe */
};

/* Reads what a process polls, or selects, from its memory. */
static void run_poll_reading(struct bounded_call *call)
{
    struct poll_reading *reading = (struct poll_reading *)call;
    struct iovec here = {&reading->selected, reading->size};
    struct iovec there = {(void *)reading->address, reading->size};
    if (process_vm_readv(reading->pid, &here, 1, &there, 1, 0) != (ssize_t)reading->size)
        reading->size = 0;
}

static void destroy_poll_reading(struct bounded_call *call)
{
    free(call);
}

/* Gives the inode of a pipe; 0: the descriptor is something else. */
static uint64_t pipe_of(const char *path)
{
    char target[32], end;
    unsigned long long inode;
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return 0;
    target[length] = '\0';
    return sscanf(target, "pipe:[%llu%c", &inode, &end) == 2 ? inode : 0;
}

static uint64_t pipe_of_descriptor(const char *procfs_root, pid_t pid, uint64_t fd)
{
    char name[32], path[PROCFS_PATH_SIZE];
    snprintf(name, sizeof name, "fd/%llu", (unsigned long long)fd);
    return procfs_path(procfs_root, pid, name, path) ? pipe_of(path) : 0;
}

/* Returns the only descriptor in a set of `count` descriptors; -1: there are none or several. */
static int only_selected(const fd_set *selected, size_t count)
{
    int only = -1;
    for (size_t i = 0; i < count && i < FD_SETSIZE; i++) {
        if (!FD_ISSET((int)i, selected))
            continue;
        if (only >= 0)
            return -1;
        only = (int)i;
    }
    return only;
}

/* Returns the pipe for whose bytes a process polls or selects, if that is all that it waits for. 0:
 * it waits for something else, or for one of several. `count` is that of struct pollfd, or of the
 * descriptors in the set. */
static uint64_t polled_pipe(const struct process *process, const struct process_view *view,
    bool is_select, uintptr_t address, size_t count)
{
    /* In a recorded procfs its pid may be another process's. */
    if (!view->has_cpu_clocks || count == 0 || (is_select ? count > FD_SETSIZE : count > 1))
        return 0;
    struct poll_reading *reading = calloc(1, sizeof *reading);
    if (!reading)
        return 0;
    *reading = (struct poll_reading){.call = {run_poll_reading, destroy_poll_reading},
        .pid = process->pid,
        .address = address,
        .size = is_select ? (count + 7) / 8 : sizeof reading->polled};
    if (!bounded_calls_make(view->calls, process->pid, &reading->call))
        return 0;
    int fd = -1;
    if (reading->size > 0 && is_select)
        fd = only_selected(&reading->selected, count);
    else if (reading->size > 0 && (reading->polled.events & POLLIN))
        fd = reading->polled.fd;
    free(reading);
    return fd >= 0 ? pipe_of_descriptor(view->procfs_root, process->pid, (uint64_t)fd) : 0;
}

/* Finds the pipe in which the first thread of a process sleeps, by its system call. */
static struct awaited awaited_pipe(const struct process *process, const struct process_view *view)
{
    CLEANUP_STR struct str call = {0};
    struct awaited pipe = {0};
    long number;
    unsigned long arguments[5];
    if (procfs_read_bounded(view->calls, view->procfs_root, process->pid, "syscall", &call, NULL) !=
            GPUT_OK ||
        sscanf(str_text(&call), "%ld %lx %lx %lx %lx %lx", &number, &arguments[0], &arguments[1],
            &arguments[2], &arguments[3], &arguments[4]) != 6)
        return pipe;
    pipe.is_write = number == SYS_write || number == SYS_writev;
    if (pipe.is_write || number == SYS_read || number == SYS_readv) {
        pipe.inode = pipe_of_descriptor(view->procfs_root, process->pid, arguments[0]);
        return pipe;
    }
    bool is_poll = number == SYS_ppoll, is_select = number == SYS_pselect6;
    pipe.has_timeout = arguments[is_poll ? 2 : 4] != 0;
#ifdef SYS_poll
    if (number == SYS_poll) {
        is_poll = true;
        pipe.has_timeout = (int)arguments[2] >= 0;
    }
    is_select |= number == SYS_select;
#endif
    /* A set of descriptors to write to, or of exceptions, is something else to wait for. */
    if (is_select && arguments[2] == 0 && arguments[3] == 0)
        pipe.inode = polled_pipe(process, view, true, arguments[1], arguments[0]);
    else if (is_poll)
        pipe.inode = polled_pipe(process, view, false, arguments[0], arguments[1]);
    return pipe;
}

/* ---- who holds its other end ---- */

/* What is known of a process and one end of a pipe. */
enum holding { HOLDS_NOT, HOLDS, HOLDS_UNKNOWN };

/* Tells whether a process can write to a pipe, or read from it. */
static enum holding holds(const char *procfs_root, pid_t pid, uint64_t inode, bool for_writing)
{
    char path[PROCFS_PATH_SIZE], wanted[32], target[32];
    CLEANUP_DIR DIR *folder = procfs_path(procfs_root, pid, "fd", path) ? opendir(path) : NULL;
    if (!folder)
        return HOLDS_UNKNOWN;
    size_t length =
        (size_t)snprintf(wanted, sizeof wanted, "pipe:[%llu]", (unsigned long long)inode);
    struct dirent *entry;
    for (int i = 0; (entry = readdir(folder)); i++) {
        struct stat link;
        if (i == MAX_DESCRIPTORS)
            return HOLDS_UNKNOWN;
        if (readlinkat(dirfd(folder), entry->d_name, target, sizeof target) != (ssize_t)length ||
            memcmp(target, wanted, length) != 0)
            continue;
        /* The permissions of the link say how the pipe was opened. */
        if (fstatat(dirfd(folder), entry->d_name, &link, AT_SYMLINK_NOFOLLOW) == 0 &&
            (link.st_mode & (for_writing ? S_IWUSR : S_IRUSR)))
            return HOLDS;
    }
    return HOLDS_NOT;
}

/* Adds up what changes when a process executes another program, which closes most descriptors. */
static uint64_t programs_of(const struct process_tree *tree)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < tree->count && i < MAX_SEARCHED; i++)
        sum += tree->processes[i]->polled->exec_generation;
    return sum;
}

/* Finds the processes of the tree that hold the other end of a pipe. */
static void search_holders(
    struct pipe_end *end, const struct process_tree *tree, const struct process *waiter)
{
    end->generation = tree->generation;
    end->programs = programs_of(tree);
    end->n_holders = 0;
    end->is_own = holds(tree->view.procfs_root, waiter->pid, end->inode, !end->is_write) == HOLDS;
    end->is_complete = tree->count <= MAX_SEARCHED;
    for (size_t i = 0; i < tree->count && i < MAX_SEARCHED; i++) {
        pid_t pid = tree->processes[i]->pid;
        if (pid == waiter->pid || process_is_zombie(tree->processes[i]))
            continue;
        enum holding holding = holds(tree->view.procfs_root, pid, end->inode, !end->is_write);
        end->is_complete &= holding != HOLDS_UNKNOWN;
        if (holding == HOLDS && end->n_holders < PIPE_MAX_HOLDERS)
            end->holders[end->n_holders++] = pid;
    }
}

/* Returns the end of a pipe for which a process waits, with its holders. They are searched for
 * again when processes started, ended or executed another program. */
static struct pipe_end *find_end(struct pipe_waits *waits, const struct process_tree *tree,
    const struct process *waiter, const struct awaited *pipe)
{
    struct pipe_end *end = NULL;
    for (size_t i = 0; !end && i < PIPE_MAX_KNOWN; i++) {
        struct pipe_end *known = &waits->known[i];
        if (known->inode == pipe->inode && known->is_write == pipe->is_write &&
            known->waiter == waiter->pid)
            end = known;
    }
    int64_t now_ns = clock_monotonic_ns();
    bool is_current =
        end && end->generation == tree->generation && end->programs == programs_of(tree);
    if (is_current || now_ns < waits->not_before_ns)
        return end;
    if (!end) {
        end = &waits->known[waits->next_known++ % PIPE_MAX_KNOWN];
        *end = (struct pipe_end){
            .inode = pipe->inode, .is_write = pipe->is_write, .waiter = waiter->pid};
    }
    search_holders(end, tree, waiter);
    int64_t end_ns = clock_monotonic_ns();
    waits->not_before_ns = end_ns + SEARCH_PART * (end_ns - now_ns);
    return end;
}

/* ---- moments ---- */

/* Returns what a process does: it computes if one of its threads does, else what its first
 * thread does. */
static enum wall_cause cause_of(const struct process *process)
{
    const struct process_threads *list = process->threads;
    if (!list || !list->has_causes || list->count == 0 || process_is_zombie(process))
        return WALL_UNKNOWN;
    for (size_t i = 0; i < list->count; i++) {
        if (list->threads[i].is_listed && list->threads[i].cause == WALL_COMPUTING)
            return WALL_COMPUTING;
    }
    return process_state_cause(list->threads[0].cause);
}

/* True where main waits for a process, directly or through others. */
static bool is_awaited(const struct process_tree *tree, const struct process *process)
{
    for (int depth = 0; process && depth < MAX_DEPTH; depth++) {
        if (process->is_main)
            return true;
        process = process_tree_get(tree, process_parent_pid(process));
        if (process && cause_of(process) != WALL_CHILD)
            return false;
    }
    return false;
}

/* Programs with these names; NULL: there are too many. */
static struct pipe_wait *find_wait(
    struct pipe_waits *waits, const struct process *waiter, const char *holder, bool is_write)
{
    const char *name = waiter->program.name;
    for (size_t i = 0; i < waits->count; i++) {
        struct pipe_wait *wait = &waits->waits[i];
        if (strcmp(wait->waiter, name) == 0 && strcmp(wait->holder, holder) == 0 &&
            wait->is_write == is_write && wait->is_main == waiter->is_main)
            return wait;
    }
    if (waits->count == PIPE_MAX_WAITS)
        return NULL;
    struct pipe_wait *wait = &waits->waits[waits->count++];
    *wait = (struct pipe_wait){.is_main = waiter->is_main, .is_write = is_write};
    snprintf(wait->waiter, sizeof wait->waiter, "%s", name);
    snprintf(wait->holder, sizeof wait->holder, "%s", holder);
    return wait;
}

/* Adds what the holders of a pipe do while a process waits for them. */
static void add_wait(struct pipe_waits *waits, const struct process_tree *tree,
    const struct process *waiter, const struct pipe_end *end, int64_t weight_ns)
{
    const struct process *holders[PIPE_MAX_HOLDERS];
    size_t n_holders = 0;
    for (size_t i = 0; i < end->n_holders; i++) {
        const struct process *holder = process_tree_get(tree, end->holders[i]);
        if (holder)
            holders[n_holders++] = holder;
    }
    struct pipe_wait *wait =
        n_holders > 0 ? find_wait(waits, waiter, holders[0]->program.name, end->is_write) : NULL;
    if (!wait)
        return;
    wait->ns += weight_ns;
    if (cause_of(waiter) == WALL_POLL)
        wait->polled_ns += weight_ns;
    if (n_holders > wait->n_holders)
        wait->n_holders = n_holders;
    for (size_t i = 0; i < n_holders; i++) {
        wait->meanwhile.ns[cause_of(holders[i])] += weight_ns / (int64_t)n_holders;
        wait->meanwhile.count++;
    }
}

/* True where a process has a child that runs. */
static bool has_living_child(const struct process_tree *tree, const struct process *process)
{
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *child = tree->processes[i];
        if (process_parent_pid(child) == process->pid && !process_is_zombie(child))
            return true;
    }
    return false;
}

/*
 * True where a process waits for a child by a pipe, as make does: it waits for nothing but a pipe
 * of which it alone holds both ends. With one thread and no time limit, only its own handler of a
 * signal can write to that, and it has a child whose end is such a signal.
 */
static bool waits_for_child(const struct process_tree *tree, const struct process *process,
    const struct awaited *pipe, const struct pipe_end *end)
{
    return end->is_own && end->is_complete && end->n_holders == 0 && !pipe->has_timeout &&
           process_thread_count(process) == 1 && has_living_child(tree, process);
}

/* Counts the moment of a thread that polls as waiting for a child. */
static void count_as_child(struct thread *thread, int64_t weight_ns)
{
    int64_t *polled_ns = &thread->samples.ns[WALL_POLL];
    int64_t moved_ns = weight_ns < *polled_ns ? weight_ns : *polled_ns;
    *polled_ns -= moved_ns;
    thread->samples.ns[WALL_CHILD] += moved_ns;
    thread->cause = WALL_CHILD;
}

void pipe_waits_sample(struct pipe_waits *waits, struct process_tree *tree, int64_t weight_ns)
{
    size_t n_waiters = 0;
    bool is_each = waits->moments < MOMENTS_OF_EACH;
    bool is_skipped = waits->moments++ % MOMENTS_OF_ONE != 0 && !is_each;
    for (size_t i = 0; i < tree->count && n_waiters < MAX_WAITERS; i++) {
        const struct process *process = tree->processes[i];
        enum wall_cause cause = cause_of(process);
        if ((cause != WALL_POLL && (cause != WALL_PIPE || is_skipped)) ||
            !is_awaited(tree, process))
            continue;
        int64_t factor = cause == WALL_PIPE && !is_each ? MOMENTS_OF_ONE : 1;
        n_waiters++;
        struct awaited pipe = awaited_pipe(process, &tree->view);
        const struct pipe_end *end = pipe.inode > 0 ? find_end(waits, tree, process, &pipe) : NULL;
        if (end && cause == WALL_POLL && waits_for_child(tree, process, &pipe, end))
            count_as_child(&process->threads->threads[0], weight_ns);
        else if (end)
            add_wait(waits, tree, process, end, weight_ns * factor);
    }
}
