#include "session/ledger/gpu_usage.h"
#include "testing.h"

#include <math.h>

static struct gpu_sample sample_of(uint32_t n_devices, double ram, double utilization)
{
    struct gpu_sample sample = {.n_devices = n_devices};
    for (uint32_t i = 0; i < n_devices; i++)
        sample.devices[i] = (struct gpu_device_sample){
            .ram_used_bytes = ram,
            .utilization_percent = utilization,
            .power_watts = NAN,
        };
    return sample;
}

TEST(keeps_the_highest_and_the_mean_of_all_rows)
{
    struct gpu_usage usage = {0};
    struct gpu_sample sample = sample_of(1, 100, 50);
    gpu_usage_add(&usage, &sample, 0);
    assert_true(gpu_usage_mean(&usage, 0, GPU_USAGE_UTILIZATION) == 50);
    sample = sample_of(1, 300, 10);
    gpu_usage_add(&usage, &sample, 3);
    sample = sample_of(1, 200, 90);
    gpu_usage_add(&usage, &sample, 1);
    assert_true(gpu_usage_max(&usage, 0, GPU_USAGE_RAM) == 300);
    assert_true(gpu_usage_max(&usage, 0, GPU_USAGE_UTILIZATION) == 90);
    assert_true(gpu_usage_mean(&usage, 0, GPU_USAGE_UTILIZATION) == 50);
    assert_true(gpu_usage_mean(&usage, 0, GPU_USAGE_RAM) == 250);
    gpu_usage_finish(&usage);
}

TEST(a_reading_between_two_samples_is_in_the_highest_alone)
{
    struct gpu_usage usage = {0};
    struct gpu_sample sample = sample_of(1, 100, 50);
    sample.devices[0].max_ram_used_bytes = 900; /* from before the command */
    gpu_usage_add(&usage, &sample, 0);
    assert_true(gpu_usage_max(&usage, 0, GPU_USAGE_RAM) == 100);
    sample = sample_of(1, 200, 10);
    sample.devices[0].max_ram_used_bytes = 400;
    gpu_usage_add(&usage, &sample, 1);
    assert_true(gpu_usage_max(&usage, 0, GPU_USAGE_RAM) == 400);
    assert_true(gpu_usage_mean(&usage, 0, GPU_USAGE_RAM) == 200);
    assert_true(gpu_usage_last(&usage, 0, GPU_USAGE_RAM) == 200);
    gpu_usage_finish(&usage);
}

TEST(mean_power_weighs_by_time)
{
    struct gpu_usage usage = {0};
    struct gpu_sample sample = sample_of(1, 0, 0);
    sample.devices[0].power_watts = 900;
    gpu_usage_add(&usage, &sample, 0);
    assert_true(gpu_usage_mean(&usage, 0, GPU_USAGE_POWER) == 900);
    sample.devices[0].power_watts = 100;
    gpu_usage_add(&usage, &sample, 3);
    sample.devices[0].power_watts = 300;
    gpu_usage_add(&usage, &sample, 1);
    assert_true(gpu_usage_mean(&usage, 0, GPU_USAGE_POWER) == 150);
    gpu_usage_finish(&usage);
}

TEST(what_was_never_read_stays_missing)
{
    struct gpu_usage usage = {0};
    struct gpu_sample sample = sample_of(1, NAN, 1);
    gpu_usage_add(&usage, &sample, 1);
    assert_true(isnan(gpu_usage_max(&usage, 0, GPU_USAGE_POWER)));
    assert_true(isnan(gpu_usage_mean(&usage, 0, GPU_USAGE_RAM)));
    assert_true(isnan(gpu_usage_max(&usage, 7, GPU_USAGE_RAM)));
    gpu_usage_finish(&usage);
}

