/*
 * What the living threads of a process have counted so far, each for itself: page faults, context
 * switches, bytes. What threads that ended had counted is not in it, nor what children had.
 */
#ifndef OS_TASK_COUNTS_H
#define OS_TASK_COUNTS_H

#include "base/error.h"
#include "os/proc_io.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct task_counts {
    uint64_t minor_faults, major_faults;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t read_call_bytes, write_call_bytes; /* through read() and write() and the like */
    uint64_t read_bytes;                        /* from storage */
    uint64_t write_bytes; /* in pages that were filled to be written to storage */
    /* In such pages that were dropped before they were written, as their file was removed or cut:
     * also those that another process had filled. */
    uint64_t cancelled_write_bytes;
    bool lacks_io; /* of some thread it could not be read: it takes the right to ptrace */
};

/* What reached storage: less than that only where pages of others were dropped. */
static inline uint64_t task_counts_stored_bytes(const struct task_counts *counts)
{
    return counts->write_bytes > counts->cancelled_write_bytes
               ? counts->write_bytes - counts->cancelled_write_bytes
               : 0;
}

/* Minor and major ones. */
static inline uint64_t task_counts_faults(const struct task_counts *counts)
{
    return counts->minor_faults + counts->major_faults;
}

void task_counts_add(struct task_counts *counts, const struct task_counts *more);
/* Bytes alone. */
void task_counts_add_io(struct task_counts *counts, const struct proc_io *io);
/* Never below 0: some of what the kernel tells at the end of a thread is rounded down. */
void task_counts_subtract(struct task_counts *counts, const struct task_counts *less);

/* Each count at least that of `least`; `lacks_io` stays. */
void task_counts_raise(struct task_counts *counts, const struct task_counts *least);

/* Adds what /proc/PID/task/T/{stat,status,io} give. Threads that have ended are left out, also a
 * first one that others outlive.
 * Errors: those of listing the threads, see os/procfs.h. */
int task_counts_read(
    const char *root, pid_t pid, struct task_counts *counts, struct gput_error *error);

#endif
