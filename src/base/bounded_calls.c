#include "base/bounded_calls.h"

#include "base/clock.h"
#include "base/thread.h"

#include <stdlib.h>
#include <sys/prctl.h>

/* Waiting is divided into steps, for this process may be stopped meanwhile. */
#define STEPS 10
#define STEP_NS (NS_PER_SECOND / STEPS)
#define SHORTEST_STEP_NS (STEP_NS / 16)
/* How long threads that are not stuck may take to end. */
#define END_NS NS_PER_SECOND

struct worker {
    struct bounded_calls *calls;
    struct worker *next;
    struct bounded_call *call; /* NULL: it waits for one */
    long subject;
    bool is_stuck;
    pthread_cond_t wake;
};

struct bounded_calls {
    pthread_mutex_t lock;
    pthread_cond_t done; /* a call has returned, or a thread has ended */
    struct worker *workers;
    unsigned n_workers, n_stuck;
    bool is_closing;
    bool is_left; /* by its owner: the last thread frees it */
    int64_t cpu_ns;
};

/* Frees the calls when the last thread is done. */
static void free_calls(struct bounded_calls *calls)
{
    pthread_cond_destroy(&calls->done);
    pthread_mutex_destroy(&calls->lock);
    free(calls);
}

struct bounded_calls *bounded_calls_create(void)
{
    struct bounded_calls *calls = calloc(1, sizeof *calls);
    if (!calls)
        return NULL;
    pthread_mutex_init(&calls->lock, NULL);
    thread_condition_init(&calls->done);
    return calls;
}

/* Makes the call that the worker was given; the lock is held before and after. */
static void make_call(struct bounded_calls *calls, struct worker *worker)
{
    struct bounded_call *call = worker->call;
    int64_t begin_ns = clock_thread_cpu_ns();
    pthread_mutex_unlock(&calls->lock);
    call->run(call);
    pthread_mutex_lock(&calls->lock);
    calls->cpu_ns += clock_thread_cpu_ns() - begin_ns;
    if (worker->is_stuck) {
        call->destroy(call);
        calls->n_stuck--;
    }
    worker->is_stuck = false;
    worker->call = NULL;
    pthread_cond_broadcast(&calls->done);
}

/* Takes a worker off the list and frees it; the lock is held. */
static void remove_worker(struct worker *worker)
{
    struct bounded_calls *calls = worker->calls;
    struct worker **at = &calls->workers;
    while (*at != worker)
        at = &(*at)->next;
    *at = worker->next;
    calls->n_workers--;
    pthread_cond_destroy(&worker->wake);
    free(worker);
}

/* Runs one call after another in a thread of its own. */
static void *work(void *user)
{
    struct worker *worker = user;
    struct bounded_calls *calls = worker->calls;
    prctl(PR_SET_NAME, "gpu-tracker");
    pthread_mutex_lock(&calls->lock);
    while (worker->call || !calls->is_closing) {
        if (worker->call)
            make_call(calls, worker);
        else
            pthread_cond_wait(&worker->wake, &calls->lock);
    }
    remove_worker(worker);
    bool is_last = calls->is_left && calls->n_workers == 0;
    pthread_cond_broadcast(&calls->done);
    pthread_mutex_unlock(&calls->lock);
    if (is_last)
        free_calls(calls);
    return NULL;
}

/* Returns a worker that waits for a call, or a new one; NULL: no thread can be started. The lock is
 * held. */
static struct worker *idle_worker(struct bounded_calls *calls)
{
    for (struct worker *worker = calls->workers; worker; worker = worker->next)
        if (!worker->call)
            return worker;
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->calls = calls;
    worker->next = calls->workers;
    thread_condition_init(&worker->wake);
    calls->workers = worker;
    calls->n_workers++;
    if (thread_start(NULL, THREAD_STACK_BYTES, work, worker) == 0)
        return worker;
    remove_worker(worker);
    return NULL;
}

/* Returns whether no call may be made for the subject. The lock is held. */
static bool is_refused(const struct bounded_calls *calls, long subject)
{
    for (const struct worker *worker = calls->workers; calls->n_stuck && worker;
         worker = worker->next)
        if (worker->is_stuck && worker->subject == subject)
            return true;
    return calls->n_stuck >= BOUNDED_CALLS_MAX_STUCK;
}

bool bounded_calls_make(struct bounded_calls *calls, long subject, struct bounded_call *call)
{
    if (!calls) {
        call->run(call);
        return true;
    }
    pthread_mutex_lock(&calls->lock);
    struct worker *worker = is_refused(calls, subject) ? NULL : idle_worker(calls);
    bool has_returned = false, has_no_thread = calls->n_workers == 0;
    if (worker) {
        worker->subject = subject;
        worker->call = call;
        pthread_cond_signal(&worker->wake);

        /* Wait until the call has returned; false: it takes too long. The lock is held. */
        int64_t step_ns = STEP_NS >> calls->n_stuck;
        if (step_ns < SHORTEST_STEP_NS)
            step_ns = SHORTEST_STEP_NS;
        for (int step = 0; worker->call == call && step < STEPS;) {
            struct timespec until = clock_timespec_of_ns(clock_monotonic_ns() + step_ns);
            if (pthread_cond_timedwait(&calls->done, &calls->lock, &until) != 0)
                step++;
        }
        has_returned = worker->call != call;

        worker->is_stuck |= !has_returned;
        calls->n_stuck += !has_returned;
    }
    pthread_mutex_unlock(&calls->lock);
    if (has_no_thread)
        call->run(call);
    else if (!worker)
        call->destroy(call);
    return has_returned || has_no_thread;
}

unsigned bounded_calls_threads(struct bounded_calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    unsigned count = calls->n_workers;
    pthread_mutex_unlock(&calls->lock);
    return count;
}

int64_t bounded_calls_cpu_ns(struct bounded_calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    int64_t cpu_ns = calls->cpu_ns;
    pthread_mutex_unlock(&calls->lock);
    return cpu_ns;
}

void bounded_calls_destroy(struct bounded_calls *calls)
{
    if (!calls)
        return;
    struct timespec until = clock_timespec_of_ns(clock_monotonic_ns() + END_NS);
    pthread_mutex_lock(&calls->lock);
    calls->is_closing = true;
    for (struct worker *worker = calls->workers; worker; worker = worker->next)
        pthread_cond_signal(&worker->wake);
    bool in_time = true;
    while (calls->n_workers > calls->n_stuck && in_time)
        in_time = pthread_cond_timedwait(&calls->done, &calls->lock, &until) == 0;
    calls->is_left = calls->n_workers > 0;
    bool is_left = calls->is_left;
    pthread_mutex_unlock(&calls->lock);
    if (!is_left)
        free_calls(calls);
}
