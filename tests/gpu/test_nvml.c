/* NVIDIA GPUs, by way of a fake libnvidia-ml.so.1. */
#include "scenario.h"

#include <sys/wait.h>

/* Main is this process, the descendant our parent: both exist. */
#define MAIN getpid()
#define CHILD getppid()

static char text[8192];

/* Writes a scenario; the format's arguments are mostly pids. */
#define SCENARIO(...) (snprintf(text, sizeof text, __VA_ARGS__), scenario_write(text))

#define GPU_A                                                                                      \
    "gpu GPU-aaaa\nname NVIDIA A\npci 0:1:0\nmemory 16000000000 300000000 1000000000\n"            \
    "utilization 40\npower_mw 123500\nenergy_mj 5000500\n"
#define GPU_B                                                                                      \
    "gpu GPU-bbbb\nname NVIDIA B\npci 0:2:0\nmemory 8000000000 0 500000000\n"                      \
    "utilization 20\npower_mw 50000\nenergy_mj 1000\n"

static void sums_all_gpus_and_attributes_their_use(void **state)
{
    (void)state;
    SCENARIO(GPU_A "compute %d 600000000\n" GPU_B "compute %d 100000000\ncompute %d 250000000\n",
        MAIN, MAIN, CHILD);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(set, &count);
    assert_int_equal(count, 2);
    assert_string_equal(devices[0].uuid, "GPU-aaaa");
    assert_string_equal(devices[0].name, "NVIDIA A");
    assert_string_equal(devices[1].pci_address, "0000:02:00.0");
    assert_number(gpu_set_capacity_bytes(set), 24e9);
    assert_null(gpu_set_missing(set));

    struct gpu_sample sample = sample_once(set, MAIN, CHILD);
    assert_number(sample.main_ram_bytes, 700e6);
    assert_number(sample.descendants_ram_bytes, 250e6);
    assert_number(sample.combined_ram_bytes, 950e6);
    assert_number(sample.system_ram_bytes, 1500e6);
    assert_number(sample.utilization_sum_percent, 60);
    assert_number(sample.utilization_hardware_percent, 30);
    assert_int_equal(sample.n_devices, 2);
    assert_number(sample.devices[0].power_watts, 123.5);
    assert_number(sample.devices[0].energy_joules, 5000.5);
    assert_number(sample.devices[1].main_ram_bytes, 100e6);
    assert_number(sample.unattributed_ram_bytes, 0);
    gpu_set_close(set);
    assert_string_equal(warnings, "");
}

static void reads_the_lists_of_old_and_new_drivers(void **state)
{
    (void)state;
    static const char *const variants[] = {
        "fake-nvml", "fake-nvml-v1", "fake-nvml-v2", "fake-nvml-r535", "fake-nvml-minimal"};
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        SCENARIO("gpu GPU-aaaa\nmemory 16000000000 1000 5000000\n"
                 "compute %d 1000000\ncompute 1 77\ncompute %d 3000000\n",
            MAIN, CHILD);
        struct gpu_options options = fake_options();
        options.nvml_path = fake_library(variants[i]);
        struct gpu_set *set = open_set(&options);
        struct gpu_sample sample = sample_once(set, MAIN, CHILD);
        assert_number(sample.main_ram_bytes, 1e6);
        assert_number(sample.descendants_ram_bytes, 3e6);
        gpu_set_close(set);
    }
}

