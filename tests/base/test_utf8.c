#include "base/utf8.h"
#include "testing.h"

#include <string.h>

static void assert_made(const char *bytes, const char *expected)
{
    struct str text = {0};
    utf8_append(bytes, strlen(bytes), &text);
    assert_string_equal(str_text(&text), expected);
    str_finish(&text);
}

TEST(keeps_valid_utf8)
{
    assert_made("", "");
    assert_made("plain, schön, 日本, \xf0\x9f\x98\x80", "plain, schön, 日本, \xf0\x9f\x98\x80");
}

TEST(replaces_every_other_byte)
{
    assert_made("a\xff", "a\xef\xbf\xbd");
    assert_made("\xc3", "\xef\xbf\xbd");                 /* cut off */
    assert_made("\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"); /* an overlong sequence */
    assert_made("\xed\xa0\x80z", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"); /* a surrogate */
}

TEST(replaces_nul)
{
    struct str text = {0};
    utf8_append("a\0b", 3, &text);
    assert_string_equal(str_text(&text), "a\xef\xbf\xbd"
                                         "b");
    str_finish(&text);
}

TEST(encodes_what_it_decodes)
{
    static const uint32_t points[] = {
        1, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        struct str text = {0};
        uint32_t point;
        utf8_append_point(points[i], &text);
        assert_int_equal(utf8_decode(str_text(&text), text.length, &point), text.length);
        assert_int_equal(point, points[i]);
        str_finish(&text);
    }
}

TEST(text_is_taken_apart)
{
    const char text[] = "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", *at = text,
               *end = text + sizeof text - 1;
    assert_int_equal(utf8_next(&at, end), 'a');
    assert_int_equal(utf8_next(&at, end), 0xE9);
    assert_int_equal(utf8_next(&at, end), 0x4E2D);
    assert_int_equal(utf8_next(&at, end), 0x1F600);
    assert_ptr_equal(at, end);
}

TEST(bytes_that_are_no_utf8_are_replaced_one_by_one)
{
    static const char *const invalid[] = {"\x80", "\xff", "\xc0\x80", "\xe4\xb8", "\xed\xa0\x80",
        "\xf4\x90\x80\x80", "\xc3", "\xe0\x80\x80"};
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
        const char *at = invalid[i];
        assert_int_equal(utf8_next(&at, at + strlen(at)), UTF8_REPLACEMENT);
        assert_ptr_equal(at, invalid[i] + 1);
    }
}

TEST(all_code_points_come_back)
{
    for (uint32_t code = 1; code < 0x110000; code += code < 0x3000 ? 1 : 37) {
        char text[4];
        const char *at = text;
        if (code >= 0xD800 && code < 0xE000)
            continue;
        size_t length = utf8_bytes_of(code, text);
        assert_int_equal(utf8_next(&at, text + length), code);
        assert_ptr_equal(at, text + length);
    }
}

TEST(columns_are_those_of_terminals)
{
    assert_int_equal(utf8_columns('a'), 1);
    assert_int_equal(utf8_columns('\033'), -1);
    assert_int_equal(utf8_columns(0x7F), -1);
    assert_int_equal(utf8_columns(0x9B), -1); /* CSI of C1 */
    assert_int_equal(utf8_columns(0xE9), 1);
    assert_int_equal(utf8_columns(0x301), 0);  /* a combining accent */
    assert_int_equal(utf8_columns(0x202E), 0); /* right-to-left override */
    assert_int_equal(utf8_columns(0x200B), 0);
    assert_int_equal(utf8_columns(0x5D0), 1); /* a Hebrew letter */
    assert_int_equal(utf8_columns(0x4E2D), 2);
    assert_int_equal(utf8_columns(0xFF21), 2); /* fullwidth A */
    assert_int_equal(utf8_columns(0x1F600), 2);
    assert_int_equal(utf8_columns(0x2588), 1);
}

TEST(is_as_wide_as_on_a_terminal)
{
    assert_int_equal(utf8_width(""), 0);
    assert_int_equal(utf8_width("schön, 日本"), 11);
    assert_int_equal(utf8_width("a\xe4\xb8\xad\033"), 4);
    assert_int_equal(utf8_field("us", 11), 11);
    assert_int_equal(utf8_field("µs", 11), 12);
}

TEST(is_cut_between_characters)
{
    struct str text = {0};
    str_append(&text, "schön, 日本");
    utf8_cut(&text, 11);
    assert_string_equal(str_text(&text), "schön, 日本");
    utf8_cut(&text, 10);
    assert_string_equal(str_text(&text), "schön, 日…");
    utf8_cut(&text, 9);
    assert_string_equal(str_text(&text), "schön, …");
    utf8_cut(&text, 1);
    assert_string_equal(str_text(&text), "…");
    str_finish(&text);
}

RUN_TESTS(NULL, NULL)
