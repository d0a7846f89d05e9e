/* A set that reads in the background: what it does when drivers are slow or hang. */
#include "base/clock.h"
#include "scenario.h"

#define GPU_A "gpu GPU-aaaa\nmemory 16000000000 0 1000000000\nutilization 40\n"

/* Ends a hanging call. The thread in it is the last to hold what is shared: it shuts the library
 * down. */
static void end_hang(void)
{
    scenario_write(GPU_A);
    while (!count_calls("nvmlShutdown", 0))
        usleep(1000);
    usleep(20000);
}

SCENARIO_TEST(gives_first_figures_at_once_and_fresh_ones_on_request)
{
    scenario_write(GPU_A);
    struct gpu_options options = fake_options();
    options.synchronous = false;
    options.uuids = "GPU-aaaa"; /* opening it waits for as long as a busy machine may need */
    struct gpu_set *set = open_set(&options);
    assert_number(sample_once(set, getpid(), 0).system_ram_bytes, 1e9);
    scenario_write("gpu GPU-aaaa\nmemory 16000000000 0 2000000000\n");
    gpu_set_refresh(set);
    assert_true(gpu_set_await_all(set, 30));
    struct gpu_sample sample = sample_once(set, getpid(), 0);
    assert_number(sample.system_ram_bytes, 2e9);
    assert_in_range((int)(sample.device_age_seconds * 1000), 0, 30000);
    gpu_set_close(set);
}

SCENARIO_TEST(waits_for_devices_but_only_once_for_one_that_hangs)
{
    scenario_write(GPU_A);
    struct gpu_set *set = open_threaded(fake_options());
    scenario_write("delay_ms nvmlDeviceGetComputeRunningProcesses_v3 600000\n"
                   "gpu GPU-aaaa\nmemory 16000000000 0 2000000000\n");
    gpu_set_refresh(set);
    gpu_set_await(set, 600 * NS_PER_SECOND); /* not for the list of processes */
    assert_number(sample_once(set, getpid(), 0).system_ram_bytes, 2e9);

    scenario_write(HANG GPU_A);
    gpu_set_refresh(set);
    gpu_set_await(set, NS_PER_SECOND / 8);
    gpu_set_refresh(set);
    gpu_set_await(set, 600 * NS_PER_SECOND);
    assert_number(sample_once(set, getpid(), 0).system_ram_bytes, 2e9);
    gpu_set_close(set);
    end_hang();
}

SCENARIO_TEST(lists_at_once_when_that_is_requested)
{
    char text[256];
    scenario_write(GPU_A);
    struct gpu_set *set = open_threaded(fake_options());
    struct gpu_tree tree = tree_of(getpid(), NULL, 0);
    /* In a row: there is no pause between requests. */
    for (int i = 1; i <= 20; i++) {
        snprintf(text, sizeof text, GPU_A "compute %d %d\n", (int)getpid(), i);
        scenario_write(text);
        gpu_set_request_lists(set, &tree, false);
        gpu_set_await_lists(set, 600 * NS_PER_SECOND);
        struct gpu_sample sample;
        gpu_set_sample(set, &tree, &sample);
        assert_number(sample.main_ram_bytes, i);
    }
    gpu_set_close(set);
}

SCENARIO_TEST(waits_for_a_list_but_only_once_for_a_driver_that_hangs)
{
    scenario_write(GPU_A);
    struct gpu_set *set = open_threaded(fake_options());
    struct gpu_tree tree = tree_of(getpid(), NULL, 0);
    scenario_write(HANG GPU_A);
    gpu_set_request_lists(set, &tree, false);
    gpu_set_await_lists(set, NS_PER_SECOND / 1000);
    gpu_set_request_lists(set, &tree, false);
    gpu_set_await_lists(set, 600 * NS_PER_SECOND);
    assert_int_equal(sample_once(set, getpid(), 0).n_devices, 1);
    gpu_set_close(set);
    end_hang();
}

