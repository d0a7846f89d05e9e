/* What the lists of the NVIDIA driver say of processes. */
#include "nvml_scenario.h"

#include <unistd.h>

SCENARIO_TEST(reads_the_lists_of_old_and_new_drivers)
{
    static const char *const variants[] = {
        "fake-nvml", "fake-nvml-v1", "fake-nvml-v2", "fake-nvml-r535", "fake-nvml-minimal"};
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        SCENARIO("gpu GPU-aaaa\nmemory 16000000000 1000 5000000\n"
                 "compute %d 1000000\ncompute %d 77\ncompute %d 3000000\n",
            MAIN, STRANGER, CHILD);
        struct gpu_options options = fake_options();
        options.nvml_path = fake_library(variants[i]);
        struct gpu_set *set = open_set(&options);
        struct gpu_sample sample = sample_once(set, MAIN, CHILD);
        assert_number(sample.main_ram_bytes, 1e6);
        assert_number(sample.descendants_ram_bytes, 3e6);
        gpu_set_close(set);
    }
}

SCENARIO_TEST(works_without_missing_functions)
{
    SCENARIO("gpu GPU-aaaa\nmemory 1000 10 100\nutilization 5\ncompute %d 7\n", MAIN);
    struct gpu_options options = fake_options();
    options.nvml_path = fake_library("fake-nvml-minimal");
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    assert_number(sample.system_ram_bytes, 110); /* the old call counts what is reserved */
    assert_number(sample.utilization_sum_percent, 5);
    assert_number(sample.devices[0].power_watts, NAN);
    assert_number(sample.devices[0].main_sm_percent, NAN);
    assert_contains(missing(set, 0, GPU_POWER), "not supported");
    assert_contains(missing(set, 0, GPU_PROCESS_UTILIZATION), "not supported");
    gpu_set_close(set);
}

SCENARIO_TEST(falls_back_to_older_versions_of_a_call)
{
    SCENARIO("code nvmlDeviceGetComputeRunningProcesses_v3 13\n"
             "code nvmlDeviceGetComputeRunningProcesses_v2 25\n"
             "code nvmlDeviceGetMemoryInfo_v2 25\n" GPU_A "compute %d 1000000\n",
        MAIN);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    assert_number(sample.main_ram_bytes, 1e6);
    assert_number(sample.system_ram_bytes, 1300e6);
    int refused = count_calls("nvmlDeviceGetComputeRunningProcesses_v3", 0);
    sample_once(set, MAIN, 0);
    assert_int_equal(count_calls("nvmlDeviceGetComputeRunningProcesses_v3", 0), refused);
    gpu_set_close(set);
}

SCENARIO_TEST(memory_that_is_not_available_is_missing_not_zero)
{
    SCENARIO(GPU_A "compute %d na\n", MAIN);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, MAIN, CHILD);
    assert_number(sample.main_ram_bytes, NAN);
    assert_number(sample.descendants_ram_bytes, 0);
    assert_number(sample.combined_ram_bytes, NAN);
    assert_number(sample.system_ram_bytes, 1e9);
    assert_contains(missing(set, 0, GPU_PROCESS_RAM), "does not report it");
    gpu_set_close(set);
}

SCENARIO_TEST(a_process_in_two_lists_counts_once_with_the_larger_figure)
{
    SCENARIO(GPU_A "compute %d 500\ngraphics %d 800\nmps %d na\n", MAIN, MAIN, MAIN);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    assert_number(sample_once(set, MAIN, 0).main_ram_bytes, 800);
    gpu_set_close(set);
}

SCENARIO_TEST(a_list_that_grows_between_calls_is_read)
{
    int length = snprintf(text, sizeof text, "grow 60\n" GPU_A);
    for (int i = 0; i < 200; i++)
        length += snprintf(
            text + length, sizeof text - (size_t)length, "compute %d 10\n", i == 199 ? MAIN : 1);
    scenario_write(text);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    assert_number(sample_once(set, MAIN, 0).main_ram_bytes, 10);
    gpu_set_close(set);
}

SCENARIO_TEST(a_list_that_never_fits_is_missing_and_ends)
{
    SCENARIO("code nvmlDeviceGetComputeRunningProcesses_v3 7\n" GPU_A);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    assert_number(sample_once(set, MAIN, 0).main_ram_bytes, NAN);
    assert_contains(missing(set, 0, GPU_PROCESS_RAM), "grew faster");
    gpu_set_close(set);
}

