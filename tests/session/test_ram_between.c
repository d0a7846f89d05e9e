#include "session/ram_between.h"

#include "testing.h"

#include <math.h>

static void keeps_the_highest_of_scans_and_samples(void **state)
{
    (void)state;
    struct ram_between between;
    ram_between_init(&between);
    assert_true(isnan(between.main_bytes) && isnan(between.at_least_bytes));
    assert_true(ram_between_begin_scan(&between));
    struct ram_figures ram = {
        .main.total = 10, .descendants.total = 20, .combined.total = 25, .at_least_bytes = 24};
    ram_between_add_scan(&between, &ram);
    ram = (struct ram_figures){.main.total = 12, .at_least_bytes = 30};
    ram_between_add_sample(&between, &ram);
    /* A sample has maxima of its own. */
    assert_true(between.main_bytes == 10);
    assert_true(between.descendants_bytes == 20);
    assert_true(between.combined_bytes == 25);
    assert_true(between.at_least_bytes == 30);
    assert_true(isnan(between.group_bytes));
}

static void a_group_that_cannot_be_read_is_not_tried_again(void **state)
{
    (void)state;
    struct ram_between between;
    struct own_cgroup none = {0};
    ram_between_init(&between);
    ram_between_read_group(&between, &none);
    assert_true(isnan(between.group_bytes));
    assert_true(between.group_not_before_ns == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_highest_of_scans_and_samples),
        cmocka_unit_test(a_group_that_cannot_be_read_is_not_tried_again),
    };
    return cmocka_run_group_tests_name("session/ram_between", tests, NULL, NULL);
}
