/* What a card says of itself, by way of a fake libnvidia-ml.so.1. */
#include "machine/gpu/nvml_card.h"
#include "nvml_scenario.h"

struct fake_driver {
    struct nvml_library library;
    nvml_device handle;
    struct nvml_card card;
    struct card_reading reading;
};

static void open_driver(struct fake_driver *driver)
{
    struct gput_error error;
    memset(driver, 0, sizeof *driver);
    assert_int_equal(
        nvml_library_open(&driver->library, fake_library("fake-nvml"), &error), GPUT_OK);
    assert_int_equal(nvml_library_initialize(&driver->library), NVML_SUCCESS);
    assert_int_equal(driver->library.handle_by_index(0, &driver->handle), NVML_SUCCESS);
    nvml_card_init(&driver->card, &driver->library, "580.95.05");
}

static void close_driver(struct fake_driver *driver)
{
    driver->library.shutdown();
    nvml_library_close(&driver->library);
}

/* Reads everything with these values of the fake GPU, and returns one figure. */
static double read_with(struct fake_driver *driver, const char *values, enum card_figure figure)
{
    SCENARIO("%s%s", GPU_A, values);
    assert_int_equal(
        nvml_card_read(&driver->card, driver->handle, 1, true, &driver->reading), NVML_SUCCESS);
    return driver->reading.values[figure];
}

SCENARIO_TEST(a_sum_of_fields_is_missing_where_one_of_them_fails_later)
{
    struct fake_driver driver;
    SCENARIO(GPU_A);
    open_driver(&driver);
    const char *both = "value field/29 3\nvalue field/30 4\n";
    assert_number(read_with(&driver, both, CARD_RETIRED_PAGES), 7);
    assert_number(read_with(&driver, "value field/29 3\n", CARD_RETIRED_PAGES), NAN);
    assert_contains(driver.reading.missing[CARD_RETIRED_PAGES], "not supported");
    assert_number(read_with(&driver, both, CARD_RETIRED_PAGES), 7);
    close_driver(&driver);
}

/* Otherwise what is counted there would look like new errors. */
SCENARIO_TEST(fields_that_a_card_lacked_at_first_are_left_out_for_good)
{
    struct fake_driver driver;
    SCENARIO(GPU_A);
    open_driver(&driver);
    assert_number(read_with(&driver, "value field/38 2\n", CARD_NVLINK_ERRORS), 2);
    assert_number(
        read_with(&driver, "value field/38 3\nvalue field/45 1000\n", CARD_NVLINK_ERRORS), 3);
    close_driver(&driver);
}

#define REASONS "value nvmlDeviceGetCurrentClocksEventReasons 0x20\n"

SCENARIO_TEST(thermal_time_that_leaps_is_read_from_the_other_fields)
{
    struct fake_driver driver;
    SCENARIO(GPU_A "value field/251 0\nvalue field/269 7000000000\n");
    open_driver(&driver);
    assert_number(read_with(&driver, REASONS "value field/251 0\nvalue field/269 7000000000\n",
                      CARD_THERMAL_SECONDS),
        0);
    assert_number(
        read_with(&driver, REASONS "value field/251 9000000000000\nvalue field/269 7000000000\n",
            CARD_THERMAL_SECONDS),
        NAN);
    assert_int_equal(driver.reading.n_counter_changes, 1);
    assert_number(
        read_with(&driver, REASONS "value field/251 9000000000000\nvalue field/269 7500000000\n",
            CARD_THERMAL_SECONDS),
        7.5);
    close_driver(&driver);
}

SCENARIO_TEST(time_that_leaps_and_has_no_other_field_is_withdrawn)
{
    struct fake_driver driver;
    SCENARIO(GPU_A);
    open_driver(&driver);
    assert_number(
        read_with(&driver, REASONS "value field/74 1000000000\n", CARD_POWER_CAP_SECONDS), 1);
    assert_number(
        read_with(&driver, REASONS "value field/74 99000000000000\n", CARD_POWER_CAP_SECONDS), NAN);
    assert_contains(driver.reading.missing[CARD_POWER_CAP_SECONDS], "contradicts");
    assert_int_equal(driver.reading.n_counter_changes, 0);
    close_driver(&driver);
}

SCENARIO_TEST(a_link_of_a_card_that_rests_is_no_trouble)
{
    struct fake_driver driver;
    char trouble[200];
    const char *link = "value nvmlDeviceGetCurrPcieLinkWidth 8\n"
                       "value nvmlDeviceGetMaxPcieLinkWidth 16\n";
    static const struct {
        const char *values, *trouble;
    } rows[] = {
        {"value nvmlDeviceGetPerformanceState 8\n", ""},
        {"value nvmlDeviceGetPerformanceState 0\n"
         "value nvmlDeviceGetCurrentClocksEventReasons 1\n",
            ""},
        {"value nvmlDeviceGetPerformanceState 0\n", "its PCIe link has 8 of 16 lanes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char values[400];
        SCENARIO(GPU_A);
        open_driver(&driver);
        snprintf(values, sizeof values, "%s%s", rows[i].values, link);
        read_with(&driver, values, CARD_PCIE_WIDTH);
        assert_true(card_trouble(&driver.reading, 5, trouble, sizeof trouble));
        assert_string_equal(trouble, rows[i].trouble);
        close_driver(&driver);
    }
}

RUN_TESTS(NULL, NULL)
