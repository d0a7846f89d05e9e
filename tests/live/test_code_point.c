#include "testing.h"

#include "live/code_point.h"

#include <string.h>

static void text_is_taken_apart(void **state)
{
    (void)state;
    const char text[] = "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", *at = text,
               *end = text + sizeof text - 1;
    assert_int_equal(code_point_next(&at, end), 'a');
    assert_int_equal(code_point_next(&at, end), 0xE9);
    assert_int_equal(code_point_next(&at, end), 0x4E2D);
    assert_int_equal(code_point_next(&at, end), 0x1F600);
    assert_ptr_equal(at, end);
}

static void bytes_that_are_no_utf8_are_invalid_one_by_one(void **state)
{
    (void)state;
    static const char *const invalid[] = {"\x80", "\xff", "\xc0\x80", "\xe4\xb8", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xc3", "\xe0\x80\x80"};
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
        const char *at = invalid[i];
        assert_int_equal(code_point_next(&at, at + strlen(at)), CODE_POINT_INVALID);
        assert_ptr_equal(at, invalid[i] + 1);
    }
}

static void all_code_points_come_back(void **state)
{
    (void)state;
    for (uint32_t code = 1; code < 0x110000; code += code < 0x3000 ? 1 : 37) {
        char text[4];
        const char *at = text;
        if (code >= 0xD800 && code < 0xE000)
            continue;
        size_t length = code_point_encode(code, text);
        assert_int_equal(code_point_next(&at, text + length), code);
        assert_ptr_equal(at, text + length);
    }
}

static void columns_are_those_of_terminals(void **state)
{
    (void)state;
    assert_int_equal(code_point_columns('a'), 1);
    assert_int_equal(code_point_columns('\033'), -1);
    assert_int_equal(code_point_columns(0x7F), -1);
    assert_int_equal(code_point_columns(0x9B), -1); /* CSI of C1 */
    assert_int_equal(code_point_columns(0xE9), 1);
    assert_int_equal(code_point_columns(0x301), 0);  /* a combining accent */
    assert_int_equal(code_point_columns(0x202E), 0); /* right-to-left override */
    assert_int_equal(code_point_columns(0x200B), 0);
    assert_int_equal(code_point_columns(0x5D0), 1); /* a Hebrew letter */
    assert_int_equal(code_point_columns(0x4E2D), 2);
    assert_int_equal(code_point_columns(0xFF21), 2); /* fullwidth A */
    assert_int_equal(code_point_columns(0x1F600), 2);
    assert_int_equal(code_point_columns(0x2588), 1);
    assert_int_equal(code_point_text_columns("a\xe4\xb8\xad\033", 5), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_taken_apart),
        cmocka_unit_test(bytes_that_are_no_utf8_are_invalid_one_by_one),
        cmocka_unit_test(all_code_points_come_back),
        cmocka_unit_test(columns_are_those_of_terminals),
    };
    return cmocka_run_group_tests_name("live/code_point", tests, NULL, NULL);
}
