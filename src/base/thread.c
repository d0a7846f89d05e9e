#include "base/thread.h"

#include <signal.h>
#include <time.h>

int thread_start(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *user), void *user)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(thread, attributes, run, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

int thread_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int failure = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return failure;
}