/* With a list that is read for it. */
static struct gpu_sample sample_around_a_list(struct gpu_set *set, pid_t main)
{
    struct gpu_sample sample;
    struct gpu_tree tree = tree_of(main, NULL, 0);
    gpu_set_request_lists(set, &tree, false);
    gpu_set_await_lists(set, 600 * NS_PER_SECOND);
    gpu_set_sample(set, &tree, &sample);
    return sample;
}

/* Has the device read, while no list comes any more. */
static struct gpu_sample sample_without_a_last_list(struct gpu_set *set)
{
    struct gpu_sample sample;
    struct gpu_tree tree = tree_of(getpid(), NULL, 0);
    gpu_set_request_lists(set, &tree, true);
    gpu_set_await_lists(set, NS_PER_SECOND / 1000);
    gpu_set_refresh(set);
    gpu_set_await(set, 600 * NS_PER_SECOND);
    gpu_set_sample(set, &tree, &sample);
    return sample;
}

SCENARIO_TEST(a_list_from_before_the_last_one_says_nothing_of_memory_that_has_changed)
{
    static const char no_lists[] = "delay_ms nvmlDeviceGetComputeRunningProcesses_v3 600000\n";
    char text[256];
    snprintf(text, sizeof text, GPU_A "compute %d 1000000\n", (int)getpid());
    scenario_write(text);
    struct gpu_set *set = open_threaded(fake_options());
    assert_number(sample_once(set, getpid(), 0).main_ram_bytes, 1e6);
    snprintf(text, sizeof text, "%s" GPU_A, no_lists);
    scenario_write(text);
    assert_number(sample_without_a_last_list(set).main_ram_bytes, 1e6);
    snprintf(text, sizeof text, "%sgpu GPU-aaaa\nmemory 16000000000 0 2000000000\n", no_lists);
    scenario_write(text);
    struct gpu_sample sample = sample_without_a_last_list(set);
    assert_number(sample.main_ram_bytes, NAN);
    assert_number(sample.combined_ram_bytes, NAN);
    assert_number(sample.system_ram_bytes, 2e9);
    assert_true(sample.devices[0].lacks_ram);
    assert_contains(missing(set, 0, GPU_PROCESS_RAM), "from before the memory in use has changed");
    assert_non_null(gpu_set_past_missing(set, 0, GPU_PROCESS_RAM));
    gpu_set_close(set);
    end_hang();
}

/* A scenario in which this process holds all the memory in use but 50 MB. */
static void hold(const char *first, long long megabytes)
{
    char text[256];
    snprintf(text, sizeof text,
        "%sgpu GPU-aaaa\nmemory 16000000000 0 %lld000000\ncompute %d %lld000000\n", first,
        megabytes + 50, (int)getpid(), megabytes);
    scenario_write(text);
}

SCENARIO_TEST(processes_are_of_the_moment_of_the_memory_in_use)
{
    hold("", 100);
    struct gpu_set *set = open_threaded(fake_options());
    struct gpu_tree tree = tree_of(getpid(), NULL, 0);
    struct gpu_sample sample;
    gpu_set_sample(set, &tree, &sample);
    for (int i = 0; i < 20; i++) {
        long long megabytes = i % 2 ? 4000 : 100 + i;
        hold("", megabytes);
        /* The list comes with the reading, unless a busy machine made earlier ones too expensive.
         */
        do {
            gpu_set_refresh(set);
            gpu_set_await(set, 600 * NS_PER_SECOND);
            gpu_set_sample(set, &tree, &sample);
            assert_number(sample.system_ram_bytes, (double)(megabytes + 50) * 1e6);
            assert_false(sample.main_ram_bytes > sample.system_ram_bytes);
        } while (sample.main_ram_bytes != (double)megabytes * 1e6);
    }
    gpu_set_close(set);
}

