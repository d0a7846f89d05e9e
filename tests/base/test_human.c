/* Figures in units that fit them. */
#include "testing.h"

#include "base/human.h"

#include <math.h>

static char text[HUMAN_SIZE];

TEST(bytes_have_three_digits_and_a_prefix)
{
    assert_string_equal(human_bytes(0, text), "0 B");
    assert_string_equal(human_bytes(999, text), "999 B");
    assert_string_equal(human_bytes(999.6, text), "1 kB");
    assert_string_equal(human_bytes(1900, text), "1.9 kB");
    assert_string_equal(human_bytes(412e6, text), "412 MB");
    assert_string_equal(human_bytes(25.277e9, text), "25.3 GB");
    assert_string_equal(human_bytes(-3e6, text), "-3 MB");
    assert_string_equal(human_bytes(1e21, text), "1000000 PB");
    assert_string_equal(human_bytes(100e6, text), "100 MB");
}

TEST(a_unit_has_its_own_way)
{
    assert_string_equal(human_of_unit("bytes", 31.4e6, text), "31.4 MB");
    assert_string_equal(human_of_unit("seconds", 1.27, text), "1.27 s");
    assert_string_equal(human_of_unit("percent", 37.811, text), "37.8 %");
    assert_string_equal(human_of_unit("percent", 6399.6, text), "6400 %");
    assert_string_equal(human_of_unit("percent", NAN, text), "n/a");
    assert_string_equal(human_of_unit("joules", 1234, text), "1.23 kJ");
    assert_string_equal(human_of_unit("watts", 45, text), "45 W");
    assert_string_equal(human_of_unit("grams", 2400, text), "2.4 kg");
    assert_string_equal(human_of_unit(NULL, 0.123456, text), "0.1235");
    assert_string_equal(human_of_unit(NULL, NAN, text), "n/a");
}

TEST(figures_of_a_column_have_three_digits_each)
{
    assert_string_equal(human_bytes_of_column(0, text), "0 B");
    assert_string_equal(human_bytes_of_column(5, text), "5 B");
    assert_string_equal(human_bytes_of_column(1900, text), "1.90 kB");
    assert_string_equal(human_bytes_of_column(20e6, text), "20.0 MB");
    assert_string_equal(human_bytes_of_column(412e6, text), "412 MB");
    assert_string_equal(human_seconds_of_column(0, text), "0 s");
    assert_string_equal(human_seconds_of_column(0.059, text), "59.0 ms");
    assert_string_equal(human_seconds_of_column(1e-9, text), "1.00 ns");
    assert_string_equal(human_seconds_of_column(192, text), "3 min 12 s");
    assert_string_equal(human_seconds_of_column(NAN, text), "n/a");
    assert_string_equal(human_watts_of_column(45, text), "45.0 W");
    assert_string_equal(human_joules_of_column(1234, text), "1.23 kJ");
}

TEST(seconds_become_minutes_hours_and_days)
{
    assert_string_equal(human_count(950, text), "950");
    assert_string_equal(human_count(4.712e9, text), "4.71 G");
    assert_string_equal(human_seconds(0, text), "0 s");
    assert_string_equal(human_seconds(4e-10, text), "0.4 ns");
    assert_string_equal(human_seconds(5.7e-7, text), "570 ns");
    assert_string_equal(human_seconds(1.234e-5, text), "12.3 µs");
    assert_string_equal(human_seconds(0.0012, text), "1.2 ms");
    assert_string_equal(human_seconds(0.85, text), "850 ms");
    assert_string_equal(human_seconds(12.34, text), "12.3 s");
    assert_string_equal(human_seconds(59.94, text), "59.9 s");
    assert_string_equal(human_seconds(59.97, text), "1 min 0 s");
    assert_string_equal(human_seconds(192, text), "3 min 12 s");
    assert_string_equal(human_seconds(119.7, text), "2 min 0 s");
    assert_string_equal(human_seconds(3599.6, text), "1 h 00 min");
    assert_string_equal(human_seconds(7500, text), "2 h 05 min");
    assert_string_equal(human_seconds(86399, text), "1 d 00 h");
    assert_string_equal(human_seconds(3 * 86400 + 4 * 3600, text), "3 d 04 h");
}

TEST(small_amounts_of_energy_keep_their_digits)
{
    assert_string_equal(human_joules(0.0361, text), "36.1 mJ");
    assert_string_equal(human_joules(1234, text), "1.23 kJ");
    assert_string_equal(human_watts(6.4, text), "6.4 W");
    assert_string_equal(human_grams(0, text), "0 g");
}

TEST(no_change_is_minus_nothing)
{
    assert_string_equal(human_change(3.21, text), "+3.2 %");
    assert_string_equal(human_change(-0.06, text), "-0.1 %");
    assert_string_equal(human_change(-0.04, text), "< 0.1 %");
    assert_string_equal(human_change(0, text), "+0.0 %");
    assert_string_equal(human_change(199.9, text), "+199.9 %");
    assert_string_equal(human_change(280, text), "3.8 times");
    assert_string_equal(human_change(1968, text), "21 times");
    assert_string_equal(human_change(NAN, text), "n/a");
}

TEST(few_cores_keep_a_digit)
{
    assert_string_equal(human_cores(0, text), "0");
    assert_string_equal(human_cores(0.0001, text), "under 0.01");
    assert_string_equal(human_cores(0.009, text), "under 0.01");
    assert_string_equal(human_cores(0.01, text), "0.01");
    assert_string_equal(human_cores(0.028, text), "0.03");
    assert_string_equal(human_cores(0.149, text), "0.15");
    assert_string_equal(human_cores(0.999, text), "1.0");
    assert_string_equal(human_cores(0.0949, text), "0.09");
    assert_string_equal(human_cores(0.0951, text), "0.1");
    assert_string_equal(human_cores(3.64, text), "3.6");
    assert_string_equal(human_cores(NAN, text), "n/a");
}

TEST(a_small_share_is_not_zero)
{
    assert_string_equal(human_share(0, text), "0 %");
    assert_string_equal(human_share(0.0001, text), "under 1 %");
    assert_string_equal(human_share(0.96, text), "1 %");
    assert_string_equal(human_share(37.2, text), "37 %");
    assert_string_equal(human_share(NAN, text), "n/a");
}

TEST(what_is_missing_is_not_zero)
{
    assert_string_equal(human_bytes(NAN, text), "n/a");
    assert_string_equal(human_seconds(NAN, text), "n/a");
    assert_string_equal(human_seconds(INFINITY, text), "n/a");
}

RUN_TESTS(NULL, NULL)
