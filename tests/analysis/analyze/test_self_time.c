#include "analysis/analyze/self_time.h"
#include "marks.h"

/* The own time of each block, in the order of their names. */
static void assert_self_times(const char *marks, bool threads, const char *expected)
{
    struct marked_calls marked;
    double seconds[16];
    char text[256] = "";
    assert_int_equal(pair_marks(&marked, marks, threads), GPUT_OK);
    assert_int_equal(self_time_compute(&marked.table, seconds, NULL), GPUT_OK);
    for (size_t i = 0; i < marked.table.n_lanes; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %g", i ? ", " : "",
            sub_tracking_names_text(marked.names, marked.table.lanes[i].name), seconds[i]);
    }
    assert_string_equal(text, expected);
    forget_calls(&marked);
}

TEST(inner_blocks_take_their_time_from_outer_ones)
{
    assert_self_times(
        "a 7 0 0;b 7 0 1;c 7 0 2;c 7 1 3;b 7 1 5;b 7 0 6;b 7 1 7;a 7 1 10", false, "a 5, b 4, c 1");
}

TEST(blocks_that_begin_together_are_nested_by_their_ends)
{
    assert_self_times("a 7 0 0;b 7 0 0;b 7 1 4;a 7 1 10", false, "a 6, b 4");
}

TEST(blocks_that_overlap_share_no_moment)
{
    assert_self_times("a 7 0 0;b 7 0 2;a 7 1 4;b 7 1 10", false, "a 2, b 8");
    assert_self_times("a 7 0 0;b 7 0 2;b 7 1 4;a 7 1 4", false, "a 2, b 2");
}

TEST(processes_and_threads_do_not_disturb_each_other)
{
    assert_self_times("a 7 0 0;b 8 0 1;b 8 1 3;a 7 1 10", false, "a 10, b 2");
    assert_self_times("a 7 0 0 1;b 7 0 1 2;b 7 1 3 2;a 7 1 10 1", true, "a 10, b 2");
}

TEST(times_between_calls_belong_to_no_block)
{
    assert_self_times("a 7 0 0;a 7 1 1;a 7 0 5;a 7 1 6;b 7 0 9;b 7 1 9", false, "a 2, b 0");
}

RUN_TESTS(NULL, NULL)
