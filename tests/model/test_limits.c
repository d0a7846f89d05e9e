#include <gputracker/limits.h>

#include "testing.h"

#include <string.h>

TEST(reads_sizes_in_powers_of_1000_and_1024)
{
    struct gput_limits limits = gput_limits_default();
    assert_int_equal(gput_limits_parse("ram=8GB", &limits, NULL), GPUT_OK);
    assert_true(limits.values[GPUT_LIMIT_RAM] == 8e9);
    assert_int_equal(gput_limits_parse("ram=2G", &limits, NULL), GPUT_OK);
    assert_true(limits.values[GPUT_LIMIT_RAM] == 2e9);
    assert_int_equal(gput_limits_parse("ram=1.5gib", &limits, NULL), GPUT_OK);
    assert_true(limits.values[GPUT_LIMIT_RAM] == 1.5 * 1024 * 1024 * 1024);
    assert_int_equal(gput_limits_parse("ram=2 MB", &limits, NULL), GPUT_OK);
    assert_true(limits.values[GPUT_LIMIT_RAM] == 2e6);
    assert_int_equal(gput_limits_parse("gpu_ram=123", &limits, NULL), GPUT_OK);
    assert_true(limits.values[GPUT_LIMIT_GPU_RAM] == 123);
}

TEST(reads_times)
{
    struct gput_limits limits = gput_limits_default();
    assert_int_equal(gput_limits_parse("seconds=90", &limits, NULL), GPUT_OK);
    assert_true(limits.values[GPUT_LIMIT_SECONDS] == 90);
    assert_int_equal(gput_limits_parse("cpu_seconds=2h", &limits, NULL), GPUT_OK);
    assert_true(limits.values[GPUT_LIMIT_CPU_SECONDS] == 7200);
}

TEST(refuses_other_texts_and_names_the_valid_units)
{
    static const char *const wrong[] = {"", "ram", "ram=", "ram=much", "ram=-1GB", "ram=0",
        "ram=1s", "seconds=1GB", "seconds=nan", "ram=inf", "disk=1GB", "ra=1GB", "ram=8GBs"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct gput_limits limits = gput_limits_default();
        struct gput_error error;
        assert_int_equal(gput_limits_parse(wrong[i], &limits, &error), GPUT_ERROR_INVALID);
        assert_non_null(strstr(error.message, "not a valid limit"));
        for (int kind = 0; kind < GPUT_LIMIT_KIND_COUNT; kind++)
            assert_true(limits.values[kind] == 0);
    }
}

RUN_TESTS(NULL, NULL)
