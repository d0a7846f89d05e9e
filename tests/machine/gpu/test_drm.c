/* AMD, Intel and other cards, from recorded sysfs and procfs trees. */
#include "scenario.h"

static char sysfs[4200], procfs[4200];

static struct gpu_set *open_tree(const char *name)
{
    snprintf(sysfs, sizeof sysfs, "%s/sys", fixture(name));
    snprintf(procfs, sizeof procfs, "%s/proc", fixture(name));
    struct gpu_options options = {
        .procfs_root = procfs,
        .sysfs_root = sysfs,
        .nvml_path = "/nonexistent",
        .warn = keep_warning,
        .synchronous = true,
        .each_process = true,
    };
    warnings[0] = '\0';
    return open_set(&options);
}

static const struct gpu_device *device(struct gpu_set *set, size_t index)
{
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(set, &count);
    assert_in_range(index, 0, count - 1);
    return &devices[index];
}

TEST(reads_a_discrete_amd_card)
{
    struct gpu_set *set = open_tree("gpu-amd-discrete");
    const struct gpu_device *card = device(set, 0);
    assert_string_equal(card->uuid, "GPU-8f2e1c0d9a7b6c5d");
    assert_string_equal(card->name, "AMD 0x744c (amdgpu)");
    assert_string_equal(card->pci_address, "0000:03:00.0");
    assert_int_equal(card->vendor, GPU_VENDOR_AMD);
    assert_number(card->ram_capacity_bytes, 25753026560);

    pid_t children[] = {4243, 4244};
    struct gpu_tree tree = tree_of(4242, children, 2);
    struct gpu_sample sample;
    gpu_set_sample(set, &tree, &sample);
    assert_number(sample.system_ram_bytes, 3221225472);
    assert_number(sample.utilization_sum_percent, 63);
    assert_number(sample.devices[0].power_watts, 187);
    assert_number(sample.devices[0].energy_joules, 6553500000 * 15.259e-6);
    /* Main: KFD says 2 GiB, its clients 256 MiB; the larger counts. The child has two clients. */
    assert_number(sample.main_ram_bytes, 2147483648);
    assert_number(sample.descendants_ram_bytes, 513 << 20);
    assert_number(sample.combined_ram_bytes, 2147483648.0 + (513 << 20));
    assert_number(sample.unattributed_ram_bytes, 1048576); /* KFD's pid 9000 is not in sight */
    gpu_set_close(set);
    assert_string_equal(warnings, "");
}

/* The card's own figures, and why others are missing. */
static double card_figure(struct gpu_set *set, enum card_figure figure)
{
    struct gpu_tree tree = tree_of(1, NULL, 0);
    struct gpu_sample sample;
    gpu_set_sample(set, &tree, &sample);
    const struct card_reading *card = gpu_set_card(set, 0);
    assert_true(isnan(card->values[figure]) == (card->missing[figure] != NULL));
    return card->values[figure];
}

TEST(reads_what_an_amd_card_says_of_itself)
{
    struct gpu_set *set = open_tree("gpu-amd-discrete");
    assert_number(card_figure(set, CARD_TEMPERATURE), 54);
    assert_number(card_figure(set, CARD_MEMORY_TEMPERATURE), 64);
    assert_number(card_figure(set, CARD_SLOWDOWN_TEMPERATURE), 100);
    assert_number(card_figure(set, CARD_SHUTDOWN_TEMPERATURE), 105);
    assert_number(card_figure(set, CARD_POWER_LIMIT), 355);
    assert_number(card_figure(set, CARD_FAN), 40);
    assert_number(card_figure(set, CARD_GRAPHICS_CLOCK), 2371);
    assert_number(card_figure(set, CARD_MEMORY_CLOCK), 1249);
    assert_number(card_figure(set, CARD_MAX_GRAPHICS_CLOCK), 2482);
    assert_number(card_figure(set, CARD_MEMORY_BUSY), 22);
    assert_number(card_figure(set, CARD_PCIE_REPLAYS), 3);
    assert_number(card_figure(set, CARD_ECC_UNCORRECTED), 1);
    assert_number(card_figure(set, CARD_ECC_CORRECTED), 4);
    assert_number(card_figure(set, CARD_SLOWDOWN_REASONS), 0); /* its table has them, none is set */
    assert_true(isnan(card_figure(set, CARD_POWER_CAP_SECONDS)));
    assert_true(isnan(card_figure(set, CARD_NVLINK_ERRORS)));
    gpu_set_close(set);
}

TEST(reads_what_intel_cards_say_of_themselves)
{
    struct gpu_set *set = open_tree("gpu-xe");
    assert_number(card_figure(set, CARD_GRAPHICS_CLOCK), 2050);
    assert_number(card_figure(set, CARD_MAX_GRAPHICS_CLOCK), 2400);
    assert_number(card_figure(set, CARD_TEMPERATURE), 58);
    assert_number(card_figure(set, CARD_MEMORY_TEMPERATURE), 62);
    assert_number(card_figure(set, CARD_POWER_LIMIT), 190);
    assert_number(card_figure(set, CARD_SLOWDOWN_REASONS),
        1u << CARD_REASON_CURRENT | 1u << CARD_REASON_HARDWARE_THERMAL);
    assert_true(isnan(card_figure(set, CARD_FAN)));
    gpu_set_close(set);
    set = open_tree("gpu-i915");
    assert_number(card_figure(set, CARD_GRAPHICS_CLOCK), 1150);
    assert_number(card_figure(set, CARD_MAX_GRAPHICS_CLOCK), 1300);
    assert_number(card_figure(set, CARD_SLOWDOWN_REASONS), 1u << CARD_REASON_POWER_CAP);
    assert_true(isnan(card_figure(set, CARD_TEMPERATURE)));
    gpu_set_close(set);
}

