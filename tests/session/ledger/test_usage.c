#include "session/ledger/usage.h"
#include "testing.h"

#include <math.h>

static struct gput_sample sample_of(double ram, double cpu)
{
    struct gput_sample sample;
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++)
        sample.values[i] = NAN;
    sample.values[GPUT_MAIN_RAM] = ram;
    sample.values[GPUT_CPU_MAIN_SUM] = cpu;
    return sample;
}

TEST(what_was_never_read_stays_missing)
{
    struct usage usage;
    usage_init(&usage);
    struct gput_sample sample = sample_of(5, NAN);
    usage_add(&usage, &sample, 1);
    assert_true(isnan(usage.max[GPUT_CPU_MAIN_SUM]));
    assert_true(isnan(usage_mean(&usage, GPUT_CPU_MAIN_SUM)));
    assert_true(isnan(usage_mean(&usage, GPUT_MAIN_GPU_RAM)));
}

TEST(keeps_the_highest)
{
    struct usage usage;
    usage_init(&usage);
    const double ram[] = {3, 9, NAN, 4};
    for (size_t i = 0; i < 4; i++) {
        struct gput_sample sample = sample_of(ram[i], -1);
        usage_add(&usage, &sample, 0.5);
    }
    assert_true(usage.max[GPUT_MAIN_RAM] == 9);
    /* Also where all are below zero. */
    assert_true(usage.max[GPUT_CPU_MAIN_SUM] == -1);
}

TEST(mean_cpu_weighs_by_time)
{
    struct usage usage;
    usage_init(&usage);
    struct gput_sample busy = sample_of(NAN, 100), idle = sample_of(NAN, 0);
    usage_add(&usage, &busy, 3);
    usage_add(&usage, &idle, 1);
    assert_true(usage_mean(&usage, GPUT_CPU_MAIN_SUM) == 75);
}

/* The older tool's own figures: 0, 150 and 135 percent are 95 on average. */
TEST(mean_gpu_utilization_is_that_of_all_rows)
{
    struct usage usage;
    usage_init(&usage);
    const double percents[] = {7, 0, 150, NAN, 135}, seconds[] = {0, 0.05, 2, 1, 0.25};
    for (size_t i = 0; i < 5; i++) {
        struct gput_sample sample = sample_of(NAN, NAN);
        sample.values[GPUT_GPU_SUM_UTILIZATION] = percents[i];
        usage_add(&usage, &sample, seconds[i]);
    }
    assert_true(usage_mean(&usage, GPUT_GPU_SUM_UTILIZATION) == 95);
}

TEST(time_without_a_figure_does_not_count)
{
    struct usage usage;
    usage_init(&usage);
    struct gput_sample known = sample_of(NAN, 50), unknown = sample_of(NAN, NAN);
    usage_add(&usage, &known, 1);
    usage_add(&usage, &unknown, 9);
    assert_true(usage_mean(&usage, GPUT_CPU_MAIN_SUM) == 50);
}

TEST(one_sample_at_one_moment_is_its_own_mean)
{
    struct usage usage;
    usage_init(&usage);
    struct gput_sample sample = sample_of(7, NAN);
    usage_add(&usage, &sample, 0);
    assert_true(usage_mean(&usage, GPUT_MAIN_RAM) == 7);
}

RUN_TESTS(NULL, NULL)
