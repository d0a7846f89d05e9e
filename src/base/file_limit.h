/*
 * Makes writing past RLIMIT_FSIZE an error instead of the end of the program: SIGXFSZ is blocked in
 * the writing thread, and discarded if it was raised.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct file_limit {
    sigset_t before; /* the thread's signal mask */
    bool held;       /* there is a limit */
    uint64_t bytes;  /* which then is this */
    bool was_pending;
};

/* To be unblocked by the same thread. Without a limit this is one system call. */
void file_limit_block_signal(struct file_limit *limit);

/* Keeps errno. */
void file_limit_unblock_signal(const struct file_limit *limit);
