/*
 * All processes with their parents, by reading every /proc/PID/stat: for kernels without children
 * files, at 4 to 7 us for every process of the machine.
 */
#pragma once

#include "base/error.h"
#include "machine/os/procfs.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_list_entry {
    pid_t pid;
    pid_t ppid;
};

struct proc_list {
    struct proc_list_entry *entries; /* in ascending order of pid; owned */
    size_t count;
    size_t capacity;
    struct pid_vector scratch; /* reused between readings; owned */
};

/* An empty list is all zeroes. */

/*
 * Replaces the list's contents. Processes that end meanwhile or are not visible are missing from
 * it; that is not an error. Errors: GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION or GPUT_ERROR_IO
 * when `root` cannot be listed; GPUT_ERROR_MEMORY.
 */
int proc_list_read(const char *root, struct proc_list *list, struct gput_error *error);

/* Appends the pids whose parent is `ppid`. Errors: GPUT_ERROR_MEMORY. */
int proc_list_children(const struct proc_list *list, pid_t ppid, struct pid_vector *children);

/* Frees what the list holds and makes it empty again. */
void proc_list_finish(struct proc_list *list);

/*
 * /proc/PID/task/TID/children: the children that each thread of a process started (Linux 3.5, with
 * CONFIG_PROC_CHILDREN). Re-parented children are listed for the process that adopted them.
 *
 * The kernel gives up to a page (about 600 pids) at a time; when one of more children ends between
 * two pages, others may be missing from that reading; the next has them again.
 */

/* Appends the pids of a terminated text; 0 is skipped. Errors: GPUT_ERROR_FORMAT,
 * GPUT_ERROR_MEMORY; those before the fault are appended. */
int proc_children_parse(const char *text, struct pid_vector *children);

/*
 * Appends the children of every thread of a process. `thread_count` is what the caller knows from
 * stat: with 1 only the leader's file is read, which is much faster; 0 means not known. Threads
 * that end meanwhile are skipped: their children have then moved to another thread. Errors: see
 * machine/os/procfs.h; GPUT_ERROR_UNSUPPORTED when the kernel has no children files: use
 * proc_list_read() then.
 */
int proc_children_read(const char *root, pid_t pid, uint32_t thread_count,
    struct pid_vector *children, struct gput_error *error);

/*
 * Appends the children from a cached descriptor of one thread's file (procfs_open() of
 * "task/TID/children"). Gives a code only. Errors: GPUT_ERROR_GONE, GPUT_ERROR_FORMAT,
 * GPUT_ERROR_MEMORY, GPUT_ERROR_IO.
 */
int proc_children_reread(int fd, struct pid_vector *children);