SCENARIO_TEST(what_processes_held_before_memory_was_freed_says_nothing_of_now)
{
    hold("", 4000);
    struct gpu_set *set = open_threaded(fake_options());
    struct gpu_tree tree = tree_of(getpid(), NULL, 0);
    hold("delay_ms nvmlDeviceGetComputeRunningProcesses_v3 600000\n", 100);
    gpu_set_refresh(set);
    gpu_set_await(set, 600 * NS_PER_SECOND);
    struct gpu_sample sample;
    gpu_set_sample(set, &tree, &sample);
    assert_number(sample.main_ram_bytes, NAN);
    assert_number(sample.devices[0].main_ram_bytes, NAN);
    assert_number(sample.combined_ram_bytes, NAN);
    assert_number(sample.system_ram_bytes, 150e6);

    int64_t start_ns = clock_monotonic_ns();
    gpu_set_request_lists(set, &tree, false);
    gpu_set_await_lists(set, NS_PER_SECOND / 20);
    assert_true(clock_monotonic_ns() - start_ns >= NS_PER_SECOND / 20);
    gpu_set_close(set);
    scenario_write(GPU_A);
    while (!count_calls("nvmlShutdown", 0))
        usleep(1000);
    usleep(20000);
}

SCENARIO_TEST(processes_never_hold_more_than_is_in_use_at_that_moment)
{
    char text[256];
    snprintf(text, sizeof text, GPU_A "compute %d 1500000000\n", (int)getpid());
    scenario_write(text);
    struct gpu_set *set = open_threaded(fake_options());
    struct gpu_sample sample = sample_around_a_list(set, getpid());
    assert_number(sample.main_ram_bytes, 1e9);
    assert_number(sample.combined_ram_bytes, 1e9);
    assert_number(sample.devices[0].combined_ram_bytes, 1e9);
    assert_number(sample.descendants_ram_bytes, 0);
    gpu_set_close(set);
}

SCENARIO_TEST(reports_ram_in_use_by_untracked_processes)
{
    char text[256];
    snprintf(text, sizeof text, GPU_A "compute %d 400000000\n", (int)getpid());
    scenario_write(text);
    struct gpu_set *set = open_threaded(fake_options());
    struct gpu_sample sample = sample_around_a_list(set, getpid());
    assert_number(sample.devices[0].untracked_ram_bytes, 6e8);
    assert_false(sample.devices[0].may_have_others);

    snprintf(text, sizeof text, GPU_A "compute %d 400000000\ncompute %d 1\n", (int)getpid(), 1);
    scenario_write(text);
    assert_true(sample_around_a_list(set, getpid()).devices[0].may_have_others);
    gpu_set_close(set);
}

SCENARIO_TEST(sample_requests_figures_when_refresh_was_not_called)
{
    scenario_write(GPU_A);
    struct gpu_set *set = open_threaded(fake_options());
    scenario_write("gpu GPU-aaaa\nmemory 16000000000 0 2000000000\n");
    assert_number(sample_once(set, getpid(), 0).system_ram_bytes, 1e9); /* one tick old */
    assert_true(gpu_set_await_all(set, 30));
    assert_number(sample_once(set, getpid(), 0).system_ram_bytes, 2e9);
    gpu_set_close(set);
}

SCENARIO_TEST(reports_the_ram_of_each_process_and_its_version)
{
    char text[256];
    struct gpu_options options = fake_options();
    options.each_process = true;
    snprintf(text, sizeof text, GPU_A "compute %d 500\n", (int)getpid());
    scenario_write(text);
    struct gpu_set *set = open_set(&options);
    size_t count;
    uint64_t version, before;
    bool some;
    gpu_set_process_ram(set, &count, &before);
    assert_int_equal(count, 0);
    sample_once(set, getpid(), 0);
    const struct gpu_process_ram *held = gpu_set_process_ram(set, &count, &version);
    assert_true(version != before);
    assert_int_equal(count, 1);
    assert_int_equal(held[0].pid, getpid());
    assert_number(held[0].ram_bytes, 500);
    assert_null(gpu_set_process_ram_missing(set, &some));

    scenario_write("code nvmlDeviceGetComputeRunningProcesses_v3 4\n" GPU_A);
    sample_once(set, getpid(), 0);
    held = gpu_set_process_ram(set, &count, &version);
    assert_number(held[0].ram_bytes, NAN);
    assert_non_null(gpu_set_process_ram_missing(set, &some));
    assert_false(some);
    gpu_set_close(set);
}

