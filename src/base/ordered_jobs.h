/*
 * Jobs that several threads do at once, and that are taken back in the order in which they were
 * given. Who takes one that is not done yet helps: it does jobs itself until that one is done.
 *
 *     while (there is more to do) {
 *         job = ordered_jobs_space(jobs);
 *         if (job) {
 *             fill(job);
 *             ordered_jobs_give(jobs);
 *         } else {
 *             use(ordered_jobs_take(jobs));
 *             ordered_jobs_release(jobs);
 *         }
 *     }
 *     while ((job = ordered_jobs_take(jobs)) != NULL) ...
 *
 * All functions are called by one thread, which is one of those that do jobs.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct ordered_jobs;

struct job_class {
    size_t size; /* of a job; it begins as zeroes, and is used again */
    /* `thread` is below the number of threads; each is one at a time. */
    void (*run)(void *job, unsigned thread);
    void (*finish)(void *job); /* frees what it holds; NULL: it holds nothing */
};

/* `threads` includes the caller; where fewer can be had, these do it all. At most `waiting` jobs
 * more than threads are held. */
int ordered_jobs_create(unsigned threads, unsigned waiting, const struct job_class *class,
    struct ordered_jobs **jobs, struct gput_error *error);

/* A job to fill in; NULL: none is free. It stays the same until it is given. */
void *ordered_jobs_space(struct ordered_jobs *jobs);
void ordered_jobs_give(struct ordered_jobs *jobs);

/* The oldest one that was given, once it is done; NULL: there is none. It stays the same until it
 * is released. */
void *ordered_jobs_take(struct ordered_jobs *jobs);
void ordered_jobs_release(struct ordered_jobs *jobs);

/* Waits for jobs that are being done, and finishes all. NULL is fine. */
void ordered_jobs_destroy(struct ordered_jobs *jobs);
