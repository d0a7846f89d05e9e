#include "base/json_string.h"
#include "base/json_text.h"
#include "base/padded.h"
#include "testing.h"

/* Scans `json`, hands it to `append`, and compares what comes out. */
static void assert_becomes(
    const char *json, void (*append)(const struct json_value *, struct str *), const char *expected)
{
    size_t length = strlen(json);
    char *text = padded_copy(json, length);
    const char *at = text;
    struct json_value value;
    struct str out = {0};
    assert_int_equal(json_scan_value(&at, text + length, &value), JSON_OK);
    append(&value, &out);
    assert_string_equal(str_text(&out), expected);
    str_finish(&out);
    free(text);
}

TEST(resolves_escapes)
{
    assert_becomes("\"plain\"", json_append_string, "plain");
    assert_becomes("\"a\\\"b\\\\c\\/d\\n\\t\\u0041\\u00e9\\u20ac\"", json_append_string,
        "a\"b\\c/d\n\tA\xc3\xa9\xe2\x82\xac");
    assert_becomes("\"\\ud83d\\ude00\"", json_append_string, "\xf0\x9f\x98\x80");
}

TEST(replaces_what_is_no_utf8)
{
    assert_becomes("\"\\ud83d alone\"", json_append_string, "\xef\xbf\xbd alone");
    assert_becomes("\"\\ude00\\u0041\"", json_append_string,
        "\xef\xbf\xbd"
        "A");
    assert_becomes("\"a\xff"
                   "b\xc3\"",
        json_append_string,
        "a\xef\xbf\xbd"
        "b\xef\xbf\xbd");
    assert_becomes("\"over\xc0\x80long\"", json_append_string, "over\xef\xbf\xbd\xef\xbf\xbdlong");
    assert_becomes(
        "[\"\xed\xa0\x80\"]", json_write_value, "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"]");
}

TEST(writes_values_as_strict_json_on_one_line)
{
    assert_becomes(
        "{\n  \"a\": 1,\n  \"b\": [\n 2 ]\n}", json_write_value, "{\"a\": 1,\"b\": [2 ]}");
    assert_becomes("{\"a\": NaN, \"b\": [Infinity, 1.50], \"c\": \"x\\n\"}", json_write_value,
        "{\"a\": null, \"b\": [null, 1.50], \"c\": \"x\\n\"}");
    assert_becomes("-Infinity ", json_write_value, "null");
    assert_becomes("\"x\\ty\"", json_write_value, "\"x\\ty\"");
}

TEST(writes_strings_with_escapes)
{
    struct str out = {0};
    json_write_string("a\"b\\c\n\x01\xc3\xa9\xff", 10, &out);
    assert_string_equal(str_text(&out), "\"a\\\"b\\\\c\\n\\u0001\xc3\xa9\xef\xbf\xbd\"");
    str_finish(&out);
}

RUN_TESTS(NULL, NULL)
