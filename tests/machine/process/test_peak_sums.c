#include "machine/process/process_totals.h"

#include "testing.h"

#include <math.h>

#define SECOND INT64_C(1000000000)

static void add(struct peak_sums *sums, double start, double end, uint64_t bytes)
{
    int64_t start_ns = (int64_t)(start * 1e9), end_ns = (int64_t)(end * 1e9);
    assert_true(peak_sums_add(sums, start_ns, end_ns, &(struct peak_sum){.bytes = bytes}));
}

TEST(without_processes_the_bound_is_zero)
{
    assert_true(peak_sums_upper_bound(&(struct peak_sums){0}, NAN) == 0);
}

TEST(processes_that_lived_together_add_up)
{
    struct peak_sums sums = {0};
    add(&sums, 100, 101, 10);
    add(&sums, 100.5, 102, 20);
    add(&sums, 101.5, 103, 25);
    assert_true(peak_sums_upper_bound(&sums, NAN) == 45);
    /* One that is added late and lived before all others. */
    add(&sums, 50, 60, 50);
    assert_true(peak_sums_upper_bound(&sums, NAN) == 50);
    add(&sums, -2, -1, 30);
    add(&sums, -4, -3, 30);
    assert_true(peak_sums_upper_bound(&sums, NAN) == 50);
    peak_sums_finish(&sums);
}

TEST(processes_that_followed_one_another_do_not_add_up)
{
    struct peak_sums sums = {0};
    for (int i = 0; i < 1000; i++)
        add(&sums, i * 1e-6, (i + 1) * 1e-6, 10);
    assert_true(peak_sums_upper_bound(&sums, NAN) == 10);
    peak_sums_finish(&sums);
}

TEST(one_that_lives_adds_to_all_since_its_start)
{
    struct peak_sums sums = {0};
    add(&sums, 1, 2, 100);
    add(&sums, 3, 4, 20);
    assert_true(peak_sums_add(&sums, 2 * SECOND, INT64_MAX, &(struct peak_sum){.bytes = 50}));
    assert_true(peak_sums_upper_bound(&sums, NAN) == 100);
    assert_true(peak_sums_add(&sums, 2 * SECOND, INT64_MAX, &(struct peak_sum){.bytes = 50}));
    assert_true(peak_sums_upper_bound(&sums, NAN) == 120);
    peak_sums_finish(&sums);
}

TEST(processes_without_known_peak_count_by_the_given_bound)
{
    struct peak_sums sums = {0};
    add(&sums, 0, 1, 10);
    peak_sums_add(&sums, SECOND / 2, SECOND, &(struct peak_sum){.unbounded = 1});
    peak_sums_add(&sums, 2 * SECOND, 3 * SECOND, &(struct peak_sum){.unbounded = 1});
    assert_true(peak_sums_upper_bound(&sums, 100) == 110);
    assert_true(isnan(peak_sums_upper_bound(&sums, NAN)));
    peak_sums_finish(&sums);
}

/* Random processes, of which some live on: the same bound, whatever is dropped on the way. */
TEST(what_is_dropped_was_not_the_highest)
{
    enum { LONG = 8, SHORT = 20000 };
    struct peak_sums whole = {0}, sums = {0};
    int64_t starts[LONG];
    struct peak_sum living[LONG];
    uint64_t random = 12345;
    size_t n_starts = 0, most = 0;
    for (int i = 0; i < SHORT; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        int64_t now_ns = i * (SECOND / 100);
        int64_t lived_ns = (int64_t)(random >> 40) * 10;
        struct peak_sum peak = {.bytes = random >> 50, .unbounded = i % 3 == 0};
        if (i % (SHORT / LONG) == SHORT / LONG / 2) {
            living[n_starts] = (struct peak_sum){.bytes = random >> 48};
            starts[n_starts++] = now_ns + 7;
        }
        assert_true(peak_sums_add(&sums, now_ns - lived_ns, now_ns, &peak));
        assert_true(peak_sums_add(&whole, now_ns - lived_ns, now_ns, &peak));
        if (peak_sums_are_many(&sums))
            peak_sums_compact(&sums, starts, n_starts, 100000);
        most = sums.count > most ? sums.count : most;
    }
    for (size_t i = 0; i < n_starts; i++) {
        assert_true(peak_sums_add(&sums, starts[i], INT64_MAX, &living[i]));
        assert_true(peak_sums_add(&whole, starts[i], INT64_MAX, &living[i]));
    }
    assert_true(most < 2000 && whole.count > 30000);
    double bounds[] = {100000, 123456, 1e9};
    for (size_t i = 0; i < 3; i++)
        assert_true(
            peak_sums_upper_bound(&sums, bounds[i]) == peak_sums_upper_bound(&whole, bounds[i]));
    peak_sums_finish(&sums);
    peak_sums_finish(&whole);
}

RUN_TESTS(NULL, NULL)
