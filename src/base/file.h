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
 * A file written piece by piece, beside its path; file_writing_end() renames it when it is whole,
 * so that the path holds either its old content or all of the new. What has to be written straight
 * is.
 */
struct file_writing {
    char *path;
    char *beside; /* NULL: written straight */
    int fd;
};

int file_writing_begin(const char *path, struct file_writing *writing, struct gput_error *error);
int file_writing_add(
    struct file_writing *writing, const void *bytes, size_t length, struct gput_error *error);
/* Closed in any case. */
int file_writing_end(struct file_writing *writing, struct gput_error *error);
/* Closes it and leaves nothing behind. */
void file_writing_discard(struct file_writing *writing);

/* All of that at once. */
int file_write_atomic(const char *path, const void *bytes, size_t length, struct gput_error *error);

#endif
