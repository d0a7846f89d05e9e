#include "machine/os/system_stat.h"

#include "testing.h"

TEST(adds_up_cpu_time_without_counting_guests_twice)
{
    struct system_stat stat;
    assert_int_equal(system_stat_read(fixture("procfs-old"), &stat, NULL), GPUT_OK);
    assert_int_equal(stat.total_ticks, 4705 + 150 + 1120 + 1644 + 225 + 10 + 20 + 30);
    assert_int_equal(stat.busy_ticks, 4705 + 150 + 1120 + 10 + 20);
    assert_int_equal(stat.cpu_count, 3);
    assert_int_equal(stat.processes_started, 2915);
}

TEST(a_truncated_text_still_has_the_total)
{
    struct system_stat stat;
    assert_int_equal(system_stat_parse("cpu  1 2 3 4\ncpu0 1 2 3 4\nctxt 5", &stat), GPUT_OK);
    assert_int_equal(stat.total_ticks, 10);
    assert_int_equal(stat.cpu_count, 1);
}

TEST(refuses_what_is_no_stat)
{
    struct system_stat stat;
    assert_int_equal(system_stat_parse("", &stat), GPUT_ERROR_FORMAT);
    assert_int_equal(system_stat_parse("cpu  1 2 3 4", &stat), GPUT_ERROR_FORMAT);
    assert_int_equal(system_stat_parse("cpu  1 2 3\n", &stat), GPUT_ERROR_FORMAT);
    assert_int_equal(system_stat_parse("cpu0 1 2 3 4\n", &stat), GPUT_ERROR_FORMAT);
    assert_int_equal(system_stat_read("/no/such/root", &stat, NULL), GPUT_ERROR_NOT_FOUND);
}

RUN_TESTS(NULL, NULL)
