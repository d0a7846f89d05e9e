#include "bench/disturbances.h"

#include "testing.h"

/* The machine was busy for 10 s; of these this process used 1 s, its children 6 s. */
TEST(cpu_time_of_children_is_not_that_of_others)
{
    const struct disturbance_counts before = {0};
    const struct disturbance_counts after = {
        .busy_seconds = 10, .own_cpu_seconds = 1, .at_seconds = 10};
    struct bench_run run = {.figures = {[BENCH_WALL] = 10, [BENCH_CPU] = 7}};
    disturbances_fill_own(&before, &after, &run);
    assert_true(run.figures[BENCH_OTHER_CPU] == 3);
}

RUN_TESTS(NULL, NULL)
