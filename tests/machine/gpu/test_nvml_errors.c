/* What the NVIDIA driver does not support, refuses or loses. */
#include "machine/gpu/nvidia_module.h"
#include "nvml_scenario.h"

TEST(a_list_of_the_bus_says_that_there_is_no_device_of_nvidia)
{
    assert_false(
        nvidia_on_bus_parse("0000\t80860d57\t0\t 0\n0008\t1af41045\t0\t10de\tvirtio-pci\n"));
    assert_true(nvidia_on_bus_parse("0000\t80860d57\t0\n0300\t10de2330\t10\tnvidia\n"));
    assert_true(nvidia_on_bus_parse("0000\t10de2330\t10"));
    /* what says nothing */
    assert_true(nvidia_on_bus_parse(""));
    assert_true(nvidia_on_bus_parse("0000\t80860d57\t0\nnonsense\n"));
    assert_true(nvidia_may_be_on_bus("/nonexistent"));
}

SCENARIO_TEST(an_unsupported_figure_is_missing_and_is_not_read_again)
{
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

SCENARIO_TEST(unsupported_memory_is_missing_for_that_gpu_only)
{
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

SCENARIO_TEST(a_lost_gpu_has_no_figures_and_one_warning)
{
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

SCENARIO_TEST(a_returning_gpu_is_read_again)
{
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

SCENARIO_TEST(an_unknown_error_of_one_figure_makes_only_that_missing)
{
    SCENARIO(GPU_A "code nvmlDeviceGetPowerUsage 999\n");
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    struct gpu_sample sample = sample_once(set, MAIN, 0);
    assert_number(sample.devices[0].power_watts, NAN);
    assert_number(sample.devices[0].energy_joules, 5000.5);
    assert_contains(missing(set, 0, GPU_POWER), "unknown error");
    gpu_set_close(set);
}

SCENARIO_TEST(readings_back_off_after_errors)
{
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

SCENARIO_TEST(a_stale_handle_is_renewed)
{
    SCENARIO("generation 1\n" GPU_A);
    struct gpu_options options = fake_options();
    struct gpu_set *set = open_set(&options);
    SCENARIO("generation 2\n" GPU_A);
    sample_once(set, MAIN, 0);
    assert_number(sample_once(set, MAIN, 0).system_ram_bytes, 1e9);
    gpu_set_close(set);
}

SCENARIO_TEST(a_gpu_that_the_driver_no_longer_knows_is_lost)
{
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

SCENARIO_TEST(a_gpu_without_permission_is_skipped)
{
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

SCENARIO_TEST(a_failed_start_gives_reason_and_remedy)
{
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

SCENARIO_TEST(a_driver_that_does_not_start_has_no_gpus)
{
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

SCENARIO_TEST(a_library_that_is_not_nvml_is_refused)
{
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
    assert_contains(gpu_set_missing(set), "not an NVIDIA management library");
    gpu_set_close(set);
}

/* Whether this machine has a driver of its own, or what the library may be loaded for. */
static bool has_driver(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ||
           access("/dev/nvmap", F_OK) == 0;
}

/* The library is searched for where anything of the driver, or a GPU for it, is in sight. */
SCENARIO_TEST(without_a_sign_of_a_driver_no_library_is_searched_for)
{
    char procfs[4096];
    struct gpu_options options = fake_options();
    if (has_driver())
        SKIP("this machine has a driver");
    options.nvml_path = NULL;
    options.procfs_root = "/nonexistent";
    struct gpu_set *set = open_set(&options);
    assert_contains(gpu_set_missing(set), "no NVIDIA GPU is on the PCI bus");
    gpu_set_close(set);
    snprintf(procfs, sizeof procfs, "%s", fixture("gpu-nvidia-asleep/proc"));
    options.procfs_root = procfs;
    set = open_set(&options);
    assert_null(strstr(gpu_set_missing(set), "no NVIDIA GPU is on the PCI bus"));
    gpu_set_close(set);
}

RUN_TESTS(NULL, NULL)
