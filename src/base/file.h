/*
 * Whole files in, whole files out.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/error.h"
#include "base/str.h"

/*
 * Appends the content of the file at `path` to `content`, which is terminated by a NUL. Works for
 * files whose size is not known before (procfs, pipes). On failure `content` may hold a part.
 */
int file_read(const char *path, struct str *content, struct gput_error *error);

/* The same from an open descriptor, from its current position. `name` is used in messages. */
int file_read_fd(int fd, const char *name, struct str *content, struct gput_error *error);

/*
 * Reads at most `capacity - 1` bytes from the start of an open file by pread and terminates them.
 * Returns the number of bytes, or -1 with errno set. For the small procfs files that are kept open.
 */
long file_reread(int fd, char *buffer, unsigned long capacity);

/* Writes all of `bytes` to `fd`, however many calls it takes. */
int file_write_fd(
    int fd, const char *name, const void *bytes, size_t length, struct gput_error *error);

/*
 * Whether what is at `path` has to be written straight: a pipe, a terminal, and /dev/stdout also
 * where it leads to a regular file, since the link there is the system's. To be opened with
 * O_APPEND. All else, as what is not there, can be written beside and renamed.
 */
bool file_is_straight(const char *path);

/*
 * Writes a file so that `path` holds either its old content or all of the new: to a file beside it,
 * then renamed. What is no regular file (a pipe, /dev/stdout) is written straight.
 */
int file_write_atomic(const char *path, const void *bytes, size_t length, struct gput_error *error);

#endif
