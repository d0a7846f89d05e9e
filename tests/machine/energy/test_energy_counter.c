#include "machine/energy/energy_counters.h"

#include "base/clock.h"
#include "testing.h"

#include <math.h>

TEST(gives_what_was_added)
{
    struct energy_counter counter;
    energy_counter_start(&counter, 100, 0, 0);
    assert_true(energy_counter_advance(&counter, 130.5, NS_PER_SECOND) == 30.5);
    assert_true(energy_counter_advance(&counter, 130.5, NS_PER_SECOND * 3 / 2) == 0);
    assert_false(counter.went_back || counter.stood_still);
}

TEST(undoes_a_wrap)
{
    struct energy_counter counter;
    energy_counter_start(&counter, 262100, 262143, 0);
    assert_true(energy_counter_advance(&counter, 57, NS_PER_SECOND) == 100);
    assert_false(counter.went_back);
}

TEST(distinguishes_a_reset_from_a_wrap)
{
    struct energy_counter counter;
    energy_counter_start(&counter, 1000, 262143, 0);
    assert_true(isnan(energy_counter_advance(&counter, 10, NS_PER_SECOND)));
    assert_true(counter.went_back);
    assert_true(energy_counter_advance(&counter, 15, 2 * NS_PER_SECOND) == 5);
}

TEST(a_wrap_that_no_device_could_need_is_a_reset)
{
    struct energy_counter counter;
    energy_counter_start(&counter, 200e3, 262143, 0);
    assert_true(isnan(energy_counter_advance(&counter, 10, NS_PER_SECOND)));
    assert_true(counter.went_back);
}

TEST(an_increase_that_no_device_could_need_is_skipped)
{
    struct energy_counter counter;
    energy_counter_start(&counter, 1000, 262143, 0);
    assert_true(energy_counter_advance(&counter, 1010, NS_PER_SECOND / 10) == 10);
    assert_true(isnan(energy_counter_advance(&counter, 101010, NS_PER_SECOND / 5)));
    assert_true(counter.went_ahead && !counter.went_back);
    assert_true(energy_counter_advance(&counter, 101020, NS_PER_SECOND * 3 / 10) == 10);
    /* A slow one: 2 kW for 30 s come at once. */
    assert_true(energy_counter_advance(&counter, 101020, NS_PER_SECOND * 302 / 10) == 0);
    assert_true(energy_counter_advance(&counter, 161020, NS_PER_SECOND * 303 / 10) == 60000);
}

TEST(without_a_range_any_decrease_is_a_reset)
{
    struct energy_counter counter;
    energy_counter_start(&counter, 1000, 0, 0);
    assert_true(isnan(energy_counter_advance(&counter, 999, NS_PER_SECOND)));
    assert_true(counter.went_back);
}

TEST(notices_a_stuck_counter)
{
    struct energy_counter counter;
    energy_counter_start(&counter, 1000, 0, 0);
    energy_counter_advance(&counter, 1000, NS_PER_SECOND);
    assert_false(counter.stood_still);
    energy_counter_advance(&counter, 1000, 2 * NS_PER_SECOND);
    assert_true(counter.stood_still);
}

static double unknown_seconds(const struct energy_counter *counter, int64_t now_seconds)
{
    return (double)energy_counter_unknown_ns(counter, 0, now_seconds * NS_PER_SECOND) /
           (double)NS_PER_SECOND;
}

TEST(gives_how_long_its_joules_are_not_known)
{
    struct energy_counter counter = {0};
    assert_true(unknown_seconds(&counter, 3) == 3); /* never read */
    energy_counter_start(&counter, 1000, 0, NS_PER_SECOND);
    assert_true(unknown_seconds(&counter, 3) == 3); /* never moved */
    energy_counter_advance(&counter, 1010, 2 * NS_PER_SECOND);
    assert_true(unknown_seconds(&counter, 2) == 0);
    energy_counter_advance(&counter, 5, 3 * NS_PER_SECOND);
    assert_true(unknown_seconds(&counter, 3) == 1);
    for (int second = 4; second <= 6; second++)
        energy_counter_advance(&counter, 5, second * NS_PER_SECOND);
    assert_true(unknown_seconds(&counter, 6) == 1 + 3);
    energy_counter_fail(&counter, 8 * NS_PER_SECOND);
    assert_true(unknown_seconds(&counter, 8) == 1 + 3 + 2);
    energy_counter_advance(&counter, 30, 8 * NS_PER_SECOND);
    assert_true(unknown_seconds(&counter, 8) == 1 + 3);
}

TEST(gives_how_long_it_failed_before_its_first_reading)
{
    struct energy_counter counter = {.range_joules = 500};
    energy_counter_fail(&counter, NS_PER_SECOND);
    energy_counter_fail(&counter, 2 * NS_PER_SECOND);
    assert_true(isnan(energy_counter_advance(&counter, 400, 4 * NS_PER_SECOND)));
    assert_true(counter.late_ns == 3 * NS_PER_SECOND && !counter.failed);
    assert_true(energy_counter_advance(&counter, 10, 5 * NS_PER_SECOND) == 110);
    assert_true(unknown_seconds(&counter, 5) == 3);
    /* Later it loses nothing. */
    energy_counter_fail(&counter, 6 * NS_PER_SECOND);
    assert_true(energy_counter_advance(&counter, 20, 7 * NS_PER_SECOND) == 10);
    assert_true(unknown_seconds(&counter, 7) == 3);
}

RUN_TESTS(NULL, NULL)
