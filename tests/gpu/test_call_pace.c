/* When a call that costs a driver much is made again. */
#include "base/clock.h"
#include "gpu/call_pace.h"
#include "testing.h"

#include <time.h>

#define MS (NS_PER_SECOND / 1000)

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* The pause after a call of so much CPU time, which is at most what `most_ns` returns. */
static int64_t pause_after(int64_t cost_ns, uint32_t n_gpus, int64_t *most_ns)
{
    struct call_pace pace = {0};
    int64_t now_ns = clock_monotonic_ns(), start_ns = cpu_ns();
    assert_true(call_pace_is_due(&pace, now_ns));
    call_pace_begin(&pace, now_ns);
    while (cpu_ns() - pace.began_cpu_ns < cost_ns)
        ;
    call_pace_end(&pace, n_gpus);
    *most_ns = (cpu_ns() - start_ns) * 200 * n_gpus;
    assert_true(call_pace_is_due(&pace, pace.due_ns));
    assert_false(call_pace_is_due(&pace, pace.due_ns - 1));
    return pace.due_ns - now_ns;
}

static void calls_take_a_two_hundredth_of_the_time(void **state)
{
    (void)state;
    int64_t most_ns;
    int64_t pause_ns = pause_after(2 * MS, 1, &most_ns);
    assert_true(pause_ns >= 400 * MS);
    assert_true(pause_ns <= most_ns || pause_ns == NS_PER_SECOND);
}

static void all_gpus_share_that_time(void **state)
{
    (void)state;
    int64_t most_ns;
    int64_t pause_ns = pause_after(MS / 2, 8, &most_ns);
    assert_true(pause_ns >= 800 * MS);
    assert_true(pause_ns <= most_ns || pause_ns == NS_PER_SECOND);
}

static void no_pause_is_longer_than_a_second(void **state)
{
    (void)state;
    int64_t most_ns;
    assert_int_equal(pause_after(10 * MS, 8, &most_ns), NS_PER_SECOND);
}

static void a_quick_call_needs_none(void **state)
{
    (void)state;
    struct call_pace pace = {0};
    int64_t now_ns = clock_monotonic_ns();
    call_pace_begin(&pace, now_ns);
    pace.began_cpu_ns = cpu_ns(); /* on a machine that was busy in between */
    call_pace_end(&pace, 1);
    assert_true(pace.due_ns - now_ns == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_take_a_two_hundredth_of_the_time),
        cmocka_unit_test(all_gpus_share_that_time),
        cmocka_unit_test(no_pause_is_longer_than_a_second),
        cmocka_unit_test(a_quick_call_needs_none),
    };
    return cmocka_run_group_tests_name("gpu/call_pace", tests, NULL, NULL);
}
