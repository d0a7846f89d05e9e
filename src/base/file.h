/*
 * Reading and writing whole files.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* The one extension of ours with a dot in it, which names made of a file's name keep whole. */
#define PLAIN_CSV_EXTENSION ".plain.csv"

/*
 * Appends the content of the file at `path` to `content`, which is terminated by a NUL. Also for
 * files of unknown size (procfs, pipes). On failure `content` may have a part of it.
 */
int file_read(const char *path, struct str *content, struct gput_error *error);

/*
 * Opens a file that was found by its name in a folder, for reading: anybody may have put a pipe
 * there, and opening that would wait for a writer. The caller closes `*fd`; -1 after an error.
 * Errors: GPUT_ERROR_FORMAT (it is not a regular file), those of the system.
 */
int file_open_regular(const char *path, int *fd, struct gput_error *error);

/* Reads such a file, of at most `max_bytes`. Errors: also GPUT_ERROR_INVALID. */
int file_read_regular(
    const char *path, size_t max_bytes, struct str *content, struct gput_error *error);

/* Reads the first bytes of a regular file, at most `size`; returns how many. 0: it is empty, or
 * cannot be read. */
size_t file_read_beginning(const char *path, char *bytes, size_t size);

/*
 * The same for a file of at most `max_bytes`; an endless device or pipe is refused after that many.
 * Errors: also GPUT_ERROR_INVALID, which names the limit.
 */
int file_read_bounded(
    const char *path, size_t max_bytes, struct str *content, struct gput_error *error);

/*
 * Reads at most `capacity - 1` bytes from the start of an open file by pread() and terminates them.
 * Returns the number of bytes, or -1 with errno set. For the small procfs files that are kept open.
 */
long file_reread(int fd, char *buffer, unsigned long capacity);

/*
 * Reads `length` bytes of an open file from `offset` on. `*got` is less only at the end of the
 * file. `name` is used in messages.
 */
int file_read_at(int fd, const char *name, void *bytes, size_t length, uint64_t offset, size_t *got,
    struct gput_error *error);

/* Writes all of `bytes` to `fd`. */
int file_write_fd(
    int fd, const char *name, const void *bytes, size_t length, struct gput_error *error);

/* Gives a file another content within the space that it has on its disk, which may be full. It is
 * not atomic. False: there is no such file, or too little space. */
bool file_write_in_place(const char *path, const void *bytes, size_t length);

/* Whether file_writing_begin() could write there, as far as can be known beforehand. */
int file_check(const char *path, struct gput_error *error);

/* The last part of a path, with any slashes at its end. Points into `path`. */
const char *file_base_name(const char *path);

/* For scandir(): which entries of a folder are not hidden, and their order by the bytes of their
 * names. That of alphasort() is another in each locale. */
int file_is_visible(const struct dirent *entry);
int file_by_name(const struct dirent **left, const struct dirent **right);

/* A folder for temporary files next to an output: that of the file that `path` resolves to, or
 * /var/tmp where it is written directly. The caller frees `*folder`. Errors: those of
 * file_target(), GPUT_ERROR_MEMORY. */
int file_temporary_folder(const char *path, char **folder, struct gput_error *error);

/* Closes it unless it is -1, which it is then. */
void file_close_fd(int *fd);

/* Opens an unnamed file for reading and writing that is deleted when closed. */
int file_open_temporary(const char *folder, int *fd, struct gput_error *error);

/*
 * A file written in parts, in the folder of its target (of a link, the link's target: the link
 * stays). file_writing_end() gives the complete file its name, so that the path has either the old
 * content or all of the new. Until then the file is unnamed (O_TMPFILE), or has a temporary path
 * where the file system does not support that. Pipes and the like are written directly: see
 * file_is_written_directly().
 */
struct file_writing {
    char *path;           /* for messages */
    char *target;         /* NULL: written directly */
    char *temporary_path; /* NULL: written directly */
    bool unnamed;         /* not linked to the temporary path yet */
    int fd;
    int stop_fd; /* readable: stop waiting for a reader; -1: wait for ever */
};

int file_writing_begin(const char *path, struct file_writing *writing, struct gput_error *error);
/* The same; waiting for the reader of a pipe, here and in file_writing_add(), ends with
 * GPUT_ERROR_IO when `stop_fd` is readable. -1: never. */
int file_writing_begin_until(
    const char *path, int stop_fd, struct file_writing *writing, struct gput_error *error);
int file_writing_add(
    struct file_writing *writing, const void *bytes, size_t length, struct gput_error *error);
/* Closes the file, also on failure. */
int file_writing_end(struct file_writing *writing, struct gput_error *error);
/* Closes and removes it. */
void file_writing_discard(struct file_writing *writing);

/* A disk failed for a reason that may pass, as a network file system while its server starts again.
 */
bool file_failure_may_pass(int errno_value);
/* Number of attempts, 100 ms apart. */
#define FILE_TRIES 4
void file_pause_before_retry(void);

/* Begins, writes and ends a file; again where it failed for a reason that may pass. */
int file_write_atomic(const char *path, const void *bytes, size_t length, struct gput_error *error);

/* The same, with a `stop_fd` as of file_writing_begin_until(). */
int file_write_until(
    const char *path, const void *bytes, size_t length, int stop_fd, struct gput_error *error);

/*
 * Makes writing past RLIMIT_FSIZE an error instead of the end of the program: SIGXFSZ is blocked in
 * the writing thread, and discarded if it was raised.
 */

struct file_limit {
    sigset_t before; /* the thread's signal mask */
    bool held;       /* there is a limit */
    uint64_t bytes;  /* which then is this */
    bool was_pending;
};

/* Unblock it in the same thread. Without a limit this is one system call. */
void file_limit_block_signal(struct file_limit *limit);

/* Keeps errno. */
void file_limit_unblock_signal(const struct file_limit *limit);

/*
 * A file that is open from reading to reading, inside of a program that is not ours. It may close
 * descriptors that it does not know, and get their numbers for files of its own: device and inode
 * say whether it is still ours.
 */

struct kept_file {
    int fd; /* -1: not open */
    uint64_t device, inode;
};

bool kept_file_open(struct kept_file *file, const char *path, int flags);

/* Whether the descriptor is still that of this file. */
bool kept_file_is_open(const struct kept_file *file);

/* The descriptor, opened again where the program has closed it; -1: it cannot be. */
int kept_file_fd(struct kept_file *file, const char *path, int flags);

void kept_file_close(struct kept_file *file);
