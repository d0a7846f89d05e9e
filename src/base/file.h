/*
 * Whole files in, whole files out.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/error.h"
#include "base/str.h"

#include <stdint.h>

/*
 * Appends the content of the file at `path` to `content`, which is terminated by a NUL. Works for
 * files whose size is not known before (procfs, pipes). On failure `content` may hold a part.
 */
int file_read(const char *path, struct str *content, struct gput_error *error);

/*
 * The same of a file that is no longer than `most_bytes`; a device or pipe without end is refused
 * when that much was read.
 * Errors: also GPUT_ERROR_INVALID, which says how long it may be.
 */
int file_read_bounded(
    const char *path, size_t most_bytes, struct str *content, struct gput_error *error);

/* The same from an open descriptor, from its current position. `name` is used in messages. */
int file_read_fd(int fd, const char *name, struct str *content, struct gput_error *error);

/*
 * Reads at most `capacity - 1` bytes from the start of an open file by pread and terminates them.
 * Returns the number of bytes, or -1 with errno set. For the small procfs files that are kept open.
 */
long file_reread(int fd, char *buffer, unsigned long capacity);

/*
 * Reads `length` bytes of an open file from `offset` on, however many calls it takes. `*got` is
 * less only where the file ends. `name` is used in messages.
 */
int file_read_at(int fd, const char *name, void *bytes, size_t length, uint64_t offset, size_t *got,
    struct gput_error *error);

/* Writes all of `bytes` to `fd`, however many calls it takes. */
int file_write_fd(
    int fd, const char *name, const void *bytes, size_t length, struct gput_error *error);

/* Whether file_writing_begin() could write there, as far as can be known without trying. */
int file_check(const char *path, struct gput_error *error);

/* Opens a file for reading and writing that has no name and is gone once closed. */
int file_open_temporary(const char *folder, int *fd, struct gput_error *error);

/*
 * A file written piece by piece, next to its target (of a link, what it leads to: the link stays);
 * file_writing_end() gives it its name when it is whole, so that the path holds either its old
 * content or all of the new. Until then it has no name, or is a temporary file where the file
 * system knows no nameless files. What has to be written straight is.
 */
struct file_writing {
    char *path;           /* for messages */
    char *target;         /* NULL: written straight */
    char *temporary_path; /* the temporary name; NULL: written straight */
    bool nameless;        /* it is not taken yet */
    int fd;
    int stop_fd; /* ends waiting for a reader; -1: it waits for ever */
};

int file_writing_begin(const char *path, struct file_writing *writing, struct gput_error *error);
int file_writing_add(
    struct file_writing *writing, const void *bytes, size_t length, struct gput_error *error);
/* Closed in any case. */
int file_writing_end(struct file_writing *writing, struct gput_error *error);
/* Closes it and leaves nothing after. */
void file_writing_discard(struct file_writing *writing);

/* All of that at once. */
int file_write_atomic(const char *path, const void *bytes, size_t length, struct gput_error *error);

/* The same; of a pipe that nobody opens or reads on, waiting ends when `stop_fd` can be read, which
 * is GPUT_ERROR_IO. -1: never. */
int file_write_until(
    const char *path, const void *bytes, size_t length, int stop_fd, struct gput_error *error);

#endif
