#include "session/sampler/wait_sampler.h"

#include "base/clock.h"
#include "testing.h"

#include <math.h>

/* Takes all moments that are due until then. */
static size_t take_until(struct wait_sampler *waits, struct process_tree *tree, int64_t until_ns)
{
    size_t count = 0;
    for (; waits->due_ns < until_ns; count++)
        wait_sampler_take(waits, tree, NAN, waits->due_ns);
    return count;
}

TEST(there_is_one_moment_in_each_period)
{
    struct process_tree tree = {0};
    struct wait_sampler waits;
    int64_t start_ns = 7 * NS_PER_SECOND;
    wait_sampler_init(&waits, start_ns, NS_PER_SECOND / 10);
    for (int i = 0; i < 1000; i++) {
        int64_t begin_ns = waits.period_start_ns, end_ns = begin_ns + waits.period_ns;
        assert_in_range(waits.due_ns - begin_ns, 0, waits.period_ns);
        wait_sampler_take(&waits, &tree, NAN, waits.due_ns);
        assert_int_equal(waits.period_start_ns, end_ns);
    }
    assert_int_equal(waits.period_ns, NS_PER_SECOND / 5 * 2);
}

/* At a fixed interval, half of them would be all or none of these. */
TEST(moments_do_not_follow_a_period_of_the_program)
{
    struct process_tree tree = {0};
    struct wait_sampler waits;
    size_t early = 0;
    wait_sampler_init(&waits, 0, NS_PER_SECOND / 10);
    take_until(&waits, &tree, 20 * NS_PER_SECOND);
    for (int i = 0; i < 4000; i++) {
        early += waits.due_ns % (NS_PER_SECOND / 10) < NS_PER_SECOND / 20;
        wait_sampler_take(&waits, &tree, NAN, waits.due_ns);
    }
    assert_in_range(early, 1800, 2200);
}

TEST(short_sessions_have_as_many_moments)
{
    struct process_tree tree = {0};
    struct wait_sampler waits;
    wait_sampler_init(&waits, 0, NS_PER_SECOND);
    assert_in_range(take_until(&waits, &tree, NS_PER_SECOND), 40, 52);
    assert_in_range(take_until(&waits, &tree, 64 * NS_PER_SECOND), 110, 180);
    /* From then on, one a sample. */
    assert_in_range(take_until(&waits, &tree, 164 * NS_PER_SECOND), 95, 105);
}

TEST(many_processes_have_fewer_moments)
{
    struct process_tree tree = {0};
    struct wait_sampler waits;
    wait_sampler_init(&waits, 0, NS_PER_SECOND);
    wait_sampler_take(&waits, &tree, NAN, waits.due_ns);
    int64_t of_few_ns = waits.period_ns;
    struct process first = {.is_main = true}, *one[] = {&first};
    struct process *many[200];
    for (int i = 0; i < 200; i++)
        many[i] = one[0];
    tree.processes = many;
    tree.count = 200;
    wait_sampler_take(&waits, &tree, NAN, waits.due_ns);
    assert_true(waits.period_ns > 4 * of_few_ns);
}

TEST(after_a_pause_it_goes_on_from_now)
{
    struct process_tree tree = {0};
    struct wait_sampler waits;
    wait_sampler_init(&waits, 0, NS_PER_SECOND);
    wait_sampler_take(&waits, &tree, NAN, 100 * NS_PER_SECOND);
    assert_true(waits.due_ns >= 100 * NS_PER_SECOND);
}

TEST(an_idle_gpu_is_counted)
{
    struct process_tree tree = {0};
    struct wait_sampler waits;
    wait_sampler_init(&waits, 0, NS_PER_SECOND);
    int64_t period_ns = waits.period_ns;
    wait_sampler_take(&waits, &tree, NAN, waits.due_ns);
    assert_int_equal(waits.gpu_ns, 0);
    wait_sampler_take(&waits, &tree, 90, waits.due_ns);
    assert_int_equal(waits.gpu_ns, period_ns);
    assert_int_equal(waits.while_gpu_idle.count, 0);
    wait_sampler_take(&waits, &tree, 0, waits.due_ns);
    assert_int_equal(waits.gpu_ns, 2 * period_ns);
    assert_int_equal(waits.while_gpu_idle.ns[WALL_UNKNOWN], period_ns);
}

/* Of main, whose first thread reads a pipe, and a worker that computes in one of two threads. */
TEST(other_threads_are_counted_while_a_gpu_is_idle)
{
    struct thread of_main[] = {{.cause = WALL_PIPE, .is_listed = true}};
    struct thread of_worker[] = {{.cause = WALL_COMPUTING, .is_listed = true},
        {.cause = WALL_CAUSE_COUNT, .is_listed = true}, {.cause = WALL_LOCK}};
    struct process_threads lists[] = {{.threads = of_main, .count = 1, .has_causes = true},
        {.threads = of_worker, .count = 3, .has_causes = true}};
    struct polled polled[2] = {0};
    struct process processes[] = {
        {.is_main = true, .threads = &lists[0], .polled = &polled[0], .state = PROCESS_FOUND},
        {.threads = &lists[1], .polled = &polled[1], .state = PROCESS_FOUND}};
    polled[0].stat.state = polled[1].stat.state = 'X'; /* they are not read again */
    struct process *list[] = {&processes[0], &processes[1]};
    struct process_tree tree = {.processes = list, .count = 2};
    struct wait_sampler waits;
    wait_sampler_init(&waits, 0, NS_PER_SECOND);
    int64_t period_ns = waits.period_ns;
    wait_sampler_take(&waits, &tree, 0, waits.due_ns);
    const struct wall_samples *others = &waits.others_while_gpu_idle;
    assert_int_equal(others->count, 2);
    assert_int_equal(others->ns[WALL_COMPUTING], period_ns);
    assert_int_equal(others->ns[WALL_STORAGE], period_ns);
    assert_int_equal(others->ns[WALL_PIPE] + others->ns[WALL_LOCK], 0);
}

RUN_TESTS(NULL, NULL)
