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

TEST(calls_take_a_two_hundredth_of_the_time)
{
    assert_int_equal(pause_after(2 * MS, 1), 400 * MS);
    assert_int_equal(pause_after(MS / 2, 8), 800 * MS);
}

TEST(no_pause_is_longer_than_a_second)
{
    assert_int_equal(pause_after(10 * MS, 8), NS_PER_SECOND);
}

TEST(a_quick_call_needs_none)
{
    assert_int_equal(pause_after(MS / 20, 8), 0);
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

TEST(the_cost_is_the_cpu_time_of_the_call)
{
    struct call_pace pace = {0};
    int64_t now_ns = clock_monotonic_ns();
    call_pace_begin(&pace, now_ns);
    while (cpu_ns() - pace.began_cpu_ns < 2 * MS)
        ;
    call_pace_end(&pace, 1);
    assert_true(pace.due_ns - now_ns >= 400 * MS);
}

TEST(a_late_list_among_quick_ones_delays_nothing)
{
    struct list_budget budget = {0};
    int64_t now_ns = START_NS;
    for (int i = 0; i < 100; i++, now_ns += 200 * MS)
        list_budget_spend(&budget, now_ns, i % 5 == 4 ? 24 * MS : MS / 2);
    list_budget_spend(&budget, now_ns, 24 * MS);
    assert_true(budget.paid_until_ns <= now_ns);
}

/* How many lists of that cost begin in a minute when each begins as soon as it may. */
static int lists_in_a_minute(int64_t cost_ns)
{
    struct list_budget budget = {0};
    int count = 0;
    for (int64_t now_ns = START_NS; now_ns < START_NS + 60 * NS_PER_SECOND; count++) {
        list_budget_spend(&budget, now_ns, cost_ns);
        int64_t end_ns = now_ns + cost_ns;
        now_ns = budget.paid_until_ns > end_ns ? budget.paid_until_ns : end_ns;
    }
    return count;
}

TEST(lists_take_a_twentieth_of_the_time_and_of_one_second_saved)
{
    for (int64_t cost_ns = MS / 2; cost_ns <= 50 * MS; cost_ns *= 10) {
        int64_t spent_ns = lists_in_a_minute(cost_ns) * cost_ns;
        assert_in_range(spent_ns, 60 * NS_PER_SECOND / 20, 61 * NS_PER_SECOND / 20 + cost_ns);
    }
}

TEST(a_slow_driver_is_asked_each_second_and_half_of_the_time_at_most)
{
    assert_in_range(lists_in_a_minute(200 * MS), 60, 61);
    assert_in_range(lists_in_a_minute(3 * NS_PER_SECOND), 10, 11);
}

TEST(what_is_saved_is_not_more_than_a_second)
{
    struct list_budget budget = {0};
    list_budget_spend(&budget, START_NS, 60 * MS);
    assert_int_equal(budget.paid_until_ns, START_NS + 200 * MS);
    list_budget_spend(&budget, START_NS + 3600 * NS_PER_SECOND, 60 * MS);
    assert_int_equal(budget.paid_until_ns, START_NS + 3600 * NS_PER_SECOND + 200 * MS);
}

RUN_TESTS(NULL, NULL)
