#include "files/marks/open_starts.h"
#include "testing.h"

static void assert_latest(struct open_starts *open, int64_t expected)
{
    int64_t time = 0;
    assert_true(open_starts_pop_latest(open, &time));
    assert_int_equal(time, expected);
}

TEST(the_latest_is_removed_first)
{
    struct open_starts open = {0};
    int64_t time;
    assert_false(open_starts_pop_latest(&open, &time));
    for (int64_t i = 0; i < 100; i++)
        assert_true(open_starts_push(&open, i));
    for (int64_t i = 100; i-- > 0;)
        assert_latest(&open, i);
    assert_false(open_starts_pop_latest(&open, &time));
    open_starts_finish(&open);
}

TEST(any_is_removed_by_its_time)
{
    struct open_starts open = {0};
    assert_false(open_starts_pop(&open, 1));
    for (int64_t i = 0; i < 10; i++)
        assert_true(open_starts_push(&open, i));
    for (int64_t i = 0; i < 10; i += 3) /* the first, the last and some between them */
        assert_true(open_starts_pop(&open, i));
    assert_false(open_starts_pop(&open, 3));
    assert_false(open_starts_pop(&open, 10));
    assert_true(open_starts_push(&open, 3)); /* the remaining starts, latest first */
    static const int64_t left[] = {3, 8, 7, 5, 4, 2, 1};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        assert_latest(&open, left[i]);
    open_starts_finish(&open);
}

TEST(several_starts_of_one_time_are_kept)
{
    struct open_starts open = {0};
    for (int i = 0; i < 9; i++)
        assert_true(open_starts_push(&open, i % 2 ? 5 : i));
    for (int i = 0; i < 4; i++)
        assert_true(open_starts_pop(&open, 5));
    assert_false(open_starts_pop(&open, 5));
    for (int i = 8; i >= 0; i -= 2)
        assert_latest(&open, i);
    open_starts_finish(&open);
}

/* With a million open starts: a linear search would take minutes. */
TEST(many_are_removed_in_any_order)
{
    enum { COUNT = 1000000 };
    struct open_starts open = {0};
    for (int order = 0; order < 3; order++) {
        for (int64_t i = 0; i < COUNT; i++)
            assert_true(open_starts_push(&open, order == 2 ? 7 : i * 1000));
        for (int64_t i = 0; i < COUNT; i++) {
            int64_t time = order == 2 ? 7 : order == 1 ? i * 7919 % COUNT * 1000 : i * 1000;
            assert_true(open_starts_pop(&open, time));
        }
        assert_false(open_starts_pop(&open, 7));
    }
    assert_int_equal(open.used, COUNT); /* places were reused */
    open_starts_finish(&open);
}

RUN_TESTS(NULL, NULL)