static void works_without_missing_functions(void **state)
{
    (void)state;
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

static void falls_back_to_older_versions_of_a_call(void **state)
{
    (void)state;
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

static void memory_that_is_not_available_is_missing_not_zero(void **state)
{
    (void)state;
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

static void a_process_in_two_lists_counts_once_with_the_larger_figure(void **state)
{
    (void)state;
    SCENARIO(GPU_A "compute %d 500\ngraphics %d 800\nmps %d na\n", MAIN, MAIN, MAIN);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    assert_number(sample_once(set, MAIN, 0).main_ram_bytes, 800);
    gpu_set_close(set);
}

static void a_list_that_grows_between_calls_is_read(void **state)
{
    (void)state;
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

static void a_list_that_never_fits_is_missing_and_ends(void **state)
{
    (void)state;
    SCENARIO("code nvmlDeviceGetComputeRunningProcesses_v3 7\n" GPU_A);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    assert_number(sample_once(set, MAIN, 0).main_ram_bytes, NAN);
    assert_contains(missing(set, 0, GPU_PROCESS_RAM), "grew faster");
    gpu_set_close(set);
}

static void reads_each_process_utilization(void **state)
{
    (void)state;
    SCENARIO(GPU_A "compute %d 10\ncompute %d 10\ncompute 1 10\n"
                   "sample %d 1000 30\nsample %d 2000 35\nsample %d 2000 400\nsample 77 2000 9\n"
                   "sample 1 2000 6\n",
        MAIN, CHILD, MAIN, MAIN, CHILD);
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

static void an_unsupported_figure_is_missing_and_is_not_read_again(void **state)
{
    (void)state;
    SCENARIO(GPU_A "code nvmlDeviceGetUtilizationRates 3\n"
                   "code nvmlDeviceGetPowerUsage 3\n"
                   "code nvmlDeviceGetTotalEnergyConsumption 3\n" GPU_B);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    assert_number(sample.devices[0].utilization_percent, NAN);
    assert_number(sample.devices[0].power_watts, NAN);
    assert_number(sample.devices[0].energy_joules, NAN);
    assert_number(sample.devices[0].ram_used_bytes, 1e9);
    assert_number(sample.utilization_sum_percent, 20);
    assert_number(sample.utilization_hardware_percent, 20);
    assert_contains(missing(set, 0, GPU_UTILIZATION), "not supported by this GPU");
    assert_string_equal(missing(set, 0, GPU_RAM_USED), "");
    int asked = count_calls("nvmlDeviceGetPowerUsage", 0);
    sample_once(set, MAIN, 0);
    assert_int_equal(count_calls("nvmlDeviceGetPowerUsage", 0), asked + 1); /* the other GPU */
    gpu_set_close(set);
}

static void unsupported_memory_is_missing_for_that_gpu_only(void **state)
{
    (void)state;
    SCENARIO(GPU_A "code nvmlDeviceGetMemoryInfo 3\ncode nvmlDeviceGetMemoryInfo_v2 3\n" GPU_B);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    assert_number(sample.devices[0].ram_used_bytes, NAN);
    assert_number(sample.system_ram_bytes, 500e6);
    assert_number(gpu_set_capacity_bytes(set), 8e9);
    assert_contains(missing(set, 0, GPU_RAM_USED), "not supported");
    gpu_set_close(set);
}

static void energy_of_the_module_replaces_that_of_the_gpu(void **state)
{
    (void)state;
    SCENARIO(GPU_A "code nvmlDeviceGetTotalEnergyConsumption 3\nmodule_energy_mj 7500\n");
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    assert_number(sample_once(set, MAIN, 0).devices[0].energy_joules, 7.5);
    gpu_set_close(set);
}

static void an_energy_counter_that_was_reset_is_returned_unchanged(void **state)
{
    (void)state;
    SCENARIO(GPU_A);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    assert_number(sample_once(set, MAIN, 0).devices[0].energy_joules, 5000.5);
    SCENARIO(GPU_A "energy_mj 250\n");
    assert_number(sample_once(set, MAIN, 0).devices[0].energy_joules, 0.25);
    gpu_set_close(set);
}

static void a_lost_gpu_has_no_figures_and_one_warning(void **state)
{
    (void)state;
    SCENARIO(GPU_A "compute %d 100\n" GPU_B "compute %d 30\n", MAIN, MAIN);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    assert_number(sample_once(set, MAIN, 0).main_ram_bytes, 130);
    SCENARIO(GPU_A "code * 15\n" GPU_B "compute %d 30\n", MAIN);
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    for (int i = 0; i < 5; i++)
        sample = sample_once(set, MAIN, 0);
    assert_int_equal(sample.n_devices, 2);
    assert_number(sample.devices[0].ram_used_bytes, NAN);
    assert_number(sample.main_ram_bytes, 30);
    assert_number(sample.system_ram_bytes, 500e6);
    assert_number(sample.utilization_sum_percent, 20);
    assert_contains(missing(set, 0, GPU_RAM_USED), "lost");
    assert_string_equal(
        warnings, "GPU GPU-aaaa (NVIDIA A) was lost: its figures are missing from here on\n");
    gpu_set_close(set);
}

static void a_returning_gpu_is_read_again(void **state)
{
    (void)state;
    SCENARIO(GPU_A);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    SCENARIO(GPU_A "code * 999\n");
    assert_number(sample_once(set, MAIN, 0).system_ram_bytes, NAN);
    assert_contains(missing(set, 0, GPU_UTILIZATION), "unknown error");
    SCENARIO(GPU_A);
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    for (int i = 0; i < 3; i++)
        sample = sample_once(set, MAIN, 0);
    assert_number(sample.system_ram_bytes, 1e9);
    assert_string_equal(missing(set, 0, GPU_UTILIZATION), "");
    gpu_set_close(set);
}

static void an_unknown_error_of_one_figure_makes_only_that_missing(void **state)
{
    (void)state;
    SCENARIO(GPU_A "code nvmlDeviceGetPowerUsage 999\n");
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    assert_number(sample.devices[0].power_watts, NAN);
    assert_number(sample.devices[0].energy_joules, 5000.5);
    assert_contains(missing(set, 0, GPU_POWER), "unknown error");
    gpu_set_close(set);
}

static void readings_back_off_after_errors(void **state)
{
    (void)state;
    SCENARIO(GPU_A);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    SCENARIO(GPU_A "code nvmlDeviceGetMemoryInfo_v2 999\n");
    int before = count_calls("nvmlDeviceGetMemoryInfo_v2", 0);
    for (int i = 0; i < 100; i++)
        sample_once(set, MAIN, 0);
    assert_in_range(count_calls("nvmlDeviceGetMemoryInfo_v2", 0) - before, 3, 10);
    gpu_set_close(set);
}

static void a_stale_handle_is_renewed(void **state)
{
    (void)state;
    SCENARIO("generation 1\n" GPU_A);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    SCENARIO("generation 2\n" GPU_A);
    sample_once(set, MAIN, 0);
    assert_number(sample_once(set, MAIN, 0).system_ram_bytes, 1e9);
    gpu_set_close(set);
}

static void a_gpu_that_the_driver_no_longer_knows_is_lost(void **state)
{
    (void)state;
    SCENARIO(GPU_B GPU_A);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    sample_once(set, MAIN, 0);
    SCENARIO("generation 2\n" GPU_B);
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    for (int i = 0; i < 5; i++)
        sample = sample_once(set, MAIN, 0);
    assert_number(sample.system_ram_bytes, 500e6);
    assert_string_equal(
        warnings, "GPU GPU-aaaa (NVIDIA A) was lost: its figures are missing from here on\n");
    gpu_set_close(set);
}

static void a_gpu_without_permission_is_skipped(void **state)
{
    (void)state;
    SCENARIO(GPU_A GPU_B "code nvmlDeviceGetHandleByIndex 4\n");
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    size_t count;
    gpu_set_devices(set, &count);
    assert_int_equal(count, 1);
    assert_number(sample_once(set, MAIN, 0).utilization_sum_percent, 40);
    const struct gpu_source_status *nvml = gpu_set_sources(set, &count);
    assert_int_equal(nvml->state, GPU_SOURCE_PARTIAL);
    assert_contains(nvml->detail, "1 of 2 GPUs cannot be used");
    assert_contains(nvml->detail, "denies permission");
    gpu_set_close(set);
}

static void a_list_without_permission_is_missing(void **state)
{
    (void)state;
    SCENARIO(GPU_A "code nvmlDeviceGetComputeRunningProcesses_v3 4\n" GPU_B "compute %d 5\n", MAIN);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    assert_number(sample.devices[0].main_ram_bytes, NAN);
    assert_number(sample.main_ram_bytes, 5);
    assert_contains(missing(set, 0, GPU_PROCESS_RAM), "denies permission");
    gpu_set_close(set);
}

static void a_failed_start_gives_reason_and_remedy(void **state)
{
    (void)state;
    static const struct {
        int code;
        enum gpu_source_state state;
        double sum;
        const char *detail, *remedy;
    } cases[] = {
        {9, GPU_SOURCE_ABSENT, 0, "driver is not loaded", "modprobe nvidia"},
        {18, GPU_SOURCE_FAILED, NAN, "driver and library versions differ", "restart the machine"},
        {12, GPU_SOURCE_FAILED, NAN, "library of the NVIDIA driver is missing", "install"},
        {4, GPU_SOURCE_FAILED, NAN, "denies permission", "/dev/nvidia"},
        {17, GPU_SOURCE_FAILED, NAN, "blocks the GPU", "/dev/nvidia"},
        {999, GPU_SOURCE_FAILED, NAN, "unknown error", "restart the container"},
        {15, GPU_SOURCE_FAILED, NAN, "lost", "dmesg"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCENARIO("code nvmlInit %d\n" GPU_A, cases[i].code);
        struct gpu_options options = fake_options();
        struct gpu_set *set = open_set(&options);
        size_t count;
        const struct gpu_source_status *nvml = gpu_set_sources(set, &count);
        assert_int_equal(nvml->state, cases[i].state);
        assert_contains(nvml->detail, cases[i].detail);
        assert_contains(nvml->remedy, cases[i].remedy);
        assert_contains(gpu_set_missing(set), cases[i].detail);
        struct gpu_sample sample = sample_once(set, MAIN, 0);
        assert_number(sample.main_ram_bytes, cases[i].sum);
        assert_number(sample.utilization_hardware_percent, cases[i].sum);
        gpu_set_close(set);
    }
}

static void mig_instances_are_gpus_of_their_own(void **state)
{
    (void)state;
    SCENARIO(GPU_A "compute 1 1\npower_mw 70000\nenergy_mj 5000\nmig MIG-1\nmemory 5000 0 "
                   "1200\ncompute %d 700\n"
                   "mig MIG-2\nmemory 5000 0 300\n" GPU_B,
        MAIN);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(set, &count);
    assert_int_equal(count, 3);
    assert_string_equal(devices[0].uuid, "MIG-1");
    assert_true(devices[0].mig);
    assert_string_equal(devices[1].pci_address, "0000:01:00.0");
    assert_string_equal(devices[2].uuid, "GPU-bbbb");
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    assert_number(sample.devices[0].main_ram_bytes, 700);
    assert_number(sample.system_ram_bytes, 500001500);
    assert_number(sample.utilization_sum_percent, 20);
    assert_contains(missing(set, 0, GPU_UTILIZATION), "MIG");
    assert_contains(missing(set, 0, GPU_POWER), "MIG");
    assert_number(sample.devices[0].main_sm_percent, NAN);
    /* The card's, once. */
    assert_true(devices[0].is_card_leader && !devices[1].is_card_leader);
    assert_number(sample.devices[0].power_watts, NAN);
    assert_number(sample.devices[0].card_power_watts, 70);
    assert_number(sample.devices[0].card_energy_joules, 5);
    assert_number(sample.devices[0].card_ram_used_bytes, 1000000000);
    assert_number(sample.devices[1].card_power_watts, NAN);
    gpu_set_close(set);
}

static void unified_memory_is_system_ram(void **state)
{
    (void)state;
    char procfs[4096];
    snprintf(procfs, sizeof procfs, "%s", fixture("gpu-namespaces/proc"));
    static const char *const scenarios[] = {
        "gpu GPU-a\nmemory 0 0 0\nutilization 9\n",
        "gpu GPU-a\nname NVIDIA GB10\ncode nvmlDeviceGetMemoryInfo 3\n"
        "code nvmlDeviceGetMemoryInfo_v2 3\n",
    };
    for (size_t i = 0; i < 2; i++) {
        scenario_write(scenarios[i]);
        struct gpu_options options = fake_options();
        options.procfs_root = procfs;
        struct gpu_set *set = open_set(&options);
        assert_number(gpu_set_capacity_bytes(set), 128e6 * 1024);
        assert_number(sample_once(set, 30, 0).system_ram_bytes, 28e6 * 1024);
        gpu_set_close(set);
    }
}

static void pids_of_other_namespaces_are_matched_or_unattributed(void **state)
{
    (void)state;
    char procfs[4096];
    snprintf(procfs, sizeof procfs, "%s", fixture("gpu-namespaces/proc"));
    /* 8 is what 5007 is called inside; 30 is a process that is not tracked; 44 is no process. */
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

static void a_forked_child_uses_nothing_of_its_parent(void **state)
{
    (void)state;
    SCENARIO(GPU_A);
    struct gpu_options options = fake_options();
    options.synchronous = false;
    struct gpu_set *set = open_set(&options);
    pid_t child = fork();
    if (child == 0) {
        struct gpu_sample sample = sample_once(set, getpid(), 0);
        bool right = isnan(sample.system_ram_bytes) && sample.n_devices == 1 &&
                     strstr(missing(set, 0, GPU_RAM_USED), "fork");
        gpu_set_close(set);
        /* What the parent's threads hold is left as it is: no leak of this program's. */
        execlp(right ? "true" : "false", "", (char *)NULL);
        _exit(2);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(count_calls("", child), 0);
    assert_number(sample_once(set, MAIN, 0).system_ram_bytes, 1e9);
    gpu_set_close(set);
}

static void a_suspended_gpu_is_only_resumed_when_named(void **state)
{
    (void)state;
    char sysfs[4096], procfs[4096];
    snprintf(sysfs, sizeof sysfs, "%s", fixture("gpu-nvidia-asleep/sys"));
    snprintf(procfs, sizeof procfs, "%s", fixture("gpu-nvidia-asleep/proc"));
    SCENARIO("gpu GPU-11111111-2222-3333-4444-555555555555\nmemory 4000 0 100\n");
    struct gpu_options options = fake_options();
    options.sysfs_root = sysfs;
    options.procfs_root = procfs;
    struct gpu_set *set = open_set(&options);
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(set, &count);
    assert_int_equal(count, 1);
    assert_string_equal(devices[0].uuid, "GPU-11111111-2222-3333-4444-555555555555");
    assert_string_equal(devices[0].name, "NVIDIA GeForce RTX 3050 Laptop GPU");
    assert_number(sample_once(set, MAIN, 0).system_ram_bytes, NAN);
    assert_contains(missing(set, 0, GPU_RAM_USED), "asleep");
    assert_int_equal(gpu_set_sources(set, &count)->state, GPU_SOURCE_SUSPENDED);
    assert_int_equal(count_calls("nvmlInit", 0), 0);
    gpu_set_close(set);

    options.uuids = "GPU-11111111-2222-3333-4444-555555555555";
    set = open_set(&options);
    assert_number(sample_once(set, MAIN, 0).system_ram_bytes, 100);
    gpu_set_close(set);
}

static void a_driver_that_does_not_start_has_no_gpus(void **state)
{
    (void)state;
    char procfs[4096];
    size_t count;
    snprintf(procfs, sizeof procfs, "%s", fixture("gpu-nvidia-asleep/proc"));
    SCENARIO("code nvmlInit 999\n");
    struct gpu_options options = fake_options();
    options.procfs_root = procfs;
    struct gpu_set *set = open_set(&options);
    gpu_set_devices(set, &count);
    assert_int_equal(count, 0);
    gpu_set_close(set);
}

/* Puts an NVIDIA GPU with that power state on a PCI bus below `root`. */
static void write_pci_gpu(const char *root, const char *power_state)
{
    char command[1024];
    snprintf(command, sizeof command,
        "d=%s/bus/pci/devices/0000:01:00.0 && mkdir -p $d/power && echo 0x10de >$d/vendor && "
        "echo 0x030000 >$d/class && echo %s >$d/power/runtime_status",
        root, power_state);
    assert_int_equal(system(command), 0);
}

static void a_resumed_gpu_is_added(void **state)
{
    (void)state;
    char sysfs[128], command[160];
    snprintf(sysfs, sizeof sysfs, "%s/sys", scenario_folder);
    snprintf(command, sizeof command, "rm -r %s", sysfs);
    write_pci_gpu(sysfs, "suspended");
    SCENARIO(GPU_A "compute %d 10\n", MAIN);
    struct gpu_options options = fake_options();
    options.sysfs_root = sysfs;
    struct gpu_set *set = open_set(&options);
    assert_contains(gpu_set_missing(set), "asleep");
    assert_number(sample_once(set, MAIN, 0).main_ram_bytes, NAN);
    write_pci_gpu(sysfs, "active");
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    assert_int_equal(sample.n_devices, 1);
    assert_number(sample.main_ram_bytes, 10);
    gpu_set_close(set);
    assert_int_equal(system(command), 0);
}

static void a_library_that_is_not_nvml_is_refused(void **state)
{
    (void)state;
    struct gpu_options options = fake_options();
    options.nvml_path = getenv("FAKE_NVML_SCENARIO");
    SCENARIO("not a library\n");
    struct gpu_set *set = open_set(&options);
    assert_contains(gpu_set_missing(set), "cannot load");
    gpu_set_close(set);
    options.nvml_path = "/nonexistent/libnvidia-ml.so.1";
    set = open_set(&options);
    assert_contains(gpu_set_missing(set), "there is no file /nonexistent/libnvidia-ml.so.1");
    assert_number(sample_once(set, MAIN, 0).system_ram_bytes, 0);
    gpu_set_close(set);
    options.nvml_path = "libz.so.1";
    set = open_set(&options);
    assert_contains(gpu_set_missing(set), "no NVIDIA management library");
    gpu_set_close(set);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scenario_setup, scenario_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sums_all_gpus_and_attributes_their_use),
        TEST(reads_the_lists_of_old_and_new_drivers),
        TEST(works_without_missing_functions),
        TEST(falls_back_to_older_versions_of_a_call),
        TEST(memory_that_is_not_available_is_missing_not_zero),
        TEST(a_process_in_two_lists_counts_once_with_the_larger_figure),
        TEST(a_list_that_grows_between_calls_is_read),
        TEST(a_list_that_never_fits_is_missing_and_ends),
        TEST(reads_each_process_utilization),
        TEST(an_unsupported_figure_is_missing_and_is_not_read_again),
        TEST(unsupported_memory_is_missing_for_that_gpu_only),
        TEST(energy_of_the_module_replaces_that_of_the_gpu),
        TEST(an_energy_counter_that_was_reset_is_returned_unchanged),
        TEST(a_lost_gpu_has_no_figures_and_one_warning),
        TEST(a_returning_gpu_is_read_again),
        TEST(an_unknown_error_of_one_figure_makes_only_that_missing),
        TEST(readings_back_off_after_errors),
        TEST(a_stale_handle_is_renewed),
        TEST(a_gpu_that_the_driver_no_longer_knows_is_lost),
        TEST(a_gpu_without_permission_is_skipped),
        TEST(a_list_without_permission_is_missing),
        TEST(a_failed_start_gives_reason_and_remedy),
        TEST(mig_instances_are_gpus_of_their_own),
        TEST(unified_memory_is_system_ram),
        TEST(pids_of_other_namespaces_are_matched_or_unattributed),
        TEST(a_forked_child_uses_nothing_of_its_parent),
        TEST(a_suspended_gpu_is_only_resumed_when_named),
        TEST(a_driver_that_does_not_start_has_no_gpus),
        TEST(a_resumed_gpu_is_added),
        TEST(a_library_that_is_not_nvml_is_refused),
    };
    return cmocka_run_group_tests_name("gpu/nvml", tests, NULL, NULL);
}
