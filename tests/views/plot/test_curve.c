#include "views/plot/curve.h"

#include "testing.h"

#include <math.h>
#include <stdbool.h>

static bool has_point(const struct curve *curve, double time, double value)
{
    for (size_t i = 0; i < curve->count; i++) {
        if (curve->points[i].x == time && curve->points[i].y == value)
            return true;
    }
    return false;
}

static void no_peak_of_a_million_points_is_lost(void **state)
{
    (void)state;
    struct curve curve;
    curve_init(&curve, 0, 1e6, 500);
    for (int i = 0; i <= 1000000; i++)
        curve_add(&curve, i, i == 123457 ? 99 : i == 765432 ? -7 : i % 3);
    curve_end(&curve);
    assert_true(has_point(&curve, 123457, 99));
    assert_true(has_point(&curve, 765432, -7));
    assert_true(has_point(&curve, 0, 0));
    assert_true(has_point(&curve, 1000000, 1));
    assert_true(curve.highest == 99);
    assert_true(curve.lowest == -7);
    assert_true(curve.count <= 4 * 501);
    curve_finish(&curve);
}

static void few_points_stay_as_they_are(void **state)
{
    (void)state;
    static const double values[] = {3, 1, 4, 1, 5, 9, 2, 6};
    struct curve curve;
    curve_init(&curve, 0, 7, 1000);
    for (int i = 0; i < 8; i++)
        curve_add(&curve, i, values[i]);
    curve_end(&curve);
    assert_int_equal(curve.count, 8);
    for (int i = 0; i < 8; i++)
        assert_true(curve.points[i].y == values[i]);
    curve_finish(&curve);
}

static void a_level_line_is_its_two_ends(void **state)
{
    (void)state;
    struct curve curve;
    curve_init(&curve, 0, 1000, 100);
    for (int i = 0; i <= 1000; i++)
        curve_add(&curve, i, 5);
    curve_end(&curve);
    assert_int_equal(curve.count, 2);
    assert_true(has_point(&curve, 0, 5) && has_point(&curve, 1000, 5));
    curve_finish(&curve);
}

static void what_is_missing_interrupts_the_line(void **state)
{
    (void)state;
    struct curve curve;
    curve_init(&curve, 0, 10, 100);
    curve_add(&curve, 0, NAN);
    curve_add(&curve, 1, 1);
    curve_add(&curve, 2, NAN);
    curve_add(&curve, 3, INFINITY);
    curve_add(&curve, 4, 4);
    curve_end(&curve);
    assert_int_equal(curve.count, 3);
    assert_true(curve.points[0].y == 1);
    assert_true(isnan(curve.points[1].y));
    assert_true(curve.points[2].y == 4);
    curve_finish(&curve);
}

static void a_window_cuts_the_line_at_its_edges(void **state)
{
    (void)state;
    struct curve curve;
    curve_init(&curve, 5, 15, 100);
    curve_add(&curve, 0, 0);
    curve_add(&curve, 10, 10);
    curve_add(&curve, 20, 30);
    curve_add(&curve, 30, 1000);
    curve_end(&curve);
    assert_true(curve.points[0].x == 5);
    assert_true(fabs(curve.points[0].y - 5) < 1e-12);
    assert_true(has_point(&curve, 10, 10));
    assert_true(curve.points[2].x == 15);
    assert_true(fabs(curve.points[2].y - 20) < 1e-12);
    assert_true(fabs(curve.highest - 20) < 1e-12);
    curve_finish(&curve);
}

static void a_line_across_the_window_is_in_it(void **state)
{
    (void)state;
    struct curve curve;
    curve_init(&curve, 4, 6, 100);
    curve_add(&curve, 0, 0);
    curve_add(&curve, 10, 10);
    curve_end(&curve);
    assert_true(curve.count >= 2);
    assert_true(fabs(curve.lowest - 4) < 1e-12);
    assert_true(fabs(curve.highest - 6) < 1e-12);
    curve_finish(&curve);
}

static void a_clock_that_was_set_back_is_drawn_back(void **state)
{
    (void)state;
    struct curve curve;
    curve_init(&curve, -50, 100, 100);
    curve_add(&curve, 100, 1);
    curve_add(&curve, -50, 2);
    curve_add(&curve, 0, 3);
    curve_end(&curve);
    assert_int_equal(curve.count, 3);
    assert_true(curve.points[1].x == -50);
    curve_finish(&curve);
}

static void a_window_without_width_has_its_points(void **state)
{
    (void)state;
    struct curve curve;
    curve_init(&curve, 3, 3, 100);
    curve_add(&curve, 3, 7);
    curve_end(&curve);
    assert_int_equal(curve.count, 1);
    assert_true(curve.highest == 7);
    curve_finish(&curve);
}

static void values_of_intervals_are_steps(void **state)
{
    (void)state;
    static const double wanted[][2] = {{1, 5}, {2, 5}, {2, 3}, {4, 3}, {NAN, NAN}, {5, 7}, {6, 7}};
    struct curve curve;
    curve_init(&curve, 0, 10, 1000);
    curve.is_of_intervals = true;
    curve_add(&curve, 1, NAN); /* of the first, nothing is known */
    curve_add(&curve, 2, 5);
    curve_add(&curve, 4, 3);
    curve_add(&curve, 5, NAN);
    curve_add(&curve, 6, 7);
    curve_end(&curve);
    assert_int_equal(curve.count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_true(
            isnan(wanted[i][0]) ? isnan(curve.points[i].x) : curve.points[i].x == wanted[i][0]);
        assert_true(isnan(wanted[i][1]) || curve.points[i].y == wanted[i][1]);
    }
    curve_finish(&curve);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_peak_of_a_million_points_is_lost),
        cmocka_unit_test(few_points_stay_as_they_are),
        cmocka_unit_test(a_level_line_is_its_two_ends),
        cmocka_unit_test(what_is_missing_interrupts_the_line),
        cmocka_unit_test(a_window_cuts_the_line_at_its_edges),
        cmocka_unit_test(a_line_across_the_window_is_in_it),
        cmocka_unit_test(a_clock_that_was_set_back_is_drawn_back),
        cmocka_unit_test(values_of_intervals_are_steps),
        cmocka_unit_test(a_window_without_width_has_its_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