SCENARIO_TEST(reads_each_process_utilization)
{
    SCENARIO(GPU_A "compute %d 10\ncompute %d 10\ncompute %d 10\n"
                   "sample %d 1000 30\nsample %d 2000 35\nsample %d 2000 400\nsample 77 2000 9\n"
                   "sample %d 2000 6\n",
        MAIN, CHILD, STRANGER, MAIN, MAIN, CHILD, STRANGER);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, MAIN, CHILD);
    assert_number(sample.devices[0].main_sm_percent, 35);       /* the newer sample */
    assert_number(sample.devices[0].descendants_sm_percent, 0); /* 400 % cannot be */
    assert_number(sample.devices[0].all_sm_percent, 35 + 6);
    /* No newer sample yet: what was reported stands. */
    sample = sample_once(set, MAIN, CHILD);
    assert_number(sample.devices[0].main_sm_percent, 35);
    gpu_set_close(set);
}

/* As NVIDIA's driver 580 answers on an H200: it has no sample of a process that used nothing. */
SCENARIO_TEST(a_process_without_a_sample_is_idle_when_another_has_one)
{
    SCENARIO(GPU_A "compute %d 10\ncompute %d 10\nsample %d 1000000 99\n", MAIN, CHILD, MAIN);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, MAIN, CHILD);
    assert_number(sample.devices[0].main_sm_percent, 99);
    assert_number(sample.devices[0].descendants_sm_percent, 0);
    SCENARIO(GPU_A "compute %d 10\ncompute %d 10\nsample %d 1200000 98\n", MAIN, CHILD, CHILD);
    sample = sample_once(set, MAIN, CHILD);
    assert_number(sample.devices[0].main_sm_percent, 0);
    assert_number(sample.devices[0].descendants_sm_percent, 98);
    /* Samples have come 200 ms apart: after 300 ms without one both are idle. */
    usleep(350000);
    sample = sample_once(set, MAIN, CHILD);
    assert_number(sample.devices[0].main_sm_percent, 0);
    assert_number(sample.devices[0].descendants_sm_percent, 0);
    gpu_set_close(set);
}

SCENARIO_TEST(a_list_without_permission_is_missing)
{
    SCENARIO(GPU_A "code nvmlDeviceGetComputeRunningProcesses_v3 4\n" GPU_B "compute %d 5\n", MAIN);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    assert_number(sample.devices[0].main_ram_bytes, NAN);
    assert_number(sample.main_ram_bytes, 5);
    assert_contains(missing(set, 0, GPU_PROCESS_RAM), "denies permission");
    gpu_set_close(set);
}

SCENARIO_TEST(pids_of_other_namespaces_are_matched_or_unattributed)
{
    char procfs[4096];
    snprintf(procfs, sizeof procfs, "%s", fixture("gpu-namespaces/proc"));
    /* 8 is what 5007 is called inside; 30 is a process that is not tracked; 44 is not a process. */
    SCENARIO(GPU_A "compute 8 100\ncompute 30 1000\ncompute 44 5\ncompute 45 na\n");
    struct gpu_options options = fake_options();
    options.procfs_root = procfs;
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, 5000, 5007);
    assert_number(sample.main_ram_bytes, 0);
    assert_number(sample.descendants_ram_bytes, 100);
    assert_number(sample.unattributed_ram_bytes, 5);
    assert_int_equal(sample.n_unattributed, 2);
    assert_string_equal(warnings, "");
    sample_once(set, 5000, 5007);
    sample_once(set, 5000, 5007);
    sample_once(set, 5000, 5007);
    assert_contains(warnings, "nvml lists 2 process(es) that are not in ");
    assert_null(strstr(strchr(warnings, '\n') + 1, "nvml lists"));
    gpu_set_close(set);
}

SCENARIO_TEST(unknown_pids_are_reported_next_to_gpus_of_another_driver)
{
    char sysfs[4096];
    snprintf(sysfs, sizeof sysfs, "%s", fixture("gpu-i915/sys"));
    SCENARIO(GPU_A "compute 4194304 5\n");
    struct gpu_options options = fake_options();
    options.sysfs_root = sysfs;
    struct gpu_set *set = open_set(&options);
    for (int i = 0; i < 4; i++) {
        struct gpu_sample sample = sample_once(set, MAIN, 0);
        assert_int_equal(sample.n_devices, 2);
        assert_int_equal(sample.n_unattributed, 1);
    }
    assert_contains(warnings, "nvml lists 1 process(es) that are not in ");
    gpu_set_close(set);
}

SCENARIO_TEST(processes_that_ended_are_not_those_of_another_namespace)
{
    SCENARIO(GPU_A "compute 4194304 100\ncompute %d 1000\n", MAIN);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    sample_once(set, MAIN, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(sample_once(set, 0, 0).n_unattributed, 1);
    assert_string_equal(warnings, "");
    gpu_set_close(set);
}

RUN_TESTS(start_others, end_others)