TEST(reads_the_ram_of_each_process_of_an_amd_card)
{
    struct gpu_set *set = open_tree("gpu-amd-discrete");
    pid_t children[] = {4243, 4244};
    struct gpu_tree tree = tree_of(4242, children, 2);
    struct gpu_sample sample;
    gpu_set_sample(set, &tree, &sample);
    size_t count;
    uint64_t version;
    const struct gpu_process_ram *held = gpu_set_process_ram(set, &count, &version);
    assert_int_equal(count, 3);
    assert_int_equal(held[0].pid, 4242);
    assert_number(held[0].ram_bytes, 2147483648);
    assert_number(held[1].ram_bytes, 513 << 20);
    assert_int_equal(held[2].pid, 4244);
    assert_number(held[2].ram_bytes, 0);
    bool some;
    assert_null(gpu_set_process_ram_missing(set, &some));
    assert_true(some);
    gpu_set_close(set);
}

TEST(shared_memory_counts_in_each_process)
{
    struct gpu_set *set = open_tree("gpu-i915");
    sample_once(set, 700, 701);
    size_t count;
    uint64_t version;
    const struct gpu_process_ram *held = gpu_set_process_ram(set, &count, &version);
    assert_int_equal(count, 2);
    assert_number(held[0].ram_bytes, 30 << 20);
    assert_number(held[1].ram_bytes, 20 << 20);
    gpu_set_close(set);
}

TEST(memory_of_an_apu_is_vram_and_gtt)
{
    struct gpu_set *set = open_tree("gpu-amd-apu");
    assert_number(device(set, 0)->ram_capacity_bytes, 536870912 + 8589934592);
    struct gpu_sample sample = sample_once(set, 500, 0);
    assert_number(sample.system_ram_bytes, 402653184 + 1073741824);
    assert_number(sample.main_ram_bytes, 640 << 20);
    assert_number(sample.devices[0].power_watts, 15.5);
    assert_number(sample.devices[0].energy_joules, NAN);
    assert_contains(missing(set, 0, GPU_ENERGY), "does not report it");
    assert_string_equal(device(set, 0)->uuid, "0000:c4:00.0"); /* it has no unique_id */
    gpu_set_close(set);
}

TEST(reads_the_clients_of_an_i915)
{
    struct gpu_set *set = open_tree("gpu-i915");
    assert_int_equal(device(set, 0)->vendor, GPU_VENDOR_INTEL);
    assert_number(gpu_set_capacity_bytes(set), NAN);
    struct gpu_sample sample = sample_once(set, 700, 701);
    assert_number(sample.main_ram_bytes, 30 << 20);
    assert_number(sample.descendants_ram_bytes, 20 << 20); /* inherited from main */
    assert_number(sample.combined_ram_bytes, 30 << 20);
    assert_number(sample.system_ram_bytes, NAN);
    assert_number(sample.utilization_sum_percent, NAN);
    assert_contains(missing(set, 0, GPU_RAM_USED), "not of the whole GPU");
    assert_contains(missing(set, 0, GPU_UTILIZATION), "not of the whole GPU");
    /* i915_gt0 counts a part only. */
    assert_number(sample.devices[0].energy_joules, NAN);
    size_t count;
    assert_int_equal(gpu_set_sources(set, &count)[2].state, GPU_SOURCE_PARTIAL);
    gpu_set_close(set);
}

TEST(reads_the_clients_of_an_xe)
{
    struct gpu_set *set = open_tree("gpu-xe");
    assert_number(device(set, 0)->ram_capacity_bytes, 12884901888);
    struct gpu_sample sample = sample_once(set, 800, 0);
    assert_number(sample.main_ram_bytes, 22 << 20);
    assert_number(sample.devices[0].energy_joules, 98.765432);
    sample = sample_once(set, 800, 0);
    assert_number(sample.devices[0].power_watts, NAN);
    assert_string_equal(device(set, 0)->missing[GPU_POWER],
        "its energy counter has not moved since it was last read");
    assert_true(device(set, 0)->power_is_counted);
    assert_number(sample.devices[0].main_sm_percent, 0);
    assert_number(sample.devices[0].all_sm_percent, NAN); /* of others it is not reported */
    gpu_set_close(set);
}

TEST(several_vendors_work_together)
{
    struct gpu_set *set = open_tree("gpu-two-vendors");
    size_t count;
    gpu_set_devices(set, &count);
    assert_int_equal(count, 2); /* neither NVIDIA's own driver nor the display controller */
    assert_string_equal(device(set, 0)->source, "amdgpu");
    assert_string_equal(device(set, 1)->source, "drm");
    struct gpu_sample sample = sample_once(set, 900, 0);
    assert_number(sample.devices[0].main_ram_bytes, 100 << 20);
    assert_number(sample.devices[1].main_ram_bytes, 4 << 20);
    assert_number(sample.main_ram_bytes, 104 << 20);
    assert_number(sample.utilization_sum_percent, 63);
    assert_number(sample.utilization_hardware_percent, 63); /* of the one that reports it */
    gpu_set_close(set);
}

RUN_TESTS(NULL, NULL)
