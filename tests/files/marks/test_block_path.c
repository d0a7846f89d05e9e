#include "files/marks/block_path.h"
#include "testing.h"

static void assert_text(char *text, const char *expected)
{
    assert_string_equal(text, expected);
    free(text);
}

static void a_pattern_may_have_a_process_id(void **state)
{
    (void)state;
    assert_true(block_path_has_process_id("%%%p"));
    assert_false(block_path_has_process_id("%%p"));
}

static void a_child_has_its_id_before_the_extension(void **state)
{
    (void)state;
    assert_text(block_path_with_process_id("a.b/marks.csv", 42, 0), "a.b/marks-42.csv");
    assert_text(block_path_with_process_id("a.b/marks.csv", 42, 3), "a.b/marks-42-3.csv");
    assert_text(block_path_with_process_id("a.b/marks", 42, 0), "a.b/marks-42");
}

static void an_absolute_path_stays(void **state)
{
    (void)state;
    assert_text(block_path_absolute("/a/b"), "/a/b");
    char *path = block_path_absolute("b");
    assert_int_equal(path[0], '/');
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_may_have_a_process_id),
        cmocka_unit_test(a_child_has_its_id_before_the_extension),
        cmocka_unit_test(an_absolute_path_stays),
    };
    return cmocka_run_group_tests_name("analysis/blocks/block_path", tests, NULL, NULL);
}
