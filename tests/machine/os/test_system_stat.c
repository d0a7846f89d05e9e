#include "machine/os/system_stat.h"

#include "testing.h"

static void adds_up_cpu_time_without_counting_guests_twice(void **state)
{
    (void)state;
    struct system_stat stat;
    assert_int_equal(system_stat_read(fixture("procfs-old"), &stat, NULL), GPUT_OK);
    assert_int_equal(stat.total_ticks, 4705 + 150 + 1120 + 1644 + 225 + 10 + 20 + 30);
    assert_int_equal(stat.busy_ticks, 4705 + 150 + 1120 + 10 + 20);
    assert_int_equal(stat.cpu_count, 3);
    assert_int_equal(stat.processes_started, 2915);
}

static void a_truncated_text_still_has_the_total(void **state)
{
    (void)state;
    struct system_stat stat;
    assert_int_equal(system_stat_parse("cpu  1 2 3 4\ncpu0 1 2 3 4\nctxt 5", &stat), GPUT_OK);
    assert_int_equal(stat.total_ticks, 10);
    assert_int_equal(stat.cpu_count, 1);
}

static void refuses_what_is_no_stat(void **state)
{
    (void)state;
    struct system_stat stat;
    assert_int_equal(system_stat_parse("", &stat), GPUT_ERROR_FORMAT);
    assert_int_equal(system_stat_parse("cpu  1 2 3 4", &stat), GPUT_ERROR_FORMAT);
    assert_int_equal(system_stat_parse("cpu  1 2 3\n", &stat), GPUT_ERROR_FORMAT);
    assert_int_equal(system_stat_parse("cpu0 1 2 3 4\n", &stat), GPUT_ERROR_FORMAT);
    assert_int_equal(system_stat_read("/no/such/root", &stat, NULL), GPUT_ERROR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up_cpu_time_without_counting_guests_twice),
        cmocka_unit_test(a_truncated_text_still_has_the_total),
        cmocka_unit_test(refuses_what_is_no_stat),
    };
    return cmocka_run_group_tests_name("machine/os/system_stat", tests, NULL, NULL);
}