SCENARIO_TEST(a_driver_that_hangs_delays_neither_samples_nor_close)
{
    scenario_write(GPU_A);
    struct gpu_options options = fake_options();
    options.max_age_seconds = 0.05;
    struct gpu_set *set = open_threaded(options);
    scenario_write(HANG GPU_A);
    int calls = count_calls("", 0);
    gpu_set_refresh(set);
    while (count_calls("", 0) == calls)
        usleep(1000);
    struct gpu_sample sample = sample_once(set, getpid(), 0);
    for (int i = 0; i < 1000 && !isnan(sample.system_ram_bytes); i++) {
        usleep(1000);
        sample = sample_once(set, getpid(), 0);
    }
    assert_number(sample.system_ram_bytes, NAN);
    assert_number(sample.utilization_sum_percent, NAN);
    assert_contains(missing(set, 0, GPU_RAM_USED), "no longer answers");
    assert_false(gpu_set_await_all(set, 0.01));
    gpu_set_close(set);
    assert_int_equal(count_calls("nvmlShutdown", 0), 0);
    end_hang();
}

SCENARIO_TEST(slow_lists_of_processes_leave_device_figures_fresh)
{
    scenario_write(GPU_A "compute 1 5\n");
    struct gpu_set *set = open_threaded(fake_options());
    scenario_write("delay_ms nvmlDeviceGetComputeRunningProcesses_v3 600000\n"
                   "gpu GPU-aaaa\nmemory 16000000000 0 3000000000\n");
    struct gpu_sample sample = {0};
    for (int i = 0; i < 20000 && sample.system_ram_bytes != 3e9; i++) {
        gpu_set_refresh(set);
        usleep(1000);
        sample = sample_once(set, getpid(), 0);
    }
    assert_number(sample.system_ram_bytes, 3e9);
    assert_number(sample.main_ram_bytes, 0); /* of the last list there was */
    gpu_set_close(set);
    end_hang();
}

SCENARIO_TEST(warns_once_about_one_driver_that_fails_while_another_works)
{
    char sysfs[4096];
    snprintf(sysfs, sizeof sysfs, "%s", fixture("gpu-amd-discrete/sys"));
    scenario_write("code nvmlInit 18\n");
    struct gpu_options options = fake_options();
    options.sysfs_root = sysfs;
    struct gpu_set *set = open_threaded(options);
    assert_null(gpu_set_missing(set));
    assert_string_equal(warnings,
        "GPUs of nvml cannot be read: NVIDIA driver and library versions differ (NVML code "
        "18)\n");
    sample_once(set, 1, 0);
    assert_null(strchr(strchr(warnings, '\n') + 1, '\n'));
    gpu_set_close(set);
}

SCENARIO_TEST(without_any_gpu_everything_is_zero_and_there_is_a_reason)
{
    struct gpu_options options = fake_options();
    options.nvml_path = "/nonexistent";
    struct gpu_set *set = open_threaded(options);
    assert_contains(
        gpu_set_missing(set), "No GPU was found, so GPU figures are reported as 0: nvml: ");
    struct gpu_sample sample = sample_once(set, getpid(), 0);
    assert_number(sample.main_ram_bytes, 0);
    assert_number(sample.descendants_ram_bytes, 0);
    assert_number(sample.combined_ram_bytes, 0);
    assert_number(sample.system_ram_bytes, 0);
    assert_number(sample.utilization_sum_percent, 0);
    assert_number(sample.utilization_hardware_percent, 0);
    assert_number(gpu_set_capacity_bytes(set), 0);
    assert_int_equal(sample.n_devices, 0);
    assert_string_equal(warnings, "");
    gpu_set_close(set);
}