TEST(a_sum_is_of_all_devices_that_have_it)
{
    struct gpu_usage usage = {0};
    struct gpu_sample sample = sample_of(3, 100, 50);
    sample.devices[1].ram_used_bytes = NAN;
    assert_true(isnan(gpu_usage_sum(&usage, GPU_USAGE_RAM)));
    gpu_usage_add(&usage, &sample, 1);
    assert_true(gpu_usage_sum(&usage, GPU_USAGE_RAM) == 200);
    assert_true(gpu_usage_sum(&usage, GPU_USAGE_UTILIZATION) == 150);
    assert_true(isnan(gpu_usage_sum(&usage, GPU_USAGE_POWER)));
    sample.devices[2].ram_used_bytes = NAN;
    gpu_usage_add(&usage, &sample, 1);
    assert_true(isnan(gpu_usage_sum(&usage, GPU_USAGE_RAM)));
    sample.devices[2].ram_used_bytes = 1;
    gpu_usage_add(&usage, &sample, 1);
    assert_true(gpu_usage_sum(&usage, GPU_USAGE_RAM) == 101);
    gpu_usage_finish(&usage);
}

TEST(ram_is_bounded_by_the_rise_of_the_device_unless_others_used_it)
{
    struct gpu_usage usage = {0};
    struct gpu_sample sample = sample_of(2, 500, 0);
    sample.devices[0].combined_ram_bytes = 100;
    sample.devices[0].untracked_ram_bytes = sample.devices[1].untracked_ram_bytes = NAN;
    gpu_usage_add(&usage, &sample, 1);
    assert_true(isnan(gpu_usage_combined_ram_at_most(&usage, 0)));
    sample.devices[0].ram_used_bytes = 900;
    sample.devices[0].untracked_ram_bytes = 400;
    gpu_usage_add(&usage, &sample, 1);
    sample.devices[0].untracked_ram_bytes = 380;
    gpu_usage_add(&usage, &sample, 1);
    sample.devices[0].untracked_ram_bytes = 450;
    gpu_usage_add(&usage, &sample, 1);
    assert_true(gpu_usage_combined_ram_at_most(&usage, 0) == 900 - 380);
    assert_true(isnan(gpu_usage_combined_ram_at_most(&usage, 1)));
    assert_true(isnan(gpu_usage_combined_ram_at_most(&usage, 2)));
    sample.devices[0].may_have_others = true;
    gpu_usage_add(&usage, &sample, 1);
    sample.devices[0].may_have_others = false;
    gpu_usage_add(&usage, &sample, 1);
    assert_true(isnan(gpu_usage_combined_ram_at_most(&usage, 0)));
    gpu_usage_finish(&usage);
}

TEST(hidden_processes_leave_ram_unbounded)
{
    struct gpu_usage usage = {0};
    struct gpu_sample sample = sample_of(1, 9e9, 0);
    sample.devices[0].untracked_ram_bytes = 70e6;
    gpu_usage_add(&usage, &sample, 1);
    assert_true(isnan(gpu_usage_combined_ram_at_most(&usage, 0)));
    sample.devices[0].untracked_ram_bytes = 60e6;
    gpu_usage_add(&usage, &sample, 1);
    assert_true(gpu_usage_combined_ram_at_most(&usage, 0) == 9e9 - 60e6);
    gpu_usage_finish(&usage);
}

TEST(a_rise_below_a_list_leaves_ram_unbounded)
{
    struct gpu_usage usage = {0};
    struct gpu_sample sample = sample_of(1, 500, 0);
    sample.devices[0].untracked_ram_bytes = 400;
    sample.devices[0].combined_ram_bytes = 100;
    gpu_usage_add(&usage, &sample, 1);
    assert_true(gpu_usage_combined_ram_at_most(&usage, 0) == 100);
    sample.devices[0].combined_ram_bytes = 101;
    gpu_usage_add(&usage, &sample, 1);
    assert_true(isnan(gpu_usage_combined_ram_at_most(&usage, 0)));
    gpu_usage_finish(&usage);
}

TEST(a_gpu_that_appears_later_is_added)
{
    struct gpu_usage usage = {0};
    struct gpu_sample sample = sample_of(0, 0, 0);
    gpu_usage_add(&usage, &sample, 1);
    sample = sample_of(1, 5, 5);
    gpu_usage_add(&usage, &sample, 1);
    sample = sample_of(2, 9, 9);
    gpu_usage_add(&usage, &sample, 1);
    assert_true(gpu_usage_max(&usage, 0, GPU_USAGE_RAM) == 9);
    assert_true(gpu_usage_mean(&usage, 0, GPU_USAGE_RAM) == 7);
    assert_true(gpu_usage_mean(&usage, 1, GPU_USAGE_RAM) == 9);
    gpu_usage_finish(&usage);
}

RUN_TESTS(NULL, NULL)
