#include "machine/gpu/selection.h"

#include "testing.h"
#include "variables.h"

/* Three of one vendor, one of another between them. */
static struct gpu_device devices[] = {
    {.uuid = "GPU-aaaa-1", .name = "H200", .vendor = GPU_VENDOR_NVIDIA},
    {.uuid = "GPU-5555", .name = "MI300", .vendor = GPU_VENDOR_AMD},
    {.uuid = "GPU-aabb-2", .name = "H200", .vendor = GPU_VENDOR_NVIDIA},
    {.uuid = "GPU-cccc-3", .name = "H200", .vendor = GPU_VENDOR_NVIDIA},
};

#define COUNT (sizeof devices / sizeof devices[0])

/* `expected`: a letter a device, "x" where it is seen. */
static void assert_seen(const char *expected, gpu_variable *variable, void *user)
{
    struct gpu_visible visible;
    gpu_visible_read(variable, user, &visible);
    for (size_t i = 0; i < COUNT; i++) {
        if (gpu_visible_has(&visible, devices, COUNT, i) != (expected[i] == 'x'))
            fail_msg("device %zu of %s", i, expected);
    }
}

TEST(all_are_seen_without_a_list)
{
    struct gpu_visible visible;
    gpu_visible_read(VARIABLES("HOME=/root"), &visible);
    assert_false(gpu_visible_is_limited(&visible));
    assert_seen("xxxx", VARIABLES("HOME=/root"));
}

TEST(numbers_count_the_gpus_of_their_vendor)
{
    assert_seen("xx-x", VARIABLES("CUDA_VISIBLE_DEVICES=2,0"));
    assert_seen("-xx-", VARIABLES("CUDA_VISIBLE_DEVICES=1"));
    assert_seen("x-xx", VARIABLES("ROCR_VISIBLE_DEVICES=-1"));
    assert_seen("xxxx", VARIABLES("HIP_VISIBLE_DEVICES=0"));
    assert_seen("xxxx", VARIABLES("ZE_AFFINITY_MASK=7"));
}

TEST(uuids_may_be_cut)
{
    assert_seen("-xx-", VARIABLES("CUDA_VISIBLE_DEVICES=GPU-aab"));
    assert_seen("xx-x", VARIABLES("CUDA_VISIBLE_DEVICES=GPU-cccc-3, gpu-AAAA-1"));
}

TEST(a_list_ends_at_what_is_no_gpu)
{
    assert_seen("xx--", VARIABLES("CUDA_VISIBLE_DEVICES=0,7,1"));
    assert_seen("xx--", VARIABLES("CUDA_VISIBLE_DEVICES=0,GPU-dddd,1"));
    assert_seen("-x--", VARIABLES("CUDA_VISIBLE_DEVICES=-1"));
    assert_seen("-x--", VARIABLES("CUDA_VISIBLE_DEVICES="));
    assert_seen("-x--", VARIABLES("CUDA_VISIBLE_DEVICES=GPU-"));
}

/* CUDA counts the fastest first: which of different GPUs is number 0 is not known. */
TEST(the_order_of_different_gpus_is_not_known)
{
    struct gpu_device other = devices[3];
    strcpy(devices[3].name, "T4");
    assert_seen("xxxx", VARIABLES("CUDA_VISIBLE_DEVICES=0"));
    assert_seen("xx--", VARIABLES("CUDA_VISIBLE_DEVICES=0", "CUDA_DEVICE_ORDER=PCI_BUS_ID"));
    assert_seen("-xx-", VARIABLES("CUDA_VISIBLE_DEVICES=GPU-aabb-2"));
    devices[3] = other;
}

TEST(a_part_of_a_gpu_is_that_gpu)
{
    enum gpu_vendor vendor = devices[1].vendor;
    devices[1].vendor = GPU_VENDOR_INTEL;
    assert_seen("xxxx", VARIABLES("ZE_AFFINITY_MASK=0.1"));
    assert_seen("x-xx", VARIABLES("ZE_AFFINITY_MASK=1.0"));
    devices[1].vendor = vendor;
}

/* ROCm counts by KFD's nodes; HIP counts what ROCR's list leaves, in that list's order. */
TEST(numbers_of_amd_follow_its_own_order)
{
    const struct gpu_device amd[] = {
        {.uuid = "GPU-83", .vendor = GPU_VENDOR_AMD, .vendor_number = 3},
        {.uuid = "GPU-03", .vendor = GPU_VENDOR_AMD, .vendor_number = 1},
        {.uuid = "GPU-43", .vendor = GPU_VENDOR_AMD, .vendor_number = 2},
    };
    const struct {
        const char *first, *second, *seen;
    } rows[] = {
        {"ROCR_VISIBLE_DEVICES=0", NULL, "-x-"},
        {"HIP_VISIBLE_DEVICES=2", NULL, "x--"},
        {"CUDA_VISIBLE_DEVICES=0", NULL, "-x-"},
        {"CUDA_VISIBLE_DEVICES=0", "HIP_VISIBLE_DEVICES=1", "--x"},
        {"ROCR_VISIBLE_DEVICES=2,1", "HIP_VISIBLE_DEVICES=0", "x--"},
        {"ROCR_VISIBLE_DEVICES=GPU-43,0", "CUDA_VISIBLE_DEVICES=1", "-x-"},
        {"ROCR_VISIBLE_DEVICES=1", "HIP_VISIBLE_DEVICES=1", "---"},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct gpu_visible visible;
        if (rows[row].second)
            gpu_visible_read(VARIABLES(rows[row].first, rows[row].second), &visible);
        else
            gpu_visible_read(VARIABLES(rows[row].first), &visible);
        for (size_t i = 0; i < 3; i++) {
            if (gpu_visible_has(&visible, amd, 3, i) != (rows[row].seen[i] == 'x'))
                fail_msg("%s: device %zu", rows[row].first, i);
        }
    }
}

/* Two cards of two partitions each, and one that ROCm does not have, listed first. */
TEST(each_partition_has_a_number)
{
    const struct gpu_device amd[] = {
        {.uuid = "display", .vendor = GPU_VENDOR_AMD, .vendor_number = UINT32_MAX},
        {.uuid = "GPU-1", .vendor = GPU_VENDOR_AMD, .vendor_number = 1, .n_partitions = 2},
        {.uuid = "GPU-2", .vendor = GPU_VENDOR_AMD, .vendor_number = 3, .n_partitions = 2},
    };
    static const char *const seen[] = {"-x-", "-x-", "--x", "--x"};
    for (size_t number = 0; number < sizeof seen / sizeof *seen; number++) {
        char text[64];
        struct gpu_visible visible;
        snprintf(text, sizeof text, "HIP_VISIBLE_DEVICES=%zu", number);
        gpu_visible_read(VARIABLES(text), &visible);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(gpu_visible_has(&visible, amd, 3, i), seen[number][i] == 'x');
    }
}

RUN_TESTS(NULL, NULL)
