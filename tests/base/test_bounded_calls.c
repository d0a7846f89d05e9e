#include "base/bounded_calls.h"

#include "base/clock.h"
#include "testing.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Shared by the calls of a test, of which some return only when it lets them. */
static struct {
    sem_t returns;
    atomic_int made, destroyed;
} state_of_calls;

struct waiting_call {
    struct bounded_call call;
    bool waits;
};

static void run(struct bounded_call *call)
{
    if (((struct waiting_call *)call)->waits)
        sem_wait(&state_of_calls.returns);
    atomic_fetch_add(&state_of_calls.made, 1);
}

static void destroy(struct bounded_call *call)
{
    atomic_fetch_add(&state_of_calls.destroyed, 1);
    free(call);
}

static bool make(struct bounded_calls *calls, long subject, bool waits)
{
    struct waiting_call *call = malloc(sizeof *call);
    *call = (struct waiting_call){{run, destroy}, waits};
    bool has_returned = bounded_calls_make(calls, subject, &call->call);
    if (has_returned)
        free(call);
    return has_returned;
}

static int begin(void **state)
{
    (void)state;
    atomic_store(&state_of_calls.made, 0);
    atomic_store(&state_of_calls.destroyed, 0);
    return sem_init(&state_of_calls.returns, 0, 0);
}

static void wait_until_destroyed(int count)
{
    while (atomic_load(&state_of_calls.destroyed) < count)
        usleep(1000);
}

TEST_WITH(one_thread_makes_calls_that_return, begin, NULL)
{
    struct bounded_calls *calls = bounded_calls_create();
    assert_int_equal(bounded_calls_threads(calls), 0);
    for (long i = 0; i < 100; i++)
        assert_true(make(calls, i, false));
    assert_int_equal(state_of_calls.made, 100);
    assert_int_equal(state_of_calls.destroyed, 0);
    assert_int_equal(bounded_calls_threads(calls), 1);
    assert_true(bounded_calls_cpu_ns(calls) > 0);
    bounded_calls_destroy(calls);
    bounded_calls_destroy(NULL);
}

TEST_WITH(a_call_that_does_not_return_is_given_up_for_its_subject, begin, NULL)
{
    struct bounded_calls *calls = bounded_calls_create();
    assert_false(make(calls, 1, true));
    assert_int_equal(state_of_calls.destroyed, 0); /* its thread may still use it */
    int64_t begin_ns = clock_monotonic_ns();
    assert_false(make(calls, 1, false));
    assert_int_equal(state_of_calls.made, 0);
    assert_true(clock_monotonic_ns() - begin_ns < NS_PER_SECOND / 2); /* it is not waited for */
    assert_true(make(calls, 2, false));
    assert_int_equal(bounded_calls_threads(calls), 2);
    sem_post(&state_of_calls.returns);
    wait_until_destroyed(2);
    while (!make(calls, 1, false))
        usleep(1000);
    bounded_calls_destroy(calls);
}

TEST_WITH(so_many_may_be_stuck, begin, NULL)
{
    struct bounded_calls *calls = bounded_calls_create();
    int64_t begin_ns = clock_monotonic_ns();
    for (long i = 0; i < BOUNDED_CALLS_MAX_STUCK; i++)
        assert_false(make(calls, i, true));
    assert_true(clock_monotonic_ns() - begin_ns < 20 * NS_PER_SECOND);
    assert_false(make(calls, 100, false));
    assert_int_equal(bounded_calls_threads(calls), BOUNDED_CALLS_MAX_STUCK);
    bounded_calls_destroy(calls); /* which waits for none of them */
    for (int i = 0; i < BOUNDED_CALLS_MAX_STUCK; i++)
        sem_post(&state_of_calls.returns);
    wait_until_destroyed(BOUNDED_CALLS_MAX_STUCK + 1);
}

TEST_WITH(without_threads_a_call_is_made_at_once, begin, NULL)
{
    assert_true(make(NULL, 1, false));
    assert_int_equal(state_of_calls.made, 1);
}

RUN_TESTS(NULL, NULL)
