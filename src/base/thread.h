/*
 * Threads of the library. They block all signals, which are left to the program's own threads.
 */
#pragma once

#include <pthread.h>

/* As pthread_create(); `attributes` may be NULL. Returns 0 or an errno. */
int thread_start(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *user), void *user);

/* A condition variable whose deadlines are on the monotonic clock. Returns 0 or an errno. */
int thread_condition_init(pthread_cond_t *condition);
