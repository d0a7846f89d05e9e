#include "machine/os/proc_stat.h"

#include "testing.h"

#include <stdio.h>

TEST(reads_the_times_of_a_thread)
{
    struct schedstat schedstat;
    assert_int_equal(schedstat_parse("512345678 1280000001 77\n", &schedstat), GPUT_OK);
    assert_int_equal(schedstat.run_ns, 512345678);
    assert_int_equal(schedstat.wait_ns, 1280000001);
    assert_int_equal(schedstat.timeslices, 77);
}

TEST(reads_a_descriptor_again)
{
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

TEST(refuses_what_is_no_schedstat)
{
    struct schedstat schedstat;
    assert_int_equal(schedstat_parse("", &schedstat), GPUT_ERROR_FORMAT);
    assert_int_equal(schedstat_parse("1", &schedstat), GPUT_ERROR_FORMAT);
    assert_int_equal(schedstat_parse("1 2", &schedstat), GPUT_ERROR_FORMAT);
    assert_int_equal(schedstat_parse("1 2 ", &schedstat), GPUT_ERROR_FORMAT);
    assert_int_equal(schedstat_parse("1 x 3", &schedstat), GPUT_ERROR_FORMAT);
}

RUN_TESTS(NULL, NULL)
