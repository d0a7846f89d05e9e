#include "machine/os/proc_stat.h"

#include "testing.h"

#include <stdio.h>

static void reads_the_times_of_a_thread(void **state)
{
    (void)state;
    struct schedstat schedstat;
    assert_int_equal(schedstat_parse("512345678 1280000001 77\n", &schedstat), GPUT_OK);
    assert_int_equal(schedstat.run_ns, 512345678);
    assert_int_equal(schedstat.wait_ns, 1280000001);
    assert_int_equal(schedstat.timeslices, 77);
}

static void reads_a_descriptor_again(void **state)
{
    (void)state;
    struct schedstat schedstat = {0};
    FILE *file = tmpfile();
    assert_non_null(file);
    fputs("5 6 7\n", file);
    fflush(file);
    assert_int_equal(schedstat_reread(fileno(file), &schedstat), GPUT_OK);
    assert_int_equal(schedstat.wait_ns, 6);
    assert_int_equal(schedstat_reread(fileno(file), &schedstat), GPUT_OK);
    assert_int_equal(schedstat.wait_ns, 6);
    fclose(file);
}

static void refuses_what_is_no_schedstat(void **state)
{
    (void)state;
    struct schedstat schedstat;
    assert_int_equal(schedstat_parse("", &schedstat), GPUT_ERROR_FORMAT);
    assert_int_equal(schedstat_parse("1", &schedstat), GPUT_ERROR_FORMAT);
    assert_int_equal(schedstat_parse("1 2", &schedstat), GPUT_ERROR_FORMAT);
    assert_int_equal(schedstat_parse("1 2 ", &schedstat), GPUT_ERROR_FORMAT);
    assert_int_equal(schedstat_parse("1 x 3", &schedstat), GPUT_ERROR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_times_of_a_thread),
        cmocka_unit_test(reads_a_descriptor_again),
        cmocka_unit_test(refuses_what_is_no_schedstat),
    };
    return cmocka_run_group_tests_name("machine/os/schedstat", tests, NULL, NULL);
}
