#include "machine/gpu/selection.h"
#include "testing.h"

#include <string.h>

static const struct gpu_device devices[] = {
    {.uuid = "GPU-1111", .pci_address = "0000:01:00.0"},
    {.uuid = "GPU-8f2e1c0d9a7b6c5d", .pci_address = "0000:c4:00.0"},
    {.uuid = "0000:00:02.0", .pci_address = "0000:00:02.0"},
};

TEST(a_word_names_a_device_by_uuid_index_or_address)
{
    static const struct {
        const char *uuids;
        bool has[3];
    } cases[] = {
        {NULL, {true, true, true}},
        {"GPU-1111", {true, false, false}},
        {"gpu-1111", {true, false, false}},
        {"8f2e1c0d9a7b6c5d", {false, true, false}},
        {"2, 0", {true, false, true}},
        {"00000000:C4:00.0", {false, true, false}},
        {" 00:02.0 ,, GPU-1111,", {true, false, true}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(gpu_selection_check(cases[i].uuids, devices, 3, NULL), GPUT_OK);
        for (size_t j = 0; j < 3; j++)
            if (gpu_selection_has(cases[i].uuids, &devices[j], j) != cases[i].has[j])
                fail_msg("\"%s\" and %s", cases[i].uuids, devices[j].uuid);
    }
}

TEST(an_unknown_word_lists_the_available_uuids)
{
    struct gput_error error;
    assert_int_equal(gpu_selection_check("0,GPU-2", devices, 3, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(error.message,
        "GPU UUID of GPU-2 is not valid. Available UUIDs are: GPU-1111, GPU-8f2e1c0d9a7b6c5d, "
        "0000:00:02.0");
    assert_int_equal(gpu_selection_check("3", devices, 3, &error), GPUT_ERROR_NOT_FOUND);
    assert_int_equal(gpu_selection_check("0", NULL, 0, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "none (no GPU was found)"));
}

TEST(an_empty_list_is_an_error)
{
    struct gput_error error;
    assert_int_equal(gpu_selection_check("", devices, 3, &error), GPUT_ERROR_INVALID);
    assert_int_equal(gpu_selection_check(" ,,", devices, 3, &error), GPUT_ERROR_INVALID);
}

TEST(only_three_brands_are_valid)
{
    enum gpu_vendor vendor;
    struct gput_error error;
    assert_int_equal(gpu_brand_parse("intel", &vendor, &error), GPUT_OK);
    assert_int_equal(vendor, GPU_VENDOR_INTEL);
    assert_int_equal(gpu_brand_parse(NULL, &vendor, &error), GPUT_OK);
    assert_int_equal(vendor, GPU_VENDOR_OTHER);
    assert_int_equal(gpu_brand_parse("", &vendor, &error), GPUT_ERROR_INVALID);
    assert_int_equal(gpu_brand_parse("other", &vendor, &error), GPUT_ERROR_INVALID);
}

RUN_TESTS(NULL, NULL)
