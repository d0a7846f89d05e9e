/*
 * /proc/PID/statm: RAM of a process in pages, in about a microsecond and without stalling it.
 * Readable for any process without privileges; zombies and kernel threads have 0.
 */
#pragma once

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

struct proc_statm {
    uint64_t virtual_pages;  /* the size of the address space */
    uint64_t resident_pages; /* RSS; without hugetlb pages */
    uint64_t shared_pages;   /* resident pages of files and shared memory, whether shared or not */
};

/* Returns GPUT_OK or GPUT_ERROR_FORMAT. */
int proc_statm_parse(const char *text, struct proc_statm *statm);

/* Errors: see machine/os/procfs.h; GPUT_ERROR_FORMAT. */
int proc_statm_read(
    const char *root, pid_t pid, struct proc_statm *statm, struct gput_error *error);
