/* NVIDIA GPUs, by way of a fake libnvidia-ml.so.1. */
#include "nvml_scenario.h"

#include <sys/wait.h>

SCENARIO_TEST(sums_all_gpus_and_attributes_their_use)
{
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

SCENARIO_TEST(energy_of_the_module_replaces_that_of_the_gpu)
{
    SCENARIO(GPU_A "code nvmlDeviceGetTotalEnergyConsumption 3\nmodule_energy_mj 7500\n");
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    assert_number(sample_once(set, MAIN, 0).devices[0].energy_joules, 7.5);
    gpu_set_close(set);
}

/* The call for power gives the mean of a second on newer GPUs; their field that of the moment. */
SCENARIO_TEST(power_is_that_of_the_moment_where_the_driver_has_it)
{
    SCENARIO(GPU_A "instant_power_mw 200000\n" GPU_B);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    assert_number(sample.devices[0].power_watts, 200);
    assert_number(sample.devices[1].power_watts, 50);
    gpu_set_close(set);
}

SCENARIO_TEST(an_energy_counter_that_was_reset_is_returned_unchanged)
{
    SCENARIO(GPU_A);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    assert_number(sample_once(set, MAIN, 0).devices[0].energy_joules, 5000.5);
    SCENARIO(GPU_A "energy_mj 250\n");
    assert_number(sample_once(set, MAIN, 0).devices[0].energy_joules, 0.25);
    gpu_set_close(set);
}

SCENARIO_TEST(gpus_that_do_not_fit_are_said_to_be_left_out)
{
    size_t length = 0, count;
    for (int i = 0; i < GPU_MAX_DEVICES + 2; i++)
        length += (size_t)snprintf(
            text + length, sizeof text - length, "gpu GPU-%d\nmemory 1000 0 10\n", i);
    scenario_write(text);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    gpu_set_devices(set, &count);
    assert_int_equal(count, GPU_MAX_DEVICES);
    assert_contains(warnings, "2 GPUs are skipped");
    const struct gpu_source_status *sources = gpu_set_sources(set, &count);
    assert_int_equal(sources[0].state, GPU_SOURCE_PARTIAL);
    assert_contains(sources[0].detail, "2 GPUs are skipped");
    sample_once(set, MAIN, 0);
    assert_string_equal(strstr(warnings, "\n"), "\n"); /* once */
    gpu_set_close(set);
}

SCENARIO_TEST(mig_instances_are_gpus_of_their_own)
{
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

SCENARIO_TEST(unified_memory_is_system_ram)
{
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

SCENARIO_TEST(a_forked_child_uses_nothing_of_its_parent)
{
    SCENARIO(GPU_A);
    struct gpu_set *set = open_threaded(fake_options());
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

SCENARIO_TEST(a_suspended_gpu_is_only_resumed_when_named)
{
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
    assert_contains(missing(set, 0, GPU_RAM_USED), "suspended");
    assert_int_equal(gpu_set_sources(set, &count)->state, GPU_SOURCE_SUSPENDED);
    assert_int_equal(count_calls("nvmlInit", 0), 0);
    gpu_set_close(set);

    options.uuids = "GPU-11111111-2222-3333-4444-555555555555";
    set = open_set(&options);
    assert_number(sample_once(set, MAIN, 0).system_ram_bytes, 100);
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

SCENARIO_TEST(a_resumed_gpu_is_added)
{
    char sysfs[128], command[160];
    snprintf(sysfs, sizeof sysfs, "%s/sys", scenario_folder);
    snprintf(command, sizeof command, "rm -r %s", sysfs);
    write_pci_gpu(sysfs, "suspended");
    SCENARIO(GPU_A "compute %d 10\n", MAIN);
    struct gpu_options options = fake_options();
    options.sysfs_root = sysfs;
    struct gpu_set *set = open_set(&options);
    assert_contains(gpu_set_missing(set), "suspended");
    assert_number(sample_once(set, MAIN, 0).main_ram_bytes, NAN);
    write_pci_gpu(sysfs, "active");
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    assert_int_equal(sample.n_devices, 1);
    assert_number(sample.main_ram_bytes, 10);
    gpu_set_close(set);
    assert_int_equal(system(command), 0);
}

RUN_TESTS(start_others, end_others)
