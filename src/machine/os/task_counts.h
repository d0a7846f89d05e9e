/*
 * Sums of what each living thread of a process has counted so far: page faults, context switches,
 * bytes. Without threads that ended, and without children.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * /proc/PID/io: bytes that a process read and wrote, including ended threads and collected
 * children. Needs permission to ptrace the process.
 */

struct proc_io {
    uint64_t read_call_bytes;       /* rchar: through read() and similar calls, cached or not */
    uint64_t write_call_bytes;      /* wchar */
    uint64_t read_bytes;            /* actually read from storage */
    uint64_t write_bytes;           /* in pages dirtied to be written to storage */
    uint64_t cancelled_write_bytes; /* in dirty pages dropped before that, also ones dirtied by
                                       other processes */
};

/* Returns GPUT_OK, or GPUT_ERROR_FORMAT when rchar or wchar is missing. Kernels without
 * CONFIG_TASK_IO_ACCOUNTING leave the last three 0. */
int proc_io_parse(const char *text, struct proc_io *io);

/* Errors: see machine/os/procfs.h; GPUT_ERROR_FORMAT. */
int proc_io_read(const char *root, pid_t pid, struct proc_io *io, struct gput_error *error);

struct task_counts {
    uint64_t minor_faults, major_faults;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t read_call_bytes, write_call_bytes; /* through read() and write() and the like */
    uint64_t read_bytes;                        /* from storage */
    uint64_t write_bytes;                       /* in pages dirtied to be written to storage */
    /* In such pages dropped before they were written, as their file was removed or truncated: also
     * those that another process had dirtied. */
    uint64_t cancelled_write_bytes;
    bool lacks_io; /* bytes of some thread could not be read: that needs permission to ptrace */
};

/* A lower bound of bytes that reached storage: too low only where pages of other processes were
 * dropped. */
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
/* Never below 0: some figures of exit records are rounded down. */
void task_counts_subtract(struct task_counts *counts, const struct task_counts *less);

/* Each count at least that of `min`; `lacks_io` stays. */
void task_counts_raise(struct task_counts *counts, const struct task_counts *min);

/* Adds what /proc/PID/task/T/{stat,status,io} give. Threads that have ended are skipped, also a
 * leader that has exited before others. Errors: those of listing the threads, see
 * machine/os/procfs.h. */
int task_counts_read(
    const char *root, pid_t pid, struct task_counts *counts, struct gput_error *error);
