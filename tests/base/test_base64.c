#include "base/base64.h"
#include "testing.h"

#include <string.h>

static void assert_encoded(const char *bytes, size_t length, const char *expected)
{
    char text[16] = "";
    base64_encode(bytes, length, text);
    assert_string_equal(text, expected);
    assert_int_equal(BASE64_LENGTH(length), strlen(expected));
}

/* Those of RFC 4648. */
static void texts_of_any_length_are_encoded(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t length = 0; length <= 6; length++)
        assert_encoded("foobar", length, expected[length]);
}

static void bytes_of_all_bits_are_encoded(void **state)
{
    (void)state;
    assert_encoded("\xff\xff\xff\0\0\0\xfb\xef\xbe", 9, "////AAAA++++");
    assert_encoded("\xff\xff", 2, "//8=");
    assert_encoded("\xff", 1, "/w==");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_any_length_are_encoded),
        cmocka_unit_test(bytes_of_all_bits_are_encoded),
    };
    return cmocka_run_group_tests_name("base/base64", tests, NULL, NULL);
}
