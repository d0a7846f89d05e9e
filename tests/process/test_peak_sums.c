#include "process/peak_sums.h"

#include "testing.h"

#include <math.h>

#define SECOND INT64_C(1000000000)

static void add(struct peak_sums *sums, double start, double end, uint64_t bytes)
{
    peak_sums_begin(sums, 0);
    int64_t start_ns = (int64_t)(start * 1e9), end_ns = (int64_t)(end * 1e9);
    peak_sums_add(sums, start_ns, end_ns, &(struct peak_sum){.bytes = bytes});
}

static void without_processes_the_bound_is_zero(void **state)
{
    (void)state;
    assert_true(peak_sums_upper_bound(&(struct peak_sums){0}, NULL, NAN) == 0);
}

static void processes_that_lived_together_add_up(void **state)
{
    (void)state;
    struct peak_sums sums = {0};
    add(&sums, 100, 101, 10);
    add(&sums, 100.5, 102, 20);
    add(&sums, 101.5, 103, 25);
    assert_true(peak_sums_upper_bound(&sums, NULL, NAN) == 45);
    /* One that is added late and lived before all others. */
    add(&sums, 50, 60, 50);
    assert_true(peak_sums_upper_bound(&sums, NULL, NAN) == 50);
    add(&sums, -2, -1, 30);
    add(&sums, -4, -3, 30);
    assert_true(peak_sums_upper_bound(&sums, NULL, NAN) == 60);
    peak_sums_add_always(&sums, &(struct peak_sum){.bytes = 100});
    assert_true(peak_sums_upper_bound(&sums, NULL, NAN) == 160);
    const struct peak_sum others = {.bytes = 5, .unbounded = 1};
    assert_true(peak_sums_upper_bound(&sums, &others, 1000) == 1165);
    assert_true(isnan(peak_sums_upper_bound(&sums, &others, NAN)));
    assert_true(peak_sums_upper_bound(&(struct peak_sums){0}, &others, 1000) == 1005);
}

static void processes_that_followed_one_another_do_not_add_up(void **state)
{
    (void)state;
    struct peak_sums sums = {0};
    for (int i = 0; i < 1000; i++)
        add(&sums, i, i + 0.5, 10);
    /* Several of them may be in one step. */
    assert_true(peak_sums_upper_bound(&sums, NULL, NAN) >= 10);
    assert_true(peak_sums_upper_bound(&sums, NULL, NAN) <= 30);
}

static void it_stays_an_upper_bound_while_steps_grow(void **state)
{
    (void)state;
    struct peak_sums sums = {0};
    add(&sums, 0, 0.25, 10);
    add(&sums, 0.2, 0.3, 20);
    add(&sums, 0.9, 1, 5);
    add(&sums, 100000, 100001, 1);
    assert_true(peak_sums_upper_bound(&sums, NULL, NAN) >= 30);
}

static void processes_without_known_peak_count_by_the_given_bound(void **state)
{
    (void)state;
    struct peak_sums sums = {0};
    add(&sums, 0, 1, 10);
    peak_sums_add(&sums, SECOND / 2, SECOND, &(struct peak_sum){.unbounded = 1});
    peak_sums_add(&sums, 2 * SECOND, 3 * SECOND, &(struct peak_sum){.unbounded = 1});
    assert_true(peak_sums_upper_bound(&sums, NULL, 100) == 110);
    assert_true(isnan(peak_sums_upper_bound(&sums, NULL, NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_processes_the_bound_is_zero),
        cmocka_unit_test(processes_that_lived_together_add_up),
        cmocka_unit_test(processes_that_followed_one_another_do_not_add_up),
        cmocka_unit_test(it_stays_an_upper_bound_while_steps_grow),
        cmocka_unit_test(processes_without_known_peak_count_by_the_given_bound),
    };
    return cmocka_run_group_tests_name("process/peak_sums", tests, NULL, NULL);
}
