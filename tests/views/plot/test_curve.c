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

TEST(no_peak_of_a_million_points_is_lost)
{
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

TEST(few_points_stay_as_they_are)
{
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

TEST(a_level_line_is_its_two_ends)
{
    struct curve curve;
    curve_init(&curve, 0, 1000, 100);
    for (int i = 0; i <= 1000; i++)
        curve_add(&curve, i, 5);
    curve_end(&curve);
    assert_int_equal(curve.count, 2);
    assert_true(has_point(&curve, 0, 5) && has_point(&curve, 1000, 5));
    curve_finish(&curve);
}

TEST(what_is_missing_interrupts_the_line)
{
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

TEST(a_window_cuts_the_line_at_its_edges)
{
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

TEST(a_line_across_the_window_is_in_it)
{
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

TEST(a_clock_that_was_set_back_is_drawn_back)
{
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

TEST(a_window_without_width_has_its_points)
{
    struct curve curve;
    curve_init(&curve, 3, 3, 100);
    curve_add(&curve, 3, 7);
    curve_end(&curve);
    assert_int_equal(curve.count, 1);
    assert_true(curve.highest == 7);
    curve_finish(&curve);
}

TEST(values_of_intervals_are_steps)
{
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

RUN_TESTS(NULL, NULL)
