#include "base/ordered_jobs.h"
#include "testing.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#define JOBS 500

struct job {
    unsigned number;
    unsigned *results; /* grows */
    unsigned threads_seen;
};

static void run(void *user, unsigned thread)
{
    struct job *job = user;
    job->results = realloc(job->results, (job->number % 7 + 1) * sizeof *job->results);
    for (unsigned i = 0; i <= job->number % 7; i++) {
        sched_yield(); /* so that they end in another order */
        job->results[i] = job->number * 10 + i;
    }
    job->threads_seen |= 1u << thread;
}

static void finish(void *user)
{
    free(((struct job *)user)->results);
}

static const struct job_class class = {sizeof(struct job), run, finish};

static void check(struct ordered_jobs *jobs, unsigned number, unsigned threads)
{
    struct job *job = ordered_jobs_take(jobs);
    assert_non_null(job);
    assert_ptr_equal(ordered_jobs_take(jobs), job);
    assert_int_equal(job->number, number);
    assert_int_equal(job->results[number % 7], number * 10 + number % 7);
    assert_true(job->threads_seen < 1u << threads);
    ordered_jobs_release(jobs);
}

TEST(results_come_in_the_order_of_the_jobs)
{
    static const unsigned threads[] = {1, 2, 5};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct ordered_jobs *jobs;
        unsigned given = 0, taken = 0;
        assert_int_equal(ordered_jobs_create(threads[i], 2, &class, &jobs, NULL), GPUT_OK);
        while (taken < JOBS) {
            struct job *job = given < JOBS ? ordered_jobs_space(jobs) : NULL;
            if (job) {
                job->number = given++;
                ordered_jobs_give(jobs);
                assert_true(given - taken <= threads[i] + 2);
            } else {
                check(jobs, taken++, threads[i]);
            }
        }
        assert_null(ordered_jobs_take(jobs));
        ordered_jobs_destroy(jobs);
    }
}

TEST(jobs_that_are_never_taken_are_freed)
{
    struct ordered_jobs *jobs;
    assert_int_equal(ordered_jobs_create(3, 4, &class, &jobs, NULL), GPUT_OK);
    for (struct job *job; (job = ordered_jobs_space(jobs)) != NULL;)
        ordered_jobs_give(jobs);
    ordered_jobs_destroy(jobs);
}

RUN_TESTS(NULL, NULL)
