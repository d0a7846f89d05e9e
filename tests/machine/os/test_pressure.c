#include "machine/os/system_stat.h"

#include "testing.h"

#include <math.h>

TEST(reads_the_totals)
{
    struct pressure both =
        pressure_parse("some avg10=0.00 avg60=1.19 avg300=98.22 total=3351870307\n"
                       "full avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n");
    assert_true(both.some_seconds == 3351.870307);
    assert_true(both.full_seconds == 0.5);
}

TEST(a_cpu_of_older_kernels_has_no_full_one)
{
    struct pressure some = pressure_parse("some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
    assert_true(some.some_seconds == 1e-6);
    assert_true(isnan(some.full_seconds));
}

TEST(what_is_cut_off_is_not_known)
{
    assert_true(isnan(pressure_parse("").some_seconds));
    assert_true(isnan(pressure_parse("some avg10=0.00 total=12").some_seconds));
    assert_true(isnan(pressure_parse("some avg10=0.00\nfull total=7\n").some_seconds));
    assert_true(isnan(pressure_parse("some total=x\n").some_seconds));
}

TEST(a_kernel_without_them_has_none)
{
    assert_true(isnan(pressure_read("/proc/pressure/nothing").some_seconds));
}

RUN_TESTS(NULL, NULL)
