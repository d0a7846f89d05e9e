/*
 * /proc/PID/smaps: every mapping of a process and how much of it is in RAM. It is the most
 * expensive file of procfs: 2 to 5 us a mapping and 8 ns a 4 KiB page, under the process's mmap
 * lock. So it is read as a stream, without an array of mappings or the complete text.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Fields that the kernel does not have are 0. */
struct memory_mapping {
    uint64_t start, end; /* addresses */
    uint64_t offset;     /* of `start` in the file, bytes */
    uint64_t device;     /* major << 32 | minor */
    uint64_t inode;
    bool is_file_or_shared;   /* backed by an object that others can map too: a file, memfd, shared
                                 anonymous or System V memory; (device, inode) names that object */
    bool is_shared;           /* mapped MAP_SHARED: writes are seen by others */
    uint64_t rss_bytes;       /* without hugetlb pages */
    uint64_t pss_bytes;       /* each page divided by the number of its mappers */
    uint64_t private_bytes;   /* clean and dirty */
    uint64_t shared_bytes;    /* clean and dirty */
    uint64_t anonymous_bytes; /* of rss: not (or, after copy-on-write, no longer) file pages */
    uint64_t private_hugetlb_bytes;
    uint64_t shared_hugetlb_bytes;
};

/* An iterator over text in memory. The text is not changed and needs no NUL. */
struct proc_smaps_cursor {
    const char *position;
    const char *end;
};

struct proc_smaps_cursor proc_smaps_start(const char *text, size_t length);

/*
 * The next mapping; false at the end. Unknown keys and invalid lines are skipped, and so is a last
 * line without newline (truncated).
 */
bool proc_smaps_next(struct proc_smaps_cursor *cursor, struct memory_mapping *mapping);

/* Called with every mapping in turn, which is valid during the call only. */
typedef void proc_smaps_visit(void *user, const struct memory_mapping *mapping);

/*
 * Reads the file and calls `visit` for each mapping. On failure some may have been visited already.
 * A process without memory (zombie, kernel thread) has no mappings: GPUT_OK without a visit, or
 * GPUT_ERROR_GONE, depending on the kernel's version. Errors: see machine/os/procfs.h. PERMISSION
 * is common: it needs permission to ptrace the process.
 */
int proc_smaps_read(
    const char *root, pid_t pid, proc_smaps_visit *visit, void *user, struct gput_error *error);

/*
 * /proc/PID/smaps_rollup (Linux 4.14): the sums over all mappings of smaps. Costs about a fifth of
 * smaps for many mappings, the same 8 ns a 4 KiB page, and also holds the process's mmap lock.
 */

struct proc_smaps_rollup {
    bool has_pss_parts; /* Linux 5.4: the next two are known */
    uint64_t pss_anonymous_bytes;
    uint64_t pss_file_bytes; /* of files and shared memory */
    uint64_t private_bytes;  /* clean and dirty */
    uint64_t shared_bytes;   /* clean and dirty */
    uint64_t anonymous_bytes;
    uint64_t private_hugetlb_bytes;
    uint64_t shared_hugetlb_bytes;
};

/* Returns GPUT_OK, or GPUT_ERROR_FORMAT when Rss or Pss is missing. */
int proc_smaps_rollup_parse(const char *text, struct proc_smaps_rollup *rollup);

/*
 * Errors: see machine/os/procfs.h; GPUT_ERROR_GONE also for zombies and kernel threads, which have
 * no memory; GPUT_ERROR_UNSUPPORTED before Linux 4.14; GPUT_ERROR_FORMAT.
 */
int proc_smaps_rollup_read(
    const char *root, pid_t pid, struct proc_smaps_rollup *rollup, struct gput_error *error);
