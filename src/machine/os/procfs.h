/*
 * Paths, descriptors and text of procfs files, at the cost of the system calls alone, and one
 * meaning for each error:
 *
 *   GPUT_ERROR_GONE         the process has ended (or hidepid hides it, or it is a zombie or kernel
 *                           thread asked for memory it does not have)
 *   GPUT_ERROR_PERMISSION   it is there, and the system refuses
 *   GPUT_ERROR_UNSUPPORTED  it is there, and this kernel has no such file
 *   GPUT_ERROR_IO           anything else; of what is read with a bound: it does not answer
 *
 * A cached descriptor remains bound to its process: after that process has ended it gives GONE
 * (children: nothing) even when the pid was reused. smaps and smaps_rollup are bound more closely,
 * to the memory that the process had when they were opened: after an execve() they give nothing
 * (GONE) and must be reopened. Cache stat, statm, status and children, not those two.
 */
#pragma once

#include "base/bounded_calls.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A growing list of process ids.
 */
struct pid_vector {
    pid_t *pids; /* owned; NULL while nothing was appended */
    size_t count;
    size_t capacity;
};

/* An empty vector is all zeroes: `struct pid_vector pids = {0};`. To reuse its memory, set `count`
 * to 0. */

/* Errors: GPUT_ERROR_MEMORY; the vector is then unchanged. */
int pid_vector_append(struct pid_vector *vector, pid_t pid);

/* Frees what the vector holds and makes it empty again. */
void pid_vector_finish(struct pid_vector *vector);

/* The order of two pid_t, for qsort() and bsearch(). */
int pid_compare(const void *left, const void *right);

/* Enough for any path that procfs_path() writes. */
#define PROCFS_PATH_SIZE 4096

/* Enough for a whole stat, statm, children of a few, loadavg, io or smaps_rollup. */
#define PROCFS_TEXT_SIZE 4096

/* Stands for "no process": procfs_path("/proc", PROCFS_SYSTEM, "stat", …) is "/proc/stat". */
#define PROCFS_SYSTEM ((pid_t)0)

/*
 * Writes "<root>/<pid>/<file>" to `path` (PROCFS_PATH_SIZE bytes). Returns its length, or 0 when it
 * does not fit. `file` may be "" for the directory of the process.
 */
size_t procfs_path(const char *root, pid_t pid, const char *file, char *path);

/* Whether its pids are certainly those of a namespace below the first one, as in a container.
 * "certainly": its reader is in sight there. */
bool procfs_is_inner(const char *root);

/*
 * Opens a file for reading. The caller closes *fd. Errors: as above; GPUT_ERROR_NOT_FOUND when
 * `root` does not exist, GPUT_ERROR_INVALID when the path is too long.
 */
int procfs_open(const char *root, pid_t pid, const char *file, int *fd, struct gput_error *error);

/*
 * Opens, reads at most `capacity - 1` bytes, terminates them by a NUL, closes. `length` may be
 * NULL. Longer text is truncated.
 */
int procfs_read(const char *root, pid_t pid, const char *file, char *buffer, size_t capacity,
    size_t *length, struct gput_error *error);

/* The same for a file of any length; replaces the contents of `text`. */
int procfs_read_all(
    const char *root, pid_t pid, const char *file, struct str *text, struct gput_error *error);

/*
 * Reads a cached descriptor from its start, by pread(). Text longer than `capacity - 1` is
 * truncated. `length` may be NULL. Gives a code only, no message: it is called for every process at
 * every tick.
 */
int procfs_reread(int fd, char *buffer, size_t capacity, size_t *length);

/* Appends the names of a directory that are numbers: pids below <root>, or threads below a task
 * directory. The descriptor is read from its current position. */
int procfs_list_fd(int directory_fd, struct pid_vector *numbers);

/* Appends the threads of a process. Errors: as procfs_open(), GPUT_ERROR_MEMORY. */
int procfs_list_threads(
    const char *root, pid_t pid, struct pid_vector *threads, struct gput_error *error);

/* The code for the errno of a procfs call: ENOENT and ESRCH are GONE. */
enum gput_code procfs_code_of_errno(int errno_value);

/* Sets the error for a failure to open or read that file, with the meanings above. Returns the
 * code. */
int procfs_set_failure(
    const char *root, pid_t pid, const char *file, int errno_value, struct gput_error *error);

/*
 * The same of a file that may make its reader wait for ever: of one that takes a lock of the
 * process (cmdline, environ, maps, smaps, smaps_rollup, numa_maps, mem: that of its memory map; io,
 * stat, syscall: in recent kernels, or during an execve(), another) while that waits for storage or
 * a driver. Only statm, status, children, schedstat and wchan never wait. GPUT_ERROR_IO: it does
 * not answer. `calls` NULL: without a bound.
 */
int procfs_read_bounded(struct bounded_calls *calls, const char *root, pid_t pid, const char *file,
    struct str *text, struct gput_error *error);

/* Sets the error for that. Returns the code. */
int procfs_set_unanswered(const char *root, pid_t pid, const char *file, struct gput_error *error);
