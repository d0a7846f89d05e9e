#include "base/clock.h"
#include "machine/energy/energy_meter.h"
#include "model/energy.h"
#include "testing.h"

#include <math.h>

static const int64_t begin_ns = 5 * NS_PER_SECOND;

/* Adds the joules of packages and GPUs after so many seconds. */
static void add(struct energy_power *power, double seconds, double package, double gpu)
{
    struct gput_energy energy = {.machine = {package, NAN, NAN, NAN, NAN, gpu, NAN, package}};
    double joules[GPUT_ENERGY_FIGURE_COUNT];
    energy_figures(&energy, joules);
    energy_power_add(power, joules, begin_ns + (int64_t)(seconds * (double)NS_PER_SECOND));
}

TEST(is_known_soon_and_then_updated_every_second)
{
    struct energy_power power;
    energy_power_init(&power);
    add(&power, 0, 0, NAN);
    assert_true(isnan(power.watts[GPUT_ENERGY_PACKAGE]));
    add(&power, 0.05, 5, NAN);
    assert_true(isnan(power.watts[GPUT_ENERGY_PACKAGE]));
    add(&power, 0.25, 25, NAN);
    assert_true(power.watts[GPUT_ENERGY_PACKAGE] == 100);
    add(&power, 0.5, 1000, NAN); /* a jump within the second */
    assert_true(power.watts[GPUT_ENERGY_PACKAGE] == 100);
    add(&power, 2.25, 65, NAN);
    assert_true(power.watts[GPUT_ENERGY_PACKAGE] == 20);
    assert_true(power.watts[GPUT_ENERGY_TOTAL] == 20);
    assert_true(isnan(power.watts[GPUT_ENERGY_DRAM]));
}

TEST(a_figure_is_first_known_at_the_end_of_its_first_interval)
{
    struct energy_power power;
    energy_power_init(&power);
    add(&power, 0, NAN, NAN);
    add(&power, 0.5, 50, NAN);
    assert_true(power.watts[GPUT_ENERGY_PACKAGE] == 100);
    add(&power, 1.5, 150, 30); /* a GPU joined */
    assert_true(power.watts[GPUT_ENERGY_GPU] == 30);
}

TEST(a_figure_that_stopped_is_not_known)
{
    struct energy_power power;
    energy_power_init(&power);
    add(&power, 0, NAN, NAN);
    add(&power, 1, 100, 50);
    add(&power, 2, 200, NAN);
    assert_true(power.watts[GPUT_ENERGY_PACKAGE] == 100);
    assert_true(isnan(power.watts[GPUT_ENERGY_GPU]));
    add(&power, 3, 300, 9000); /* of how long is not known */
    assert_true(isnan(power.watts[GPUT_ENERGY_GPU]));
    add(&power, 4, 400, 9050);
    assert_true(power.watts[GPUT_ENERGY_GPU] == 50);
}

/* ---- The maximum ---- */

static struct energy_peak peak;

/* Intervals of so long with the same power. */
static void add_interval(double watts, double seconds, int times)
{
    for (int i = 0; i < times; i++)
        energy_peak_add(&peak, watts * seconds, seconds);
}

static void assert_watts(double expected)
{
    if (!(fabs(peak.watts - expected) <= 1e-6 * expected))
        fail_msg("%.6f is not %.6f", peak.watts, expected);
}

static int begin_peak(void **state)
{
    (void)state;
    energy_peak_init(&peak);
    return 0;
}

TEST_WITH(finds_a_burst_wherever_it_begins, begin_peak, NULL)
{
    for (int before = 1; before < 25; before++) {
        begin_peak(state);
        add_interval(10, 0.1, before);
        add_interval(1010, 0.1, 10);
        add_interval(10, 0.1, 25);
        assert_watts(1010);
    }
}

TEST_WITH(a_burst_shorter_than_a_second_is_no_peak, begin_peak, NULL)
{
    add_interval(10, 0.25, 20);
    add_interval(910, 0.25, 2);
    add_interval(10, 0.25, 20);
    assert_watts(10 + 900 * 0.5);
}

TEST_WITH(the_mean_stands_for_the_peak_of_a_short_session, begin_peak, NULL)
{
    assert_true(isnan(peak.watts));
    add_interval(100, 0.2, 1);
    assert_watts(100);
    add_interval(50, 0.2, 1);
    assert_watts(75);
}

TEST_WITH(intervals_may_be_long_or_too_short, begin_peak, NULL)
{
    add_interval(20, 3, 2);
    add_interval(30, 1, 1);
    assert_watts(30);
    begin_peak(state);
    add_interval(40, 0.01, 500);
    assert_watts(40);
}

TEST_WITH(no_stretch_goes_across_a_break, begin_peak, NULL)
{
    add_interval(10, 0.25, 20);
    add_interval(500, 0.25, 2);
    energy_peak_break(&peak);
    add_interval(500, 0.25, 2);
    add_interval(10, 0.25, 20);
    assert_watts((10 + 500) / 2.0);
}

RUN_TESTS(NULL, NULL)
