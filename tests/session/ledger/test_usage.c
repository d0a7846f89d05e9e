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

static void what_was_never_read_stays_missing(void **state)
{
    (void)state;
    struct usage usage;
    usage_init(&usage);
    struct gput_sample sample = sample_of(5, NAN);
    usage_add(&usage, &sample, 1);
    assert_true(isnan(usage.max[GPUT_CPU_MAIN_SUM]));
    assert_true(isnan(usage_mean(&usage, GPUT_CPU_MAIN_SUM)));
    assert_true(isnan(usage_mean(&usage, GPUT_MAIN_GPU_RAM)));
}

static void keeps_the_highest(void **state)
{
    (void)state;
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

static void mean_cpu_weighs_by_time(void **state)
{
    (void)state;
    struct usage usage;
    usage_init(&usage);
    struct gput_sample busy = sample_of(NAN, 100), idle = sample_of(NAN, 0);
    usage_add(&usage, &busy, 3);
    usage_add(&usage, &idle, 1);
    assert_true(usage_mean(&usage, GPUT_CPU_MAIN_SUM) == 75);
}

/* The older tool's own figures: 0, 150 and 135 percent are 95 on average. */
static void mean_gpu_utilization_is_that_of_all_rows(void **state)
{
    (void)state;
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

static void time_without_a_figure_does_not_count(void **state)
{
    (void)state;
    struct usage usage;
    usage_init(&usage);
    struct gput_sample known = sample_of(NAN, 50), unknown = sample_of(NAN, NAN);
    usage_add(&usage, &known, 1);
    usage_add(&usage, &unknown, 9);
    assert_true(usage_mean(&usage, GPUT_CPU_MAIN_SUM) == 50);
}

static void one_sample_at_one_moment_is_its_own_mean(void **state)
{
    (void)state;
    struct usage usage;
    usage_init(&usage);
    struct gput_sample sample = sample_of(7, NAN);
    usage_add(&usage, &sample, 0);
    assert_true(usage_mean(&usage, GPUT_MAIN_RAM) == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_never_read_stays_missing),
        cmocka_unit_test(keeps_the_highest),
        cmocka_unit_test(mean_cpu_weighs_by_time),
        cmocka_unit_test(mean_gpu_utilization_is_that_of_all_rows),
        cmocka_unit_test(time_without_a_figure_does_not_count),
        cmocka_unit_test(one_sample_at_one_moment_is_its_own_mean),
    };
    return cmocka_run_group_tests_name("session/usage", tests, NULL, NULL);
}
