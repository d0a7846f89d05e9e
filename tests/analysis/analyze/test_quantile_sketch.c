#include "analysis/analyze/quantile_sketch.h"
#include "testing.h"

#include <math.h>

static void add(struct quantile_sketch *sketch, double value)
{
    assert_int_equal(quantile_sketch_add(sketch, value, NULL), GPUT_OK);
}

TEST(nothing_has_no_percentiles)
{
    struct quantile_sketch sketch = {0};
    add(&sketch, NAN);
    assert_true(isnan(quantile_sketch_get(&sketch, 0.5)));
}

TEST(few_values_give_exact_percentiles)
{
    struct quantile_sketch sketch = {0};
    for (int i = 100; i >= 0; i--)
        add(&sketch, i * 0.5);
    struct gput_percentiles percentiles = quantile_sketch_percentiles(&sketch);
    assert_true(percentiles.p50 == 25 && percentiles.p95 == 47.5 && percentiles.p99 == 49.5);
    add(&sketch, 1000);
    assert_true(quantile_sketch_get(&sketch, 0.5) == 25.25);
    assert_true(quantile_sketch_get(&sketch, 1) == 1000);
    quantile_sketch_finish(&sketch);
}

TEST(many_values_give_percentiles_within_half_a_percent)
{
    struct quantile_sketch sketch = {0};
    for (int i = 1; i <= 100000; i++)
        add(&sketch, (double)((uint64_t)i * 7919 % 100000) + 1);
    for (double q = 0; q <= 1; q += 0.01) {
        double expected = 1 + floor(q * 99999);
        double value = quantile_sketch_get(&sketch, q);
        if (fabs(value - expected) > 0.005 * expected)
            fail_msg("at %g %g is not %g", q, value, expected);
    }
    quantile_sketch_finish(&sketch);
}

TEST(negative_values_zeroes_and_extremes_have_their_place)
{
    struct quantile_sketch sketch = {0};
    for (int i = 0; i < 1000; i++) {
        add(&sketch, -1e300);
        add(&sketch, -2);
        add(&sketch, 0);
        add(&sketch, 1e-300);
        add(&sketch, 3);
        add(&sketch, INFINITY);
    }
    assert_true(quantile_sketch_get(&sketch, 0) <= -0.99e18);
    assert_true(fabs(quantile_sketch_get(&sketch, 0.25) + 2) < 0.011);
    assert_true(quantile_sketch_get(&sketch, 0.5) == 0);
    assert_true(fabs(quantile_sketch_get(&sketch, 0.75) - 3) < 0.016);
    assert_true(quantile_sketch_get(&sketch, 1) >= 0.99e18);
    assert_true((size_t)sketch.n_buckets * sizeof *sketch.buckets < 200000);
    quantile_sketch_finish(&sketch);
}

TEST(one_value_again_and_again_is_that_value)
{
    struct quantile_sketch sketch = {0};
    for (int i = 0; i < 1000; i++)
        add(&sketch, 0.216);
    assert_true(quantile_sketch_get(&sketch, 0.5) == 0.216);
    quantile_sketch_finish(&sketch);
}

RUN_TESTS(NULL, NULL)
