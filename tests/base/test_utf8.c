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

static void keeps_valid_utf8(void **state)
{
    (void)state;
    assert_made("", "");
    assert_made("plain, schön, 日本, \xf0\x9f\x98\x80", "plain, schön, 日本, \xf0\x9f\x98\x80");
}

static void replaces_every_other_byte(void **state)
{
    (void)state;
    assert_made("a\xff", "a\xef\xbf\xbd");
    assert_made("\xc3", "\xef\xbf\xbd");                 /* cut off */
    assert_made("\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"); /* an overlong sequence */
    assert_made("\xed\xa0\x80z", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"); /* a surrogate */
}

static void replaces_nul(void **state)
{
    (void)state;
    struct str text = {0};
    utf8_append("a\0b", 3, &text);
    assert_string_equal(str_text(&text), "a\xef\xbf\xbd"
                                         "b");
    str_finish(&text);
}

static void encodes_what_it_decodes(void **state)
{
    (void)state;
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

static void is_as_wide_as_its_characters(void **state)
{
    (void)state;
    assert_int_equal(utf8_width(""), 0);
    assert_int_equal(utf8_width("schön, 日本"), 9);
    assert_int_equal(utf8_field("us", 11), 11);
    assert_int_equal(utf8_field("µs", 11), 12);
}

static void is_cut_between_characters(void **state)
{
    (void)state;
    struct str text = {0};
    str_append(&text, "schön, 日本");
    utf8_cut(&text, 9);
    assert_string_equal(str_text(&text), "schön, 日本");
    utf8_cut(&text, 8);
    assert_string_equal(str_text(&text), "schön, …");
    utf8_cut(&text, 1);
    assert_string_equal(str_text(&text), "…");
    str_finish(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_valid_utf8),
        cmocka_unit_test(replaces_every_other_byte),
        cmocka_unit_test(replaces_nul),
        cmocka_unit_test(encodes_what_it_decodes),
        cmocka_unit_test(is_as_wide_as_its_characters),
        cmocka_unit_test(is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
