#include "machine/process/pipe_waits.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "machine/os/procfs.h"
#include "machine/process/wait_cause.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Of what is looked at in one moment. */
#define MAX_WAITERS 4
#define MAX_SEARCHED 64
#define MAX_DESCRIPTORS 256
#define MAX_POLLED 16
/* Parents between a process and main. */
#define MAX_DEPTH 8
/* After so many moments, one of several stands for the others, too: a look costs 0.15 ms. */
#define MOMENTS_OF_EACH 16
#define MOMENTS_OF_ONE 4
/* A search may take this part of the time. */
#define SEARCH_PART 100

/* ---- which pipe a thread waits in ---- */

struct poll_reading {
    struct bounded_call call;
    pid_t pid;
    uintptr_t address;
    size_t size;
    union {
        struct pollfd polled[MAX_POLLED];
        fd_set selected;
    };
};

/* Reads what a process polls, or selects, from its memory. */
static void run_poll_reading(struct bounded_call *call)
{
    struct poll_reading *reading = (struct poll_reading *)call;
    struct iovec here = {reading->polled, reading->size};
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

/* Gives the first pipe that a process polls, or selects, for bytes to read, of so many descriptors;
 * 0: there is none. */
static uint64_t polled_pipe(const struct process *process, const struct process_view *view,
    bool is_select, uintptr_t address, size_t count)
{
    size_t most = is_select ? FD_SETSIZE : MAX_POLLED;
    count = count < most ? count : most;
    /* Elsewhere its pid may be another process's. */
    struct poll_reading *reading = view->has_cpu_clocks ? calloc(1, sizeof *reading) : NULL;
    uint64_t inode = 0;
    if (!reading)
        return 0;
    *reading = (struct poll_reading){.call = {run_poll_reading, destroy_poll_reading},
        .pid = process->pid,
        .address = address,
        .size = is_select ? (count + 7) / 8 : count * sizeof reading->polled[0]};
    if (!bounded_calls_make(view->calls, process->pid, &reading->call))
        return 0;
    for (size_t i = 0; inode == 0 && reading->size > 0 && i < count; i++) {
        int fd = (int)i;
        bool is_read =
            is_select ? FD_ISSET(fd, &reading->selected) : reading->polled[i].events & POLLIN;
        if (!is_select)
            fd = reading->polled[i].fd;
        if (is_read && fd >= 0)
            inode = pipe_of_descriptor(view->procfs_root, process->pid, (uint64_t)fd);
    }
    free(reading);
    return inode;
}

/* Finds the pipe in which the first thread of a process sleeps, by its system call. 0: none. */
static uint64_t awaited_pipe(
    const struct process *process, const struct process_view *view, bool *is_write)
{
    CLEANUP_STR struct str call = {0};
    long number;
    unsigned long first, second;
    if (procfs_read_bounded(view->calls, view->procfs_root, process->pid, "syscall", &call, NULL) !=
            GPUT_OK ||
        sscanf(str_text(&call), "%ld %lx %lx", &number, &first, &second) != 3)
        return 0;
    *is_write = number == SYS_write || number == SYS_writev;
    if (*is_write || number == SYS_read || number == SYS_readv)
        return pipe_of_descriptor(view->procfs_root, process->pid, first);
    bool is_poll = number == SYS_ppoll, is_select = number == SYS_pselect6;
#ifdef SYS_poll
    is_poll |= number == SYS_poll;
    is_select |= number == SYS_select;
#endif
    if (is_select)
        return polled_pipe(process, view, true, second, first);
    return is_poll ? polled_pipe(process, view, false, first, second) : 0;
}

/* ---- who holds its other end ---- */

/* Whether a process can write to a pipe, or read from it. */
static bool holds(const char *procfs_root, pid_t pid, uint64_t inode, bool for_writing)
{
    char path[PROCFS_PATH_SIZE], name[32], wanted[32], target[32];
    struct pid_vector numbers = {0};
    bool found = false;
    int folder = procfs_path(procfs_root, pid, "fd", path)
                     ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                     : -1;
    if (folder < 0)
        return false;
    procfs_list_fd(folder, &numbers);
    size_t length =
        (size_t)snprintf(wanted, sizeof wanted, "pipe:[%llu]", (unsigned long long)inode);
    for (size_t i = 0; !found && i < numbers.count && i < MAX_DESCRIPTORS; i++) {
        struct stat link;
        snprintf(name, sizeof name, "%d", (int)numbers.pids[i]);
        if (readlinkat(folder, name, target, sizeof target) != (ssize_t)length ||
            memcmp(target, wanted, length) != 0)
            continue;
        /* The permissions of the link say how the pipe was opened. */
        found = fstatat(folder, name, &link, AT_SYMLINK_NOFOLLOW) == 0 &&
                (link.st_mode & (for_writing ? S_IWUSR : S_IRUSR));
    }
    pid_vector_finish(&numbers);
    close(folder);
    return found;
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
    end->is_own = holds(tree->view.procfs_root, waiter->pid, end->inode, !end->is_write);
    for (size_t i = 0; i < tree->count && i < MAX_SEARCHED; i++) {
        pid_t pid = tree->processes[i]->pid;
        if (pid != waiter->pid && end->n_holders < PIPE_MAX_HOLDERS &&
            holds(tree->view.procfs_root, pid, end->inode, !end->is_write))
            end->holders[end->n_holders++] = pid;
    }
}

/* Returns the end of a pipe for which a process waits, with its holders. They are searched for
 * again when processes started, ended or executed another program. */
static struct pipe_end *find_end(struct pipe_waits *waits, const struct process_tree *tree,
    const struct process *waiter, uint64_t inode, bool is_write)
{
    struct pipe_end *end = NULL;
    for (size_t i = 0; !end && i < PIPE_MAX_KNOWN; i++) {
        if (waits->known[i].inode == inode && waits->known[i].is_write == is_write)
            end = &waits->known[i];
    }
    int64_t now_ns = clock_monotonic_ns();
    bool is_current =
        end && end->generation == tree->generation && end->programs == programs_of(tree);
    if (is_current || now_ns < waits->not_before_ns)
        return end;
    if (!end) {
        end = &waits->known[waits->next_known++ % PIPE_MAX_KNOWN];
        *end = (struct pipe_end){.inode = inode, .is_write = is_write};
    }
    search_holders(end, tree, waiter);
    int64_t end_ns = clock_monotonic_ns();
    waits->not_before_ns = end_ns + SEARCH_PART * (end_ns - now_ns);
    return end;
}

/* ---- moments ---- */

/* What a process does: it runs where one of its threads does. */
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

/* Whether main waits for a process, or for one that does. */
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

/*
 * A pipe of which a process holds both ends, and no other process of the tree does, can only be
 * written by a signal of a child that ended: make waits so for its jobs.
 */
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
        bool is_write;
        if ((cause != WALL_POLL && (cause != WALL_PIPE || is_skipped)) ||
            !is_awaited(tree, process))
            continue;
        int64_t factor = cause == WALL_PIPE && !is_each ? MOMENTS_OF_ONE : 1;
        n_waiters++;
        uint64_t inode = awaited_pipe(process, &tree->view, &is_write);
        const struct pipe_end *end =
            inode > 0 ? find_end(waits, tree, process, inode, is_write) : NULL;
        if (end && end->is_own && end->n_holders == 0 && cause == WALL_POLL)
            count_as_child(&process->threads->threads[0], weight_ns);
        else if (end)
            add_wait(waits, tree, process, end, weight_ns * factor);
    }
}
