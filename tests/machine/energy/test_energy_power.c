#include "base/clock.h"
#include "machine/energy/energy_power.h"
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

static void is_known_soon_and_then_updated_every_second(void **state)
{
    (void)state;
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

static void a_figure_is_first_known_at_the_end_of_its_first_interval(void **state)
{
    (void)state;
    struct energy_power power;
    energy_power_init(&power);
    add(&power, 0, NAN, NAN);
    add(&power, 0.5, 50, NAN);
    assert_true(power.watts[GPUT_ENERGY_PACKAGE] == 100);
    add(&power, 1.5, 150, 30); /* a GPU joined */
    assert_true(power.watts[GPUT_ENERGY_GPU] == 30);
}

static void a_figure_that_stopped_is_not_known(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_known_soon_and_then_updated_every_second),
        cmocka_unit_test(a_figure_is_first_known_at_the_end_of_its_first_interval),
        cmocka_unit_test(a_figure_that_stopped_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
