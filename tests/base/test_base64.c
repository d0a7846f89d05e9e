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
TEST(texts_of_any_length_are_encoded)
{
    static const char *const expected[] = {
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t length = 0; length <= 6; length++)
        assert_encoded("foobar", length, expected[length]);
}

TEST(bytes_of_all_bits_are_encoded)
{
    assert_encoded("\xff\xff\xff\0\0\0\xfb\xef\xbe", 9, "////AAAA++++");
    assert_encoded("\xff\xff", 2, "//8=");
    assert_encoded("\xff", 1, "/w==");
}

RUN_TESTS(NULL, NULL)
