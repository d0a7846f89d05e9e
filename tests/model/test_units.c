#include "testing.h"

#include "model/results.h"
#include "model/units.h"

#include <math.h>
#include <string.h>

TEST(every_unit_parses_from_its_name)
{
    for (int i = GPUT_RAM_UNIT_BYTES; i <= GPUT_RAM_UNIT_TERABYTES; i++) {
        enum gput_ram_unit unit;
        const char *word = gput_ram_unit_name((enum gput_ram_unit)i);
        assert_int_equal(ram_unit_parse(word, "RAM", &unit, NULL), GPUT_OK);
        assert_int_equal(unit, i);
    }
    for (int i = GPUT_TIME_UNIT_SECONDS; i <= GPUT_TIME_UNIT_DAYS; i++) {
        enum gput_time_unit unit;
        const char *word = gput_time_unit_name((enum gput_time_unit)i);
        assert_int_equal(time_unit_parse(word, &unit, NULL), GPUT_OK);
        assert_int_equal(unit, i);
    }
}

TEST(units_are_decimal)
{
    static const double factors[] = {1, 1e-3, 1e-6, 1e-9, 1e-12};
    for (int i = GPUT_RAM_UNIT_BYTES; i <= GPUT_RAM_UNIT_TERABYTES; i++)
        assert_true(gput_ram_unit_factor((enum gput_ram_unit)i) == factors[i]);
    static const double seconds[] = {1, 60, 3600, 86400};
    for (int i = GPUT_TIME_UNIT_SECONDS; i <= GPUT_TIME_UNIT_DAYS; i++)
        assert_true(gput_time_unit_seconds((enum gput_time_unit)i) == seconds[i]);
}

TEST(an_unknown_unit_lists_the_valid_ones)
{
    struct gput_error error;
    enum gput_ram_unit ram = GPUT_RAM_UNIT_TERABYTES;
    enum gput_time_unit time = GPUT_TIME_UNIT_DAYS;
    assert_int_equal(ram_unit_parse("x", "GPU RAM", &ram, &error), GPUT_ERROR_INVALID);
    assert_string_equal(error.message,
        "\"x\" is not a valid GPU RAM unit. Valid values are bytes, kilobytes, megabytes, "
        "gigabytes, terabytes");
    assert_int_equal(ram, GPUT_RAM_UNIT_TERABYTES);
    assert_int_equal(time_unit_parse("Hours", &time, &error), GPUT_ERROR_INVALID);
    assert_string_equal(error.message, "\"Hours\" is not a valid time unit: did you mean hours? "
                                       "Valid values are seconds, minutes, hours, days");
    assert_int_equal(time, GPUT_TIME_UNIT_DAYS);
    assert_int_equal(ram_unit_parse("", "RAM", &ram, NULL), GPUT_ERROR_INVALID);
    assert_int_equal(ram_unit_parse("MB", "RAM", &ram, &error), GPUT_ERROR_INVALID);
    assert_string_equal(error.message, "\"MB\" is not a valid RAM unit: did you mean megabytes? "
                                       "Valid values are bytes, kilobytes, megabytes, gigabytes, "
                                       "terabytes");
    assert_int_equal(time_unit_parse("s", &time, &error), GPUT_ERROR_INVALID);
    assert_non_null(strstr(error.message, "did you mean seconds?"));
}

TEST(whole_bytes_stay_whole_in_every_unit)
{
    double bytes = 3;
    for (int i = 0; i < 2000; i++) {
        bytes = fmod(bytes * 1103515245 + 12345, 1e14);
        for (int unit = GPUT_RAM_UNIT_BYTES; unit <= GPUT_RAM_UNIT_TERABYTES; unit++) {
            double value = bytes * gput_ram_unit_factor((enum gput_ram_unit)unit);
            assert_true(ram_in_bytes(value, (enum gput_ram_unit)unit) == bytes);
        }
    }
    assert_true(ram_in_bytes(0.063864832, GPUT_RAM_UNIT_GIGABYTES) == 63864832);
    assert_true(ram_in_bytes(1.5, GPUT_RAM_UNIT_BYTES) == 1.5);
    assert_true(isnan(ram_in_bytes(NAN, GPUT_RAM_UNIT_GIGABYTES)));
}

RUN_TESTS(NULL, NULL)
