#include "files/marks/block_path.h"
#include "testing.h"

static void assert_text(char *text, const char *expected)
{
    assert_string_equal(text, expected);
    free(text);
}

TEST(a_pattern_may_have_a_process_id)
{
    assert_true(block_path_has_process_id("%%%p"));
    assert_false(block_path_has_process_id("%%p"));
}

TEST(a_child_has_its_id_before_the_extension)
{
    assert_text(block_path_with_process_id("a.b/marks.csv", 42, 0), "a.b/marks-42.csv");
    assert_text(block_path_with_process_id("a.b/marks.csv", 42, 3), "a.b/marks-42-3.csv");
    assert_text(block_path_with_process_id("a.b/marks", 42, 0), "a.b/marks-42");
}

TEST(an_absolute_path_stays)
{
    assert_text(block_path_absolute("/a/b"), "/a/b");
    char *path = block_path_absolute("b");
    assert_int_equal(path[0], '/');
    free(path);
}

RUN_TESTS(NULL, NULL)
