#include "base/clock.h"

#include "testing.h"

#include <math.h>

TEST(seconds_become_the_nearest_nanosecond)
{
    assert_int_equal(clock_ns_of_seconds(0), 0);
    assert_int_equal(clock_ns_of_seconds(0.0035), 3500000);
    assert_int_equal(clock_ns_of_seconds(1e-9), 1);
    assert_int_equal(clock_ns_of_seconds(86400), 86400 * NS_PER_SECOND);
}

TEST(what_is_too_long_can_still_be_added_to_a_time)
{
    const double too_long[] = {1e11, 1e300, INFINITY, NAN};
    for (size_t i = 0; i < sizeof too_long / sizeof too_long[0]; i++) {
        int64_t ns = clock_ns_of_seconds(too_long[i]);
        assert_true(ns > NS_PER_SECOND * 86400 * 365 * 99);
        assert_true(ns < INT64_MAX - clock_realtime_ns());
    }
}

RUN_TESTS(NULL, NULL)
