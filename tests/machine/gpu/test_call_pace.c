/* When a call that costs a driver much is made again. */
#include "base/clock.h"
#include "machine/gpu/call_pace.h"
#include "testing.h"

#include <time.h>

#define MS (NS_PER_SECOND / 1000)

#define START_NS (1000 * NS_PER_SECOND)

/* The pause after a call of so much CPU time. */
static int64_t pause_after(int64_t cost_ns, uint32_t n_gpus)
{
    struct call_pace pace = {0};
    assert_true(call_pace_is_due(&pace, START_NS));
    call_pace_spend(&pace, START_NS, cost_ns, n_gpus);
    assert_true(call_pace_is_due(&pace, pace.due_ns));
    assert_false(call_pace_is_due(&pace, pace.due_ns - 1));
    return pace.due_ns - START_NS;
}

static void calls_take_a_two_hundredth_of_the_time(void **state)
{
    (void)state;
    assert_int_equal(pause_after(2 * MS, 1), 400 * MS);
    assert_int_equal(pause_after(MS / 2, 8), 800 * MS);
}

static void no_pause_is_longer_than_a_second(void **state)
{
    (void)state;
    assert_int_equal(pause_after(10 * MS, 8), NS_PER_SECOND);
}

static void a_quick_call_needs_none(void **state)
{
    (void)state;
    assert_int_equal(pause_after(MS / 20, 8), 0);
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static void the_cost_is_the_cpu_time_of_the_call(void **state)
{
    (void)state;
    struct call_pace pace = {0};
    int64_t now_ns = clock_monotonic_ns();
    call_pace_begin(&pace, now_ns);
    while (cpu_ns() - pace.began_cpu_ns < 2 * MS)
        ;
    call_pace_end(&pace, 1);
    assert_true(pace.due_ns - now_ns >= 400 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_take_a_two_hundredth_of_the_time),
        cmocka_unit_test(no_pause_is_longer_than_a_second),
        cmocka_unit_test(a_quick_call_needs_none),
        cmocka_unit_test(the_cost_is_the_cpu_time_of_the_call),
    };
    return cmocka_run_group_tests_name("machine/gpu/call_pace", tests, NULL, NULL);
}
