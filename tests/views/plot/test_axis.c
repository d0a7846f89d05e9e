#include "views/plot/axis.h"

#include "testing.h"

#include <math.h>
#include <string.h>

static void assert_labels(const struct axis *axis, const char *const *labels, const char *unit)
{
    char text[AXIS_TEXT_SIZE];
    assert_string_equal(axis->unit, unit);
    for (size_t i = 0; i < axis->count; i++) {
        assert_non_null(labels[i]);
        assert_string_equal(axis_label(axis, axis->ticks[i], text), labels[i]);
    }
    assert_null(labels[axis->count]);
}

TEST(an_axis_ends_at_round_numbers)
{
    struct axis axis;
    axis_make(&axis, 3, 87, "percent", 5);
    const char *const labels[] = {"0", "20", "40", "60", "80", "100", NULL};
    assert_labels(&axis, labels, "%");
    assert_true(axis.low == 0);
    assert_true(fabs(axis.high - 100) < 1e-9);
    assert_true(fabs(axis_place(&axis, 25) - 0.25) < 1e-12);
}

TEST(a_unit_fits_the_largest_value)
{
    struct axis axis;
    axis_make(&axis, 0, 2.9e9, "bytes", 4);
    const char *const gigabytes[] = {"0", "1", "2", "3", NULL};
    assert_labels(&axis, gigabytes, "GB");
    axis_make(&axis, 0, 700e3, "bytes", 4);
    const char *const kilobytes[] = {"0", "200", "400", "600", "800", NULL};
    assert_labels(&axis, kilobytes, "kB");
    axis_make(&axis, 0, 0.0012, "watts", 3);
    const char *const milliwatts[] = {"0.0", "0.5", "1.0", "1.5", NULL};
    assert_labels(&axis, milliwatts, "mW");
    axis_make(&axis, 0, 3e12, "", 3);
    const char *const numbers[] = {"0", "1", "2", "3", NULL};
    assert_labels(&axis, numbers, "1e12");
}

TEST(a_ratio_is_in_percent)
{
    struct axis axis;
    char text[AXIS_TEXT_SIZE];
    axis_make(&axis, 0.03, 0.87, "ratio", 5);
    const char *const labels[] = {"0", "20", "40", "60", "80", "100", NULL};
    assert_labels(&axis, labels, "%");
    assert_true(fabs(axis_place(&axis, 0.25) - 0.25) < 1e-12);
    assert_string_equal(axis_value(0.873, "ratio", text), "87.3 %");
    axis_make(&axis, 0, 0, "ratio", 4);
    assert_true(fabs(axis.high - 1) < 1e-9);
}

TEST(values_below_zero_are_on_it)
{
    struct axis axis;
    axis_make(&axis, -37, 12, "", 5);
    const char *const labels[] = {"-40", "-30", "-20", "-10", "0", "10", "20", NULL};
    assert_labels(&axis, labels, "");
}

TEST(counts_have_no_fractions)
{
    struct axis axis;
    axis_make(&axis, 0, 2, "count", 6);
    const char *const labels[] = {"0", "1", "2", NULL};
    assert_labels(&axis, labels, "");
}

TEST(an_axis_of_nothing_has_a_height)
{
    struct axis axis;
    axis_make(&axis, 0, 0, "percent", 4);
    assert_true(fabs(axis.high - 100) < 1e-9);
    axis_make(&axis, NAN, NAN, "bytes", 4);
    assert_true(fabs(axis.high - 1) < 1e-9);
    axis_make(&axis, -1e300, 1e300, "", 4);
    assert_true(axis.count > 1 && isfinite(axis.high));
    axis_make(&axis, 0, 5e-324, "", 4);
    assert_true(isfinite(axis_place(&axis, 0)));
}

TEST(time_has_ticks_at_minutes_and_hours)
{
    struct axis axis;
    axis_make_time(&axis, 0, 10.4, 6);
    const char *const seconds[] = {"0", "2", "4", "6", "8", "10", NULL};
    assert_labels(&axis, seconds, "s");
    axis_make_time(&axis, 0, 1860, 8);
    const char *const minutes[] = {"0", "5", "10", "15", "20", "25", "30", NULL};
    assert_labels(&axis, minutes, "min");
    axis_make_time(&axis, 0, 100000, 6);
    const char *const hours[] = {"0", "6", "12", "18", "24", NULL};
    assert_labels(&axis, hours, "h");
    axis_make_time(&axis, 0.0105, 0.0121, 4);
    const char *const milliseconds[] = {"10.5", "11.0", "11.5", "12.0", NULL};
    assert_labels(&axis, milliseconds, "ms");
    assert_true(axis.low == 0.0105);
    assert_true(axis.high == 0.0121);
}

TEST(a_single_moment_has_a_width)
{
    struct axis axis;
    axis_make_time(&axis, 5, 5, 6);
    assert_true(axis.high > axis.low);
    assert_true(axis_place(&axis, 5) == 0);
}

TEST(a_value_has_three_digits)
{
    char text[AXIS_TEXT_SIZE];
    assert_string_equal(axis_value(64e9, "bytes", text), "64 GB");
    assert_string_equal(axis_value(1.5e9, "bytes", text), "1.5 GB");
    assert_string_equal(axis_value(400, "percent", text), "400 %");
    assert_string_equal(axis_value(0, "bytes", text), "0 B");
    assert_string_equal(axis_value(16, "count", text), "16");
}

RUN_TESTS(NULL, NULL)
