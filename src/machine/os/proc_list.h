/*
 * All processes with their parents, by reading every /proc/PID/stat: for kernels without children
 * files, at 4 to 7 us for every process of the machine.
 */
#pragma once

#include "base/error.h"

#include "machine/os/pid_vector.h"

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
