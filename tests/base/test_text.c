#include "base/str.h"
#include "base/text.h"
#include "decimal_commas.h"
#include "testing.h"

TEST(a_text_that_fits_is_complete)
{
    char text[8];
    text_fit(text, sizeof text, "%s %d", "abcd", 12);
    assert_string_equal(text, "abcd 12");
}

TEST(a_truncated_text_ends_with_an_ellipsis)
{
    char text[8];
    text_fit(text, sizeof text, "%s %d", "abcde", 12);
    assert_string_equal(text, "abcd…");
}

TEST(characters_are_not_split)
{
    char text[8];
    text_fit(text, sizeof text, "abc§efghi");
    assert_string_equal(text, "abc…");
    text_fit(text, sizeof text, "ab§efghi");
    assert_string_equal(text, "ab§…");
}

TEST(a_buffer_too_small_for_the_ellipsis_gets_what_fits)
{
    char text[3];
    text_fit(text, sizeof text, "abc");
    assert_string_equal(text, "ab");
}

TEST(texts_begin_and_end_with_themselves_and_with_nothing)
{
    assert_true(text_begins_with("a.csv", "a.") && text_ends_with("a.csv", ".csv"));
    assert_true(text_begins_with("ab", "ab") && text_ends_with("ab", "ab"));
    assert_true(text_begins_with("ab", "") && text_ends_with("ab", ""));
    assert_false(text_begins_with("ab", "abc") || text_ends_with("ab", "cab"));
    assert_false(text_begins_with("ab", "b") || text_ends_with("ab", "a"));
}

TEST(numbers_are_written_alike_in_any_locale)
{
    char text[16];
    struct str string = {0};
    if (!decimal_commas_set())
        SKIP("this libc has no locale with a decimal comma");
    text_fit(text, sizeof text, "%.1f %g", 1.5, 0.25);
    str_printf(&string, "%.1f %g", 1.5, 0.25);
    assert_string_equal(text, "1.5 0.25");
    assert_string_equal(str_text(&string), "1.5 0.25");
    str_finish(&string);
    snprintf(text, sizeof text, "%.1f", 1.5); /* the program's own is as it was */
    assert_string_equal(text, "1,5");
    setlocale(LC_NUMERIC, "C");
}

RUN_TESTS(NULL, NULL)
