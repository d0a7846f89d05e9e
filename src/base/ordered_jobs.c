#include "base/ordered_jobs.h"

#include "base/thread.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct worker {
    struct ordered_jobs *jobs;
    unsigned number;
    pthread_t thread;
};

struct ordered_jobs {
    const struct job_class *class;
    char *all; /* a ring of `capacity` */
    unsigned capacity;
    uint64_t taken; /* how many were ever released; the caller's alone */
    struct worker *workers;
    unsigned worker_count;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t given_some, done_some;
    uint64_t given, started; /* how many were ever; none starts out of order */
    bool *is_done;           /* by place in the ring */
    bool stops;
};

static void *job_at(struct ordered_jobs *jobs, uint64_t number)
{
    return jobs->all + number % jobs->capacity * jobs->class->size;
}

/* Does the next job. The lock is held before and after. */
static void do_next(struct ordered_jobs *jobs, unsigned thread)
{
    uint64_t number = jobs->started++;
    pthread_mutex_unlock(&jobs->lock);
    jobs->class->run(job_at(jobs, number), thread);
    pthread_mutex_lock(&jobs->lock);
    jobs->is_done[number % jobs->capacity] = true;
    pthread_cond_signal(&jobs->done_some);
}

/* Runs jobs in a worker thread until it is told to stop. */
static void *work(void *user)
{
    struct worker *worker = user;
    struct ordered_jobs *jobs = worker->jobs;
    pthread_mutex_lock(&jobs->lock);
    while (!jobs->stops) {
        if (jobs->started < jobs->given)
            do_next(jobs, worker->number);
        else
            pthread_cond_wait(&jobs->given_some, &jobs->lock);
    }
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

/* Starts the worker threads; fewer are enough. */
static void start_workers(struct ordered_jobs *jobs, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct worker *worker = jobs->workers + i;
        *worker = (struct worker){.jobs = jobs, .number = i + 1};
        if (thread_start(&worker->thread, THREAD_STACK_BYTES, work, worker) != 0)
            return;
        jobs->worker_count++;
    }
}

int ordered_jobs_create(unsigned threads, unsigned waiting, const struct job_class *class,
    struct ordered_jobs **jobs, struct gput_error *error)
{
    struct ordered_jobs *made = calloc(1, sizeof *made);
    *jobs = NULL;
    if (!made)
        return error_memory(error);
    made->class = class;
    made->capacity = threads + waiting;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->given_some, NULL);
    pthread_cond_init(&made->done_some, NULL);
    made->all = calloc(made->capacity, class->size);
    made->is_done = calloc(made->capacity, sizeof *made->is_done);
    made->workers = calloc(threads, sizeof *made->workers);
    if (!made->all || !made->is_done || !made->workers) {
        ordered_jobs_destroy(made);
        return error_memory(error);
    }
    start_workers(made, threads - 1);
    *jobs = made;
    return GPUT_OK;
}

void *ordered_jobs_space(struct ordered_jobs *jobs)
{
    /* Only the caller changes either count. */
    return jobs->given - jobs->taken < jobs->capacity ? job_at(jobs, jobs->given) : NULL;
}

void ordered_jobs_give(struct ordered_jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    jobs->is_done[jobs->given++ % jobs->capacity] = false;
    pthread_cond_signal(&jobs->given_some);
    pthread_mutex_unlock(&jobs->lock);
}

void *ordered_jobs_take(struct ordered_jobs *jobs)
{
    if (jobs->taken == jobs->given)
        return NULL;
    pthread_mutex_lock(&jobs->lock);
    while (!jobs->is_done[jobs->taken % jobs->capacity]) {
        if (jobs->started < jobs->given)
            do_next(jobs, 0);
        else
            pthread_cond_wait(&jobs->done_some, &jobs->lock);
    }
    pthread_mutex_unlock(&jobs->lock);
    return job_at(jobs, jobs->taken);
}

void ordered_jobs_release(struct ordered_jobs *jobs)
{
    jobs->taken++;
}

void ordered_jobs_destroy(struct ordered_jobs *jobs)
{
    if (!jobs)
        return;
    pthread_mutex_lock(&jobs->lock);
    jobs->stops = true;
    pthread_cond_broadcast(&jobs->given_some);
    pthread_mutex_unlock(&jobs->lock);
    for (unsigned i = 0; i < jobs->worker_count; i++)
        pthread_join(jobs->workers[i].thread, NULL);

    for (unsigned i = 0; jobs->all && jobs->class->finish && i < jobs->capacity; i++)
        jobs->class->finish(jobs->all + i * jobs->class->size);
    pthread_cond_destroy(&jobs->given_some);
    pthread_cond_destroy(&jobs->done_some);
    pthread_mutex_destroy(&jobs->lock);
    free(jobs->workers);
    free(jobs->is_done);
    free(jobs->all);
    free(jobs);
}
