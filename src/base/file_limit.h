/*
 * Writing past RLIMIT_FSIZE is an error here and not the end of the program: the signal that comes
 * with it, SIGXFSZ, is held back from the thread that writes, and taken away if it came.
 */
#ifndef BASE_FILE_LIMIT_H
#define BASE_FILE_LIMIT_H

#include <signal.h>
#include <stdbool.h>

struct file_limit {
    sigset_t before; /* the thread's signal mask */
    bool held;       /* there is a limit */
    bool was_pending;
};

/* To be released by the same thread. Where there is no limit this is one system call. */
void file_limit_hold(struct file_limit *limit);

/* Keeps errno. */
void file_limit_release(const struct file_limit *limit);

#endif
