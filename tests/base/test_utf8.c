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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_valid_utf8),
        cmocka_unit_test(replaces_every_other_byte),
        cmocka_unit_test(replaces_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
