#include "testing.h"

#include "live/curve.h"

#include <math.h>

TEST(the_highest_of_each_interval_is_kept)
{
    static struct curve curve;
    double values[6];
    for (int i = 0; i < 24; i++)
        live_curve_add(&curve, i * 0.5, i == 13 ? 100 : i);
    live_curve_reduce(&curve, 12, 0, values, 6);
    assert_true(values[0] == 3 && values[1] == 7 && values[2] == 11);
    assert_true(values[3] == 100); /* 6 to 8 s */
    assert_true(values[5] == 23);
    assert_true(curve.peak == 100 && curve.now == 23);
}

TEST(intervals_do_not_move_with_every_sample)
{
    static struct curve curve;
    double before[5], after[5];
    for (int i = 0; i < 21; i++)
        live_curve_add(&curve, i * 0.5, i % 7);
    live_curve_reduce(&curve, 10, 0, before, 5); /* up to 10 s: a new interval has begun */
    live_curve_add(&curve, 10.5, 0);
    live_curve_reduce(&curve, 10, 0, after, 5);
    for (int i = 0; i < 4; i++)
        assert_true(before[i] == after[i]);
}

TEST(between_samples_the_value_stays_but_not_over_a_gap)
{
    static struct curve curve;
    double values[20];
    live_curve_add(&curve, 0, 1);
    live_curve_add(&curve, 2, 2);
    live_curve_add(&curve, 15, 3);
    live_curve_add(&curve, 19, 4);
    live_curve_reduce(&curve, 20, 0, values, 20);
    assert_true(values[0] == 1 && values[1] == 1 && values[2] == 2);
    assert_true(isnan(values[3]) && isnan(values[14]));
    assert_true(values[15] == 3 && values[18] == 3 && values[19] == 4);
}

TEST(only_the_latest_samples_are_kept)
{
    static struct curve curve;
    double values[60];
    for (int i = 0; i < 5000; i++)
        live_curve_add(&curve, i * 0.1, i == 0 ? 9999 : i);
    live_curve_reduce(&curve, 60, 0, values, 60);
    assert_true(values[59] == 4999 && curve.count == CURVE_SAMPLES);
    assert_true(curve.peak == 9999);
}

TEST(one_can_look_back)
{
    static struct curve curve;
    double values[5];
    for (int i = 0; i <= 100; i++)
        live_curve_add(&curve, i, i);
    assert_true(live_curve_value(&curve, 0) == 100 && live_curve_value(&curve, 30) == 70);
    assert_true(isnan(live_curve_value(&curve, 101)));
    live_curve_reduce(&curve, 5, 50, values, 5);
    for (int i = 0; i < 5; i++)
        assert_true(values[i] == 46 + i);
    live_curve_reduce(&curve, 5, 98, values, 5);
    assert_true(isnan(values[1]) && values[2] == 0 && values[4] == 2);
}

TEST(what_is_not_known_is_blank_and_0_too_but_little_is_not)
{
    static struct curve curve;
    struct grid grid = {0};
    grid_resize(&grid, 4, 2);
    static const double values[] = {NAN, 0, 0.001, 80};
    for (int i = 0; i < 4; i++)
        live_curve_add(&curve, i, values[i]);
    struct curve_place place = {.columns = 4, .rows = 2, .span = 4, .full = 80};
    live_curve_draw(&curve, &grid, &place);
    assert_int_equal(grid.cells[4].code, ' ');
    assert_int_equal(grid.cells[5].code, ' ');
    assert_int_equal(grid.cells[6].code, 0x2581);
    assert_int_equal(grid.cells[7].code, 0x2588);
    assert_int_equal(grid.cells[3].code, 0x2587); /* the next curve above is apart */
    assert_int_equal(grid.cells[2].code, ' ');
    grid_clear(&grid);
    grid.is_ascii = true;
    live_curve_draw(&curve, &grid, &place);
    assert_int_equal(grid.cells[6].code, '.');
    assert_int_equal(grid.cells[7].code, '@');
    assert_int_equal(grid.cells[3].code, '#');
    grid.is_ascii = false;
    grid.is_coarse = true;
    live_curve_draw(&curve, &grid, &place);
    assert_int_equal(grid.cells[6].code, 0x2584);
    assert_int_equal(grid.cells[7].code, 0x2588);
    grid_finish(&grid);
}

RUN_TESTS(NULL, NULL)
