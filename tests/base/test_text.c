#include "base/text.h"
#include "testing.h"

static void what_fits_is_written_whole(void **state)
{
    (void)state;
    char text[8];
    text_fit(text, sizeof text, "%s %d", "abcd", 12);
    assert_string_equal(text, "abcd 12");
}

static void what_is_cut_says_so(void **state)
{
    (void)state;
    char text[8];
    text_fit(text, sizeof text, "%s %d", "abcde", 12);
    assert_string_equal(text, "abcd…");
}

static void no_character_is_cut_apart(void **state)
{
    (void)state;
    char text[8];
    text_fit(text, sizeof text, "abc§efghi");
    assert_string_equal(text, "abc…");
    text_fit(text, sizeof text, "ab§efghi");
    assert_string_equal(text, "ab§…");
}

static void a_place_too_small_for_the_mark_holds_what_it_can(void **state)
{
    (void)state;
    char text[3];
    text_fit(text, sizeof text, "abc");
    assert_string_equal(text, "ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_written_whole),
        cmocka_unit_test(what_is_cut_says_so),
        cmocka_unit_test(no_character_is_cut_apart),
        cmocka_unit_test(a_place_too_small_for_the_mark_holds_what_it_can),
    };
    return cmocka_run_group_tests_name("base/text", tests, NULL, NULL);
}
