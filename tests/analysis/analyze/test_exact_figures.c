#include "analysis/analyze/exact_figures.h"
#include "testing.h"

#include <math.h>

#define START SUB_TRACKING_START
#define STOP SUB_TRACKING_STOP
#define UNKNOWN SUB_TRACKING_UNKNOWN

static struct sub_tracking_mark mark(uint8_t position, int64_t count)
{
    return (struct sub_tracking_mark){.position = position,
        .exact = {.thread_cpu_ns = count * 1000000000,
            .process_cpu_ns = count * 2000000000,
            .minor_faults = count * 3,
            .major_faults = count * 4,
            .peak_rss_bytes = count * 5,
            .energy_uj = count * 6000000,
            .block_peak_rss_bytes = count * 7,
            .instructions = count * 8,
            .cycles = count * 9,
            .cache_misses = count * 10,
            .gpu_ns = count * 11000000000}};
}

/* A mark at the time of its counts; a stop may name its start. */
static void add(struct exact_figures *figures, uint8_t position, int64_t count, double started)
{
    struct sub_tracking_mark row = mark(position, count);
    assert_int_equal(exact_figures_add_mark(figures, &row, (double)count, started, NULL), GPUT_OK);
}

static void read_sums(const struct exact_figures *figures, double sums[GPUT_EXACT_FIGURE_COUNT])
{
    for (int i = 0; i < GPUT_EXACT_FIGURE_COUNT; i++)
        sums[i] = 0;
    exact_figures_sum(figures, sums);
}

/* The sums over those marks, of a fresh list of figures. */
static void sum_up(
    const struct sub_tracking_mark *rows, size_t count, double sums[GPUT_EXACT_FIGURE_COUNT])
{
    struct exact_figures *figures = exact_figures_create(false);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(exact_figures_add_mark(figures, &rows[i], (double)i, NAN, NULL), GPUT_OK);
    read_sums(figures, sums);
    exact_figures_destroy(figures);
}

TEST(each_nested_call_counts_its_own)
{
    /* Calls of 20 and of 70, and one that is still open. */
    const struct sub_tracking_mark rows[] = {
        mark(START, 10), mark(START, 20), mark(STOP, 40), mark(STOP, 80), mark(START, 90)};
    double sums[GPUT_EXACT_FIGURE_COUNT];
    sum_up(rows, 5, sums);
    for (int i = 0; i < GPUT_EXACT_BLOCK_PEAK_RSS; i++)
        assert_float_equal(sums[i], 90 * (i + 1), 1e-6);
    for (int i = GPUT_EXACT_BLOCK_PEAK_RSS_RISE; i < GPUT_EXACT_FIGURE_COUNT; i++)
        assert_float_equal(sums[i], 90 * i, 1e-6);
    assert_float_equal(sums[GPUT_EXACT_BLOCK_PEAK_RSS], 7 * 80, 1e-6); /* as its stop has it */
}

TEST(the_largest_of_calls_is_no_sum)
{
    struct sub_tracking_mark rows[] = {mark(START, 1), mark(STOP, 9), mark(START, 10),
        mark(STOP, 20), mark(START, 21), mark(STOP, 22)};
    double sums[GPUT_EXACT_FIGURE_COUNT];
    rows[5].exact.block_peak_rss_bytes = rows[4].exact.block_peak_rss_bytes = 5;
    sum_up(rows, 6, sums);
    assert_float_equal(sums[GPUT_EXACT_BLOCK_PEAK_RSS], 7 * 20, 0);
    assert_float_equal(exact_figure_add(GPUT_EXACT_BLOCK_PEAK_RSS, 3, 2), 3, 0);
    assert_float_equal(exact_figure_add(GPUT_EXACT_CYCLES, 3, 2), 5, 0);
    assert_true(isnan(exact_figure_add(GPUT_EXACT_BLOCK_PEAK_RSS, NAN, 2)));
    rows[3].exact.block_peak_rss_bytes = UNKNOWN;
    sum_up(rows, 6, sums);
    assert_true(isnan(sums[GPUT_EXACT_BLOCK_PEAK_RSS]));
}

TEST(only_the_figure_that_a_mark_lacks_is_unknown)
{
    struct sub_tracking_mark rows[] = {mark(START, 1), mark(STOP, 2), mark(START, 3), mark(STOP, 4),
        mark(START, 5), mark(STOP, 6)};
    double sums[GPUT_EXACT_FIGURE_COUNT];
    rows[2].exact.energy_uj = UNKNOWN;
    rows[3].exact.major_faults = UNKNOWN;
    sum_up(rows, 6, sums);
    assert_true(isnan(sums[GPUT_EXACT_PACKAGE_ENERGY]));
    assert_true(isnan(sums[GPUT_EXACT_MAJOR_FAULTS]));
    assert_float_equal(sums[GPUT_EXACT_MINOR_FAULTS], 9, 0);
}

