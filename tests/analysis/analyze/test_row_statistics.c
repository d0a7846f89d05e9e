#include "analysis/analyze/row_statistics.h"
#include "testing.h"

#include <math.h>
#include <string.h>

static void add(struct row_run *run, double value)
{
    double values[ROW_COLUMNS];
    for (int c = 0; c < ROW_COLUMNS; c++)
        values[c] = value;
    row_run_add(run, values);
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

TEST(an_empty_total_has_no_figures)
{
    struct row_total total = {0};
    struct row_run run;
    row_run_clear(&run);
    row_total_merge(&total, &run);
    struct gput_statistics figures = row_total_statistics(&total, 0, total.rows);
    assert_true(isnan(figures.min) && isnan(figures.max) && isnan(figures.mean));
    assert_true(isnan(figures.std));
}

TEST(one_row_has_no_spread)
{
    struct row_total total = {0};
    struct row_run run;
    row_run_clear(&run);
    add(&run, -3.5);
    row_total_merge(&total, &run);
    struct gput_statistics figures = row_total_statistics(&total, ROW_COLUMNS - 1, total.rows);
    assert_true(figures.min == -3.5 && figures.max == -3.5 && figures.mean == -3.5);
    assert_true(figures.std == 0);
}

TEST(std_divides_by_n)
{
    static const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct row_total total = {0};
    struct row_run run;
    row_run_clear(&run);
    for (size_t i = 0; i < 8; i++)
        add(&run, values[i]);
    row_total_merge(&total, &run);
    struct gput_statistics figures = row_total_statistics(&total, 3, total.rows);
    assert_near(figures.mean, 5);
    assert_near(figures.std, 2);
    assert_true(figures.min == 2 && figures.max == 9);
}

/* However the rows are cut into runs, the figures are the same. */
TEST(runs_merge_into_the_figures_of_all_rows)
{
    for (int length = 1; length <= 40; length++) {
        struct row_total total = {0};
        struct row_run run;
        double sum = 0, squares = 0;
        row_run_clear(&run);
        for (int i = 0; i < 120; i++) {
            double value = (i * 37) % 101 * 0.25;
            sum += value;
            squares += value * value;
            add(&run, value);
            if (i % length == length - 1) {
                row_total_merge(&total, &run);
                row_run_clear(&run);
            }
        }
        row_total_merge(&total, &run);
        struct gput_statistics figures = row_total_statistics(&total, 0, total.rows);
        assert_int_equal(total.rows, 120);
        assert_near(figures.mean, sum / 120);
        assert_near(figures.std, sqrt(squares / 120 - sum / 120 * (sum / 120)));
    }
}

/* The first row far from all others, and a spread of a billionth of the mean. */
TEST(a_small_spread_around_a_large_mean_keeps_its_digits)
{
    struct row_total total = {0};
    struct row_run run;
    row_run_clear(&run);
    for (int i = 0; i < 100000; i++) {
        add(&run, 1e9 + (i % 2));
        if (run.rows == 7) {
            row_total_merge(&total, &run);
            row_run_clear(&run);
        }
    }
    row_total_merge(&total, &run);
    struct gput_statistics figures = row_total_statistics(&total, 0, total.rows);
    assert_near(figures.mean, 1e9 + 0.5);
    assert_near(figures.std, 0.5);
}

TEST(missing_values_count_in_no_figure_of_their_column)
{
    struct row_total total = {0};
    struct row_run run;
    double values[ROW_COLUMNS] = {0};
    row_run_clear(&run);
    values[0] = NAN, values[1] = 1, values[2] = NAN;
    row_run_add(&run, values);
    values[1] = 3, values[2] = 10;
    row_run_add(&run, values);
    row_total_merge(&total, &run);
    row_run_clear(&run);
    values[1] = 5, values[2] = 20;
    row_run_add(&run, values);
    row_total_merge(&total, &run);

    assert_int_equal(total.rows, 3);
    assert_true(isnan(row_total_statistics(&total, 0, total.rows).mean));
    assert_near(row_total_statistics(&total, 1, total.rows).mean, 3);
    assert_near(row_total_statistics(&total, 2, total.rows).mean, 15);
    assert_near(row_total_statistics(&total, 2, total.rows).std, 5);
    assert_true(row_total_statistics(&total, 2, total.rows).min == 10);
}

/* What was not seen may have been more. A column that is 0 in every row is 0. */
TEST(zeros_with_missing_values_are_unknown)
{
    struct row_total total = {0};
    struct row_run run;
    double values[ROW_COLUMNS] = {0};
    row_run_clear(&run);
    for (int i = 0; i < 20; i++) {
        values[0] = i == 7 ? NAN : 0;
        values[1] = i == 7 ? NAN : i == 8 ? 3 : 0;
        row_run_add(&run, values);
        if (i == 12) {
            row_total_merge(&total, &run);
            row_run_clear(&run);
        }
    }
    row_total_merge(&total, &run);

    struct gput_statistics unknown = row_total_statistics(&total, 0, total.rows);
    struct gput_statistics some = row_total_statistics(&total, 1, total.rows);
    struct gput_statistics none = row_total_statistics(&total, 2, total.rows);
    assert_true(isnan(unknown.min) && isnan(unknown.max) && isnan(unknown.mean));
    assert_true(isnan(unknown.std));
    assert_int_equal(unknown.n_missing, 1);
    assert_true(some.max == 3);
    assert_near(some.mean, 3.0 / 19);
    assert_int_equal(some.n_missing, 1);
    assert_true(none.max == 0 && none.mean == 0);
    assert_int_equal(none.n_missing, 0);
}

TEST(an_infinite_value_is_no_missing_one)
{
    struct row_total total = {0};
    struct row_run run;
    row_run_clear(&run);
    add(&run, INFINITY);
    add(&run, 1);
    row_total_merge(&total, &run);
    assert_true(row_total_statistics(&total, 0, total.rows).max == INFINITY);
    assert_true(row_total_statistics(&total, 0, total.rows).min == 1);
}

/* Of fewer than 8 rows numpy adds one value after the other, whatever rounding takes away, and so
 * do we, however they are cut into runs. */
TEST(few_rows_add_up_as_in_numpy)
{
    for (int n = 1; n < 8; n++) {
        for (int length = 1; length <= n; length++) {
            struct row_total total = {0};
            struct row_run run;
            double sum = 0;
            row_run_clear(&run);
            for (int i = 0; i < n; i++) {
                double value = i * 7919 % 10007 / 1000.0 + 0.000000001 * i;
                sum += value;
                add(&run, value);
                if (i % length == length - 1 || i == n - 1) {
                    row_total_merge(&total, &run);
                    row_run_clear(&run);
                }
            }
            double mean = row_total_statistics(&total, 5, total.rows).mean;
            if (mean != sum / n)
                fail_msg("%d rows in runs of %d: %.17g is not %.17g", n, length, mean, sum / n);
        }
    }
}

TEST(few_rows_with_missing_values_add_up_as_in_numpy)
{
    static const double values[] = {0.1, 0.2, NAN, 0.3, NAN, 0.7};
    struct row_total total = {0};
    struct row_run run;
    row_run_clear(&run);
    for (size_t i = 0; i < 6; i++)
        add(&run, values[i]);
    row_total_merge(&total, &run);
    struct gput_statistics figures = row_total_statistics(&total, 0, total.rows);
    assert_true(figures.mean == (((0.1 + 0.2) + 0.3) + 0.7) / 4);
    assert_near(figures.std, sqrt(0.051875));
    assert_true(figures.min == 0.1 && figures.max == 0.7);
}

RUN_TESTS(NULL, NULL)
