#include "machine/os/pressure.h"

#include "testing.h"

#include <math.h>

static void reads_the_totals(void **state)
{
    (void)state;
    struct pressure both =
        pressure_parse("some avg10=0.00 avg60=1.19 avg300=98.22 total=3351870307\n"
                       "full avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n");
    assert_true(both.some_seconds == 3351.870307);
    assert_true(both.full_seconds == 0.5);
}

static void a_cpu_of_older_kernels_has_no_full_one(void **state)
{
    (void)state;
    struct pressure some = pressure_parse("some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
    assert_true(some.some_seconds == 1e-6);
    assert_true(isnan(some.full_seconds));
}

static void what_is_cut_off_is_not_known(void **state)
{
    (void)state;
    assert_true(isnan(pressure_parse("").some_seconds));
    assert_true(isnan(pressure_parse("some avg10=0.00 total=12").some_seconds));
    assert_true(isnan(pressure_parse("some avg10=0.00\nfull total=7\n").some_seconds));
    assert_true(isnan(pressure_parse("some total=x\n").some_seconds));
}

static void a_kernel_without_them_has_none(void **state)
{
    (void)state;
    assert_true(isnan(pressure_read("/proc/pressure/nothing").some_seconds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_totals),
        cmocka_unit_test(a_cpu_of_older_kernels_has_no_full_one),
        cmocka_unit_test(what_is_cut_off_is_not_known),
        cmocka_unit_test(a_kernel_without_them_has_none),
    };
    return cmocka_run_group_tests_name("machine/os/pressure", tests, NULL, NULL);
}
