#include "views/report/document/report_calls.h"

#include "testing.h"

TEST(calls_inside_calls_are_deeper)
{
    struct report_lanes lanes = {0};
    assert_int_equal(report_lanes_add(&lanes, 0, 0, 10), 0);
    assert_int_equal(report_lanes_add(&lanes, 0, 1, 9), 1);
    assert_int_equal(report_lanes_add(&lanes, 0, 2, 3), 2);
    assert_int_equal(report_lanes_add(&lanes, 0, 3, 4), 2);
    assert_int_equal(report_lanes_add(&lanes, 0, 9.5, 9.75), 1);
    assert_int_equal(report_lanes_add(&lanes, 0, 10, 11), 0);
    report_lanes_finish(&lanes);
}

TEST(tracks_do_not_see_each_other)
{
    struct report_lanes lanes = {0};
    assert_int_equal(report_lanes_add(&lanes, 700, 0, 10), 0);
    assert_int_equal(report_lanes_add(&lanes, 3, 1, 9), 0);
    assert_int_equal(report_lanes_add(&lanes, 700, 1, 9), 1);
    report_lanes_finish(&lanes);
}

TEST(calls_that_overlap_are_not_drawn_on_each_other)
{
    struct report_lanes lanes = {0};
    assert_int_equal(report_lanes_add(&lanes, 0, 0, 10), 0);
    assert_int_equal(report_lanes_add(&lanes, 0, 5, 15), 1);
    assert_int_equal(report_lanes_add(&lanes, 0, 12, 13), 0);
    assert_int_equal(report_lanes_add(&lanes, 0, 14, 20), 0);
    report_lanes_finish(&lanes);
}

TEST(depth_has_an_end)
{
    struct report_lanes lanes = {0};
    uint32_t depth = 0;
    for (int i = 0; i < 3 * REPORT_MAX_DEPTH; i++)
        depth = report_lanes_add(&lanes, 0, i, 1e9);
    assert_int_equal(depth, REPORT_MAX_DEPTH - 1);
    report_lanes_finish(&lanes);
}

RUN_TESTS(NULL, NULL)
