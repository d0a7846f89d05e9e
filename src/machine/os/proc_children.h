/*
 * /proc/PID/task/TID/children: the children that each thread of a process started (Linux 3.5, with
 * CONFIG_PROC_CHILDREN). Re-parented children are listed for the process that adopted them.
 *
 * The kernel gives up to a page (about 600 pids) at a time; when one of more children ends between
 * two pages, others may be missing from that reading; the next has them again.
 */
#pragma once

#include "base/error.h"

#include "machine/os/pid_vector.h"

#include <stdint.h>
#include <sys/types.h>

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