TEST(invalid_figures_are_unknown)
{
    double sums[GPUT_EXACT_FIGURE_COUNT];
    const struct sub_tracking_mark sinking[] = {mark(START, 5), mark(STOP, 4)};
    sum_up(sinking, 2, sums);
    assert_true(isnan(sums[GPUT_EXACT_THREAD_CPU_TIME]));
    const struct sub_tracking_mark lone[] = {mark(STOP, 4), mark(START, 5), mark(STOP, 6)};
    sum_up(lone, 3, sums);
    assert_true(isnan(sums[GPUT_EXACT_PEAK_RSS_RISE]));
    struct sub_tracking_mark huge[] = {
        mark(START, 0), mark(STOP, 1), mark(START, 0), mark(STOP, 1)};
    huge[1].exact.minor_faults = huge[3].exact.minor_faults = INT64_MAX;
    sum_up(huge, 4, sums);
    assert_true(isnan(sums[GPUT_EXACT_MINOR_FAULTS]));
    assert_float_equal(sums[GPUT_EXACT_PROCESS_CPU_TIME], 4, 1e-9);
}

TEST(marks_of_any_depth_are_paired)
{
    struct sub_tracking_mark rows[200];
    double sums[GPUT_EXACT_FIGURE_COUNT];
    for (int i = 0; i < 200; i++)
        rows[i] = mark(i < 100 ? START : STOP, i);
    sum_up(rows, 200, sums);
    assert_float_equal(sums[GPUT_EXACT_THREAD_CPU_TIME], 100 * 100, 1e-6);
}

TEST(a_stop_with_a_start_time_has_that_start)
{
    struct exact_figures *figures = exact_figures_create(true);
    double sums[GPUT_EXACT_FIGURE_COUNT];
    /* Calls of 30 and of 50; those begun at 20 and 25 never stop. */
    add(figures, START, 10, NAN);
    add(figures, START, 20, NAN);
    add(figures, START, 25, NAN);
    add(figures, STOP, 40, 10);
    add(figures, START, 50, NAN);
    add(figures, STOP, 100, NAN);
    assert_false(exact_figures_have_unmatched_stops(figures));
    read_sums(figures, sums);
    for (int i = 0; i < GPUT_EXACT_BLOCK_PEAK_RSS; i++)
        assert_float_equal(sums[i], 80 * (i + 1), 1e-6);
    exact_figures_add_call(figures, 40, sums);
    assert_float_equal(sums[GPUT_EXACT_PROCESS_CPU_TIME], 60, 1e-6);
    exact_figures_add_call(figures, 100, sums);
    assert_float_equal(sums[GPUT_EXACT_MINOR_FAULTS], 150, 1e-6);
    exact_figures_add_call(figures, 100, sums);
    assert_true(isnan(sums[GPUT_EXACT_MINOR_FAULTS]));
    exact_figures_destroy(figures);
}

TEST(a_call_that_changed_threads_has_the_figures_of_its_process)
{
    struct exact_figures *begun = exact_figures_create(false), *ended = exact_figures_create(true);
    struct exact_figures *all = exact_figures_create(false);
    double sums[GPUT_EXACT_FIGURE_COUNT];
    add(ended, STOP, 30, 10); /* before its start in the file, as threads have parts of their own */
    add(ended, STOP, 40, 20);
    for (int i = 10; i <= 20; i++)
        add(begun, START, i, NAN);
    assert_true(exact_figures_have_unmatched_stops(ended));
    assert_int_equal(exact_figures_add_open(all, begun, NULL), GPUT_OK);
    assert_int_equal(exact_figures_add_open(all, ended, NULL), GPUT_OK);
    assert_int_equal(exact_figures_pair_unmatched_stops(ended, all, NULL), GPUT_OK);
    assert_false(exact_figures_have_unmatched_stops(ended));
    read_sums(ended, sums);
    assert_true(isnan(sums[GPUT_EXACT_THREAD_CPU_TIME]));
    assert_true(isnan(sums[GPUT_EXACT_MINOR_FAULTS]));
    assert_true(isnan(sums[GPUT_EXACT_MAJOR_FAULTS]));
    assert_float_equal(sums[GPUT_EXACT_PROCESS_CPU_TIME], 80, 1e-6);
    assert_float_equal(sums[GPUT_EXACT_PEAK_RSS_RISE], 200, 1e-6);
    assert_float_equal(sums[GPUT_EXACT_PACKAGE_ENERGY], 240, 1e-6);
    exact_figures_add_call(ended, 30, sums);
    assert_float_equal(sums[GPUT_EXACT_PROCESS_CPU_TIME], 40, 1e-6);
    assert_true(isnan(sums[GPUT_EXACT_THREAD_CPU_TIME]));
    add(ended, STOP, 50, 9); /* begun nowhere */
    assert_int_equal(exact_figures_pair_unmatched_stops(ended, all, NULL), GPUT_OK);
    read_sums(ended, sums);
    assert_true(isnan(sums[GPUT_EXACT_PROCESS_CPU_TIME]));
    exact_figures_destroy(begun);
    exact_figures_destroy(ended);
    exact_figures_destroy(all);
}

RUN_TESTS(NULL, NULL)
