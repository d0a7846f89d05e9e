#include "base/text.h"
#include "testing.h"

static void a_text_that_fits_is_complete(void **state)
{
    (void)state;
    char text[8];
    text_fit(text, sizeof text, "%s %d", "abcd", 12);
    assert_string_equal(text, "abcd 12");
}

static void a_truncated_text_ends_with_an_ellipsis(void **state)
{
    (void)state;
    char text[8];
    text_fit(text, sizeof text, "%s %d", "abcde", 12);
    assert_string_equal(text, "abcd…");
}

static void characters_are_not_split(void **state)
{
    (void)state;
    char text[8];
    text_fit(text, sizeof text, "abc§efghi");
    assert_string_equal(text, "abc…");
    text_fit(text, sizeof text, "ab§efghi");
    assert_string_equal(text, "ab§…");
}

static void a_buffer_too_small_for_the_ellipsis_gets_what_fits(void **state)
{
    (void)state;
    char text[3];
    text_fit(text, sizeof text, "abc");
    assert_string_equal(text, "ab");
}

static void texts_begin_and_end_with_themselves_and_with_nothing(void **state)
{
    (void)state;
    assert_true(text_begins_with("a.csv", "a.") && text_ends_with("a.csv", ".csv"));
    assert_true(text_begins_with("ab", "ab") && text_ends_with("ab", "ab"));
    assert_true(text_begins_with("ab", "") && text_ends_with("ab", ""));
    assert_false(text_begins_with("ab", "abc") || text_ends_with("ab", "cab"));
    assert_false(text_begins_with("ab", "b") || text_ends_with("ab", "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_that_fits_is_complete),
        cmocka_unit_test(a_truncated_text_ends_with_an_ellipsis),
        cmocka_unit_test(characters_are_not_split),
        cmocka_unit_test(texts_begin_and_end_with_themselves_and_with_nothing),
        cmocka_unit_test(a_buffer_too_small_for_the_ellipsis_gets_what_fits),
    };
    return cmocka_run_group_tests_name("base/text", tests, NULL, NULL);
}
