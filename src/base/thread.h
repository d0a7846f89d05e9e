/*
 * Threads of the library. They block all signals, which are left to the program's own threads.
 * Their stacks have a size of their own: that of the limit (ulimit -s) may be more than there is
 * memory, or less than they need.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>

/* Enough for each thread that calls no code of others. */
#define THREAD_STACK_BYTES ((size_t)512 << 10)

/* As pthread_create(). `thread` NULL: it is detached. Returns 0 or an errno. */
int thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *user), void *user);

/* A condition variable whose deadlines are on the monotonic clock. Returns 0 or an errno. */
int thread_condition_init(pthread_cond_t *condition);
