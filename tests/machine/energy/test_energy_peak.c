#include "machine/energy/energy_power.h"

#include "testing.h"

#include <math.h>

static struct energy_peak peak;

/* Intervals of so long with the same power. */
static void add(double watts, double seconds, int times)
{
    for (int i = 0; i < times; i++)
        energy_peak_add(&peak, watts * seconds, seconds);
}

static void assert_watts(double expected)
{
    if (!(fabs(peak.watts - expected) <= 1e-6 * expected))
        fail_msg("%.6f is not %.6f", peak.watts, expected);
}

static int begin(void **state)
{
    (void)state;
    energy_peak_init(&peak);
    return 0;
}

static void finds_a_burst_wherever_it_begins(void **state)
{
    for (int before = 1; before < 25; before++) {
        begin(state);
        add(10, 0.1, before);
        add(1010, 0.1, 10);
        add(10, 0.1, 25);
        assert_watts(1010);
    }
}

static void a_burst_shorter_than_a_second_is_no_peak(void **state)
{
    (void)state;
    add(10, 0.25, 20);
    add(910, 0.25, 2);
    add(10, 0.25, 20);
    assert_watts(10 + 900 * 0.5);
}

static void the_mean_stands_for_the_peak_of_a_short_session(void **state)
{
    (void)state;
    assert_true(isnan(peak.watts));
    add(100, 0.2, 1);
    assert_watts(100);
    add(50, 0.2, 1);
    assert_watts(75);
}

static void intervals_may_be_long_or_too_short(void **state)
{
    (void)state;
    add(20, 3, 2);
    add(30, 1, 1);
    assert_watts(30);
    begin(state);
    add(40, 0.01, 500);
    assert_watts(40);
}

static void no_stretch_goes_across_a_break(void **state)
{
    (void)state;
    add(10, 0.25, 20);
    add(500, 0.25, 2);
    energy_peak_break(&peak);
    add(500, 0.25, 2);
    add(10, 0.25, 20);
    assert_watts((10 + 500) / 2.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(finds_a_burst_wherever_it_begins, begin),
        cmocka_unit_test_setup(a_burst_shorter_than_a_second_is_no_peak, begin),
        cmocka_unit_test_setup(the_mean_stands_for_the_peak_of_a_short_session, begin),
        cmocka_unit_test_setup(intervals_may_be_long_or_too_short, begin),
        cmocka_unit_test_setup(no_stretch_goes_across_a_break, begin),
    };
    return cmocka_run_group_tests_name("machine/energy/energy_peak", tests, NULL, NULL);
}
