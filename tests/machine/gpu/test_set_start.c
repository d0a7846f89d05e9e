/* A set whose drivers take long to open, or are opened later. */
#include "base/clock.h"
#include "scenario.h"

#define GPU_A "gpu GPU-aaaa\nmemory 16000000000 0 1000000000\nutilization 40\n"

SCENARIO_TEST(a_driver_that_starts_slowly_is_added_later)
{
    struct gpu_options options = fake_options();
    options.synchronous = false;
    scenario_write(HANG);
    struct gpu_set *set = open_set(&options);
    size_t count;
    gpu_set_devices(set, &count);
    assert_int_equal(count, 0);
    assert_contains(gpu_set_missing(set), "nvml: the driver has not answered yet");
    assert_number(sample_once(set, 1, 0).system_ram_bytes, NAN);
    scenario_write(GPU_A "compute 1 5\n");
    assert_true(gpu_set_await_all(set, 50));
    struct gpu_sample sample = sample_once(set, 1, 0);
    assert_int_equal(sample.n_devices, 1);
    assert_number(sample.system_ram_bytes, 1e9);
    assert_number(sample.main_ram_bytes, 5);
    gpu_set_devices(set, &count);
    assert_int_equal(count, 1);
    gpu_set_close(set);
}

static const struct gpu_source_status *nvml_of(const struct gpu_set *set)
{
    size_t count;
    return &gpu_set_sources(set, &count)[0];
}

SCENARIO_TEST(a_library_that_opens_slowly_can_be_opened_later)
{
    size_t count;
    scenario_write(GPU_A);
    struct gpu_options options = options_with_other_vendors();
    options.synchronous = false;
    options.starts_later = true;
    struct gpu_set *set = open_set(&options);
    assert_true(gpu_set_is_to_start(set));
    assert_int_equal(nvml_of(set)->state, GPU_SOURCE_OPENING);
    assert_contains(nvml_of(set)->detail, "not asked: opening its library takes longer");
    assert_number(sample_once(set, getpid(), 0).system_ram_bytes, NAN);
    assert_int_equal(count_calls("", 0), 0);

    gpu_set_start(set);
    gpu_set_start(set);
    gpu_set_await_start(set, 600 * NS_PER_SECOND);
    assert_true(gpu_set_has_started(set));
    assert_false(gpu_set_is_to_start(set));
    assert_int_equal(count_calls("nvmlInit", 0), 1);
    assert_int_equal(nvml_of(set)->state, GPU_SOURCE_AVAILABLE);
    assert_string_equal(gpu_set_devices(set, &count)[0].uuid, "GPU-aaaa");
    assert_int_equal(count, 3); /* in the usual order */
    assert_number(sample_once(set, getpid(), 0).devices[0].ram_used_bytes, 1e9);
    gpu_set_close(set);
}

SCENARIO_TEST(a_library_that_was_never_opened_is_not_called)
{
    scenario_write(HANG);
    struct gpu_options options = fake_options();
    options.synchronous = false;
    options.starts_later = true;
    struct gpu_set *set = open_set(&options);
    assert_contains(gpu_set_missing(set), "nvml: not asked: opening its library takes longer");
    gpu_set_close(set);
    assert_int_equal(count_calls("", 0), 0);
}

SCENARIO_TEST(nothing_is_opened_later_where_that_is_quick_or_uuids_were_named)
{
    struct gpu_options options = fake_options();
    options.starts_later = true;
    scenario_write(GPU_A);
    options.uuids = "GPU-aaaa";
    struct gpu_set *set = open_set(&options);
    assert_false(gpu_set_is_to_start(set));
    assert_null(gpu_set_missing(set));
    gpu_set_close(set);
    options.uuids = NULL;
    options.nvml_path = "/nonexistent";
    set = open_set(&options);
    assert_false(gpu_set_is_to_start(set));
    assert_contains(gpu_set_missing(set), "No GPU was found");
    gpu_set_close(set);
}

RUN_TESTS(NULL, NULL)