SCENARIO_TEST(reads_only_the_requested_brand)
{
    size_t count;
    scenario_write(GPU_A);
    struct gpu_options options = options_with_other_vendors();
    static const struct {
        const char *brand, *uuid;
        size_t count;
    } cases[] = {{NULL, "GPU-aaaa", 3}, {"nvidia", "GPU-aaaa", 1},
        {"amd", "GPU-8f2e1c0d9a7b6c5d", 1}, {"intel", "0000:00:02.0", 1}};
    for (size_t i = 0; i < 4; i++) {
        options.brand = cases[i].brand;
        struct gpu_set *set = open_threaded(options);
        const struct gpu_device *devices = gpu_set_devices(set, &count);
        assert_int_equal(count, cases[i].count);
        assert_string_equal(devices[0].uuid, cases[i].uuid);
        gpu_set_close(set);
    }
    options.brand = "nvidia";
    options.nvml_path = "/nonexistent";
    struct gpu_set *set = open_threaded(options);
    assert_contains(gpu_set_missing(set), "No NVIDIA GPU was found");
    gpu_set_close(set);
}

SCENARIO_TEST(counts_utilization_of_the_selected_gpus_only)
{
    scenario_write(GPU_A "gpu GPU-bbbb\nmemory 100 0 10\nutilization 30\n"
                         "gpu GPU-cccc\nmemory 100 0 10\nutilization 7\n");
    struct gpu_options options = fake_options();
    options.uuids = "GPU-bbbb, 0000:03:00.0";
    struct gpu_set *set = open_threaded(options);
    struct gpu_sample sample = sample_once(set, getpid(), 0);
    assert_number(sample.utilization_sum_percent, 37);
    assert_number(sample.utilization_hardware_percent, 18.5);
    assert_number(sample.system_ram_bytes, 1e9 + 20);
    assert_int_equal(gpu_set_selected_count(set), 2);
    gpu_set_close(set);
}

SCENARIO_TEST(reads_nothing_of_gpus_that_are_left_to_another_tracker)
{
    scenario_write(GPU_A "gpu GPU-bbbb\nmemory 16000000000 0 2000000000\n");
    struct gpu_options options = fake_options();
    options.uuids = "GPU-aaaa";
    struct gpu_set *set = open_set(&options);
    gpu_set_skip_unselected(set, true);
    gpu_set_refresh(set);
    struct gpu_sample sample = sample_once(set, getpid(), 0);
    assert_number(sample.devices[0].ram_used_bytes, 1e9);
    assert_true(isnan(sample.devices[1].ram_used_bytes));
    size_t count;
    assert_string_equal(gpu_set_devices(set, &count)[1].missing[GPU_RAM_USED],
        "read by the tracker of another rank (one tracker per machine)");
    gpu_set_skip_unselected(set, false);
    gpu_set_refresh(set);
    sample = sample_once(set, getpid(), 0);
    assert_number(sample.devices[1].ram_used_bytes, 2e9);
    gpu_set_close(set);
}

SCENARIO_TEST(refuses_unknown_uuids_and_brands)
{
    scenario_write(GPU_A "gpu GPU-bbbb\nmemory 100 0 10\n");
    struct gpu_set *set = NULL;
    struct gput_error error;
    struct gpu_options options = fake_options();
    options.uuids = "GPU-aaaa,GPU-zzzz";
    assert_int_equal(gpu_set_open(&options, &set, &error), GPUT_ERROR_NOT_FOUND);
    assert_null(set);
    assert_string_equal(error.message,
        "GPU UUID of GPU-zzzz is not valid. Available UUIDs are: GPU-aaaa, GPU-bbbb");
    options.uuids = " , ";
    assert_int_equal(gpu_set_open(&options, &set, &error), GPUT_ERROR_INVALID);
    assert_contains(error.message, "list of GPU UUIDs is empty");
    options.uuids = NULL;
    options.brand = "voodoo";
    assert_int_equal(gpu_set_open(&options, &set, &error), GPUT_ERROR_INVALID);
    assert_string_equal(
        error.message, "\"voodoo\" is not a valid GPU brand. Valid values are amd, intel, nvidia");
}

RUN_TESTS(NULL, NULL)
