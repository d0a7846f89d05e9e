#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Starts it with all signals blocked. */
static int create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *user), void *user)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(thread, attributes, run, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

int thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *user), void *user)
{
    pthread_t detached;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return ENOMEM;
        /* The stack also holds the thread-local variables of all libraries: the minimum has them.
         */
#ifdef _SC_THREAD_STACK_MIN
    long min_bytes = sysconf(_SC_THREAD_STACK_MIN);
#else
    long min_bytes = 0;
#endif
    pthread_attr_setstacksize(&attributes, stack_bytes + (min_bytes > 0 ? (size_t)min_bytes : 0));
    if (!thread)
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int failure = create(thread ? thread : &detached, &attributes, run, user);
    pthread_attr_destroy(&attributes);
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
