#include "analysis/size/families.h"
#include "testing.h"

#include <string.h>

static struct size_bound bound_of(const double *seen, size_t count, size_t n_censored)
{
    struct size_value values[MAX_RUNS];
    struct size_bound bound;
    struct gput_error error;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct size_value){seen[i], i >= count - n_censored, NAN, NAN};
    assert_int_equal(size_bound_compute(values, count, 0.95, NAN, &bound, &error), GPUT_OK);
    return bound;
}

static void assert_near(double value, double expected, double part)
{
    if (!(fabs(value - expected) <= part * fabs(expected)))
        fail_msg("%.9g is not near %.9g", value, expected);
}

TEST(quantiles_are_those_of_tables)
{
    assert_near(size_student_quantile(0.95, 1), 6.313752, 1e-6);
    assert_near(size_student_quantile(0.95, 2), 2.919986, 1e-6);
    assert_near(size_student_quantile(0.95, 3), 2.353363, 1e-3);
    assert_near(size_student_quantile(0.95, 9), 1.833113, 1e-4);
    assert_near(size_student_quantile(0.99, 30), 2.457262, 1e-4);
    assert_near(size_student_quantile(0.95, 1e6), 1.644855, 1e-4);
}

TEST(nothing_says_nothing)
{
    struct size_bound bound = bound_of(NULL, 0, 0);
    assert_int_equal(bound.basis, SIZE_BASIS_NONE);
    assert_true(isnan(bound.value));
}

TEST(one_run_is_a_guess)
{
    const double seen[] = {1e9};
    struct size_bound bound = bound_of(seen, 1, 0);
    assert_int_equal(bound.basis, SIZE_BASIS_GUESS);
    assert_true(bound.value > 1.2e9 && bound.value < 2e9);
    assert_int_equal(bound.n_needed, 19);
}

TEST(of_nineteen_runs_the_highest_is_the_bound)
{
    double seen[19];
    for (size_t i = 0; i < 19; i++)
        seen[i] = 100 + (double)(i * 7 % 19);
    struct size_bound bound = bound_of(seen, 19, 0);
    assert_int_equal(bound.basis, SIZE_BASIS_ORDER);
    assert_near(bound.value, 118, 1e-9);
    bound = bound_of(seen, 18, 0);
    assert_int_equal(bound.basis, SIZE_BASIS_LOGNORMAL);
    assert_true(bound.value >= bound.seen);
}

TEST(few_runs_that_differ_do_not_ask_for_everything)
{
    const double seen[] = {1e6, 1e9, 1e7};
    assert_near(bound_of(seen, 3, 0).value, 3e9, 1e-9);
}

TEST(more_than_a_killed_run_had_is_asked_for)
{
    double seen[41];
    for (size_t i = 0; i < 40; i++)
        seen[i] = 1e9 + (double)i * 1e6;
    seen[40] = 2e9;
    struct size_bound bound = bound_of(seen, 41, 1);
    assert_true(bound.value < 1.1e9); /* one of 41: 95 % fit without it */
    bound = bound_of(seen + 35, 6, 1);
    assert_int_equal(bound.basis, SIZE_BASIS_LOGNORMAL);
    assert_true(bound.value >= 2.4e9);
    assert_true(bound.is_seen_censored);
    assert_int_equal(bound.n_censored, 1);
}

TEST(a_run_that_was_killed_early_says_nothing_of_the_top)
{
    double seen[31];
    for (size_t i = 0; i < 30; i++)
        seen[i] = 1e9 + (double)i * 1e6;
    seen[30] = 1e6;
    assert_near(bound_of(seen, 31, 1).value, bound_of(seen, 30, 0).value, 0.002);
}

static struct size_bound bound_of_inputs(double slope, size_t count, double input)
{
    struct size_value values[MAX_RUNS];
    struct size_bound bound;
    struct gput_error error;
    for (size_t i = 0; i < count; i++)
        values[i] = (struct size_value){1e8 + slope * (double)(i + 1) * 1e6 + (double)(i % 3) * 1e5,
            false, (double)(i + 1) * 1e6, NAN};
    assert_int_equal(size_bound_compute(values, count, 0.95, input, &bound, &error), GPUT_OK);
    return bound;
}

TEST(what_grows_is_for_the_next_input)
{
    struct size_bound bound = bound_of_inputs(20, 30, 15e6);
    assert_true(bound.grows);
    assert_false(bound.is_beyond);
    assert_near(bound.slope, 20, 0.02);
    assert_near(bound.value, 1e8 + 20 * 15e6, 0.01);
    bound = bound_of_inputs(20, 30, 60e6);
    assert_true(bound.is_beyond);
    assert_near(bound.value, 1e8 + 20 * 60e6, 0.02);
    assert_near(bound_of_inputs(20, 30, NAN).covariate, 30e6, 1e-9);
}

TEST(what_does_not_grow_is_not_said_to)
{
    assert_false(bound_of_inputs(0, 30, 15e6).grows);
    assert_false(bound_of_inputs(-1, 30, 15e6).grows);
    assert_false(bound_of_inputs(20, 3, 15e6).grows);
}

/* The promise of docs/size.md: 93 to 97 of 100 later runs fit. */
TEST(as_many_later_runs_fit_as_is_said)
{
    const size_t counts[] = {20, 40, 100};
    for (int family = 0; family < FAMILY_COUNT; family++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            struct coverage coverage =
                measure_coverage((enum family)family, counts[i], 400, bound_of_size);
            if (coverage.share < 0.93 || coverage.share > 0.975)
                fail_msg("%s, %zu runs: %.3f of the later ones fit", family_names[family],
                    counts[i], coverage.share);
        }
    }
}

TEST(few_runs_ask_for_more_rather_than_for_less)
{
    for (int family = 0; family < FAMILY_COUNT; family++) {
        struct coverage coverage = measure_coverage((enum family)family, 10, 400, bound_of_size);
        if (coverage.share < 0.92)
            fail_msg("%s: %.3f of the later ones fit", family_names[family], coverage.share);
    }
}

RUN_TESTS(NULL, NULL)
