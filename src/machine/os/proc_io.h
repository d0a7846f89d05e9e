/*
 * /proc/PID/io: bytes that a process read and wrote, including ended threads and collected
 * children. Needs permission to ptrace the process.
 */
#pragma once

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

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
