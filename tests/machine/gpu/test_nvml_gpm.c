/* Counters of parts of the chip, by way of a fake libnvidia-ml.so.1. */
#include "machine/gpu/nvml_card.h"
#include "nvml_scenario.h"

#include <time.h>

#define PARTS "value nvmlGpmQueryDeviceSupport 1\nvalue gpm/2 31\nvalue gpm/20 3\n"

struct fake_driver {
    struct nvml_library library;
    nvml_device handle;
    struct nvml_gpm *gpm;
    struct card_reading reading;
};

static void open_driver(struct fake_driver *driver, const char *variant)
{
    struct gput_error error;
    memset(driver, 0, sizeof *driver);
    assert_int_equal(nvml_library_open(&driver->library, fake_library(variant), &error), GPUT_OK);
    assert_int_equal(nvml_library_initialize(&driver->library), NVML_SUCCESS);
    assert_int_equal(driver->library.handle_by_index(0, &driver->handle), NVML_SUCCESS);
    driver->gpm = nvml_gpm_create(&driver->library);
    assert_non_null(driver->gpm);
    card_reading_clear(&driver->reading, "not one of a part");
}

static void close_driver(struct fake_driver *driver)
{
    nvml_gpm_destroy(driver->gpm);
    driver->library.shutdown();
    nvml_library_close(&driver->library);
}

/* Reads `count` times, each so long after the one before that a sample is due. */
static void read_after_pauses(struct fake_driver *driver, int count)
{
    for (int i = 0; i < count; i++) {
        const struct timespec pause = {0, 101000000};
        nanosleep(&pause, NULL);
        nvml_gpm_read(driver->gpm, driver->handle, &driver->reading);
    }
}

SCENARIO_TEST(figures_come_with_the_second_sample)
{
    struct fake_driver driver;
    SCENARIO(GPU_A PARTS);
    open_driver(&driver, "fake-nvml");
    read_after_pauses(&driver, 2);
    assert_int_equal(count_calls("nvmlGpmQueryDeviceSupport", 0), 0);
    read_after_pauses(&driver, 1);
    assert_int_equal(count_calls("nvmlGpmSampleGet", 0), 1);
    assert_number(driver.reading.values[CARD_SM_ACTIVE], NAN);
    assert_contains(driver.reading.missing[CARD_SM_ACTIVE], "not given two samples");
    read_after_pauses(&driver, 1);
    assert_number(driver.reading.values[CARD_SM_ACTIVE], 31);
    assert_null(driver.reading.missing[CARD_SM_ACTIVE]);
    assert_number(driver.reading.values[CARD_PCIE_TRANSMIT_RATE], 3 * 1048576.0);
    assert_number(driver.reading.values[CARD_FP64_ACTIVE], NAN);
    assert_contains(driver.reading.missing[CARD_FP64_ACTIVE], "not supported");
    assert_string_equal(driver.reading.missing[CARD_TEMPERATURE], "not one of a part");
    close_driver(&driver);
    assert_int_equal(count_calls("nvmlGpmSampleFree", 0), count_calls("nvmlGpmSampleAlloc", 0));
}

/* The fake refuses samples that are closer together. */
SCENARIO_TEST(readings_in_quick_succession_take_one_sample_and_keep_the_figures)
{
    struct fake_driver driver;
    SCENARIO(GPU_A PARTS);
    open_driver(&driver, "fake-nvml");
    read_after_pauses(&driver, 4);
    int n_samples = count_calls("nvmlGpmSampleGet", 0);
    SCENARIO(GPU_A "value nvmlGpmQueryDeviceSupport 1\nvalue gpm/2 62\n");
    for (int i = 0; i < 5; i++)
        nvml_gpm_read(driver.gpm, driver.handle, &driver.reading);
    if (count_calls("nvmlGpmSampleGet", 0) == n_samples) /* else the machine was too slow for it */
        assert_number(driver.reading.values[CARD_SM_ACTIVE], 31);
    read_after_pauses(&driver, 1);
    assert_number(driver.reading.values[CARD_SM_ACTIVE], 62);
    close_driver(&driver);
}

SCENARIO_TEST(after_a_failed_sample_two_new_ones_are_needed)
{
    struct fake_driver driver;
    SCENARIO(GPU_A PARTS);
    open_driver(&driver, "fake-nvml");
    read_after_pauses(&driver, 4);
    SCENARIO("code nvmlGpmSampleGet 10\n" GPU_A PARTS);
    read_after_pauses(&driver, 1);
    assert_number(driver.reading.values[CARD_SM_ACTIVE], NAN);
    assert_contains(driver.reading.missing[CARD_SM_ACTIVE], "timed out");
    SCENARIO(GPU_A PARTS);
    read_after_pauses(&driver, 1);
    assert_number(driver.reading.values[CARD_SM_ACTIVE], NAN);
    read_after_pauses(&driver, 1);
    assert_number(driver.reading.values[CARD_SM_ACTIVE], 31);
    close_driver(&driver);
}

/* What is refused for good is not asked again. */
SCENARIO_TEST(refusals_have_their_reason_and_end_the_asking)
{
    static const struct {
        const char *scenario, *variant, *reason;
    } refusals[] = {
        {GPU_A, "fake-nvml", "from Hopper on"},
        {"code nvmlGpmSampleGet 4\n" GPU_A PARTS, "fake-nvml", "denies permission"},
        {"code nvmlGpmQueryDeviceSupport 25\n" GPU_A PARTS, "fake-nvml", "another version"},
        {GPU_A PARTS, "fake-nvml-minimal", "no such function"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct fake_driver driver;
        scenario_write(refusals[i].scenario);
        open_driver(&driver, refusals[i].variant);
        read_after_pauses(&driver, 3);
        assert_number(driver.reading.values[CARD_DRAM_BANDWIDTH], NAN);
        assert_contains(driver.reading.missing[CARD_DRAM_BANDWIDTH], refusals[i].reason);
        int n_calls = count_calls("", 0);
        read_after_pauses(&driver, 2);
        assert_int_equal(count_calls("", 0), n_calls);
        close_driver(&driver);
    }
}

SCENARIO_TEST(what_is_no_percentage_is_missing)
{
    struct fake_driver driver;
    SCENARIO(GPU_A "value nvmlGpmQueryDeviceSupport 1\nvalue gpm/2 4294967295\nvalue gpm/3 101\n"
                   "value gpm/5 102\n");
    open_driver(&driver, "fake-nvml");
    read_after_pauses(&driver, 4);
    assert_number(driver.reading.values[CARD_SM_ACTIVE], NAN);
    assert_contains(driver.reading.missing[CARD_SM_ACTIVE], "no figure now");
    assert_number(driver.reading.values[CARD_SM_OCCUPANCY], 100);
    assert_number(driver.reading.values[CARD_TENSOR_ACTIVE], NAN);
    close_driver(&driver);
}

RUN_TESTS(start_others, end_others)
