#include "base/doc.h"
#include "testing.h"

#include <math.h>
#include <string.h>

static struct doc *read_json(const char *text)
{
    struct gput_error error = {0};
    struct doc *doc;
    if (doc_read_json(text, strlen(text), "test.json", &doc, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return doc;
}

static void assert_writes(const char *json, int indent, const char *expected)
{
    struct doc *doc = read_json(json);
    struct str text = {0};
    doc_write_json(doc, indent, &text);
    assert_string_equal(str_text(&text), expected);
    str_finish(&text);
    doc_destroy(doc);
}

static void assert_refused(const char *json, const char *message)
{
    struct gput_error error = {0};
    struct doc *doc;
    assert_int_equal(
        doc_read_json(json, strlen(json), "test.json", &doc, &error), GPUT_ERROR_FORMAT);
    assert_null(doc);
    assert_non_null(strstr(error.message, message));
}

TEST(json_is_written_as_python_does)
{
    const char *json = "{\"b\": {\"x\": 1, \"y\": [1.5, null, true, {}], \"z\": []}, \"a\": 1e-05}";
    assert_writes(json, 1,
        "{\n \"b\": {\n  \"x\": 1,\n  \"y\": [\n   1.5,\n   null,\n   true,\n   {}\n  ],\n"
        "  \"z\": []\n },\n \"a\": 1e-05\n}");
    assert_writes(json, -1, json);
    assert_writes("7", 4, "7");
}

TEST(strings_are_escaped_to_ascii)
{
    assert_writes("\"a\\\"b\\\\\\n\\r\\t\\b\\f\\u0001\\u007f/\"", 1,
        "\"a\\\"b\\\\\\n\\r\\t\\b\\f\\u0001\\u007f/\"");
    assert_writes(
        "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", 1, "\"\\u00e9\\u20ac\\ud83d\\ude00\"");
}

TEST(bytes_that_are_not_utf8_still_give_valid_json)
{
    struct doc *root = doc_create_array();
    doc_add_string(root, NULL,
        "a\xff"
        "b\xc3");
    doc_add_string(root, NULL,
        "\xed\xa0\x80"
        "\xc0\xaf"
        "\xf5");
    struct str text = {0};
    doc_write_json(root, -1, &text);
    assert_string_equal(
        str_text(&text), "[\"a\\ufffdb\\ufffd\", \"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"]");
    str_finish(&text);
    doc_destroy(root);
}

TEST(numbers_keep_their_kind)
{
    assert_writes("[1, 1.0, -0.0, 9223372036854775807, -9223372036854775808, 1e3]", -1,
        "[1, 1.0, -0.0, 9223372036854775807, -9223372036854775808, 1000.0]");
}

TEST(whole_numbers_beyond_64_bits_become_doubles)
{
    assert_writes("{\"n\": [9223372036854775808, 12, -1e2, \"\\\"9223372036854775808\", "
                  "-100000000000000000000, 3]}",
        -1, "{\"n\": [9.223372036854776e+18, 12, -100.0, \"\\\"9223372036854775808\", -1e+20, 3]}");
}

TEST(broken_json_is_refused_with_file_and_line)
{
    assert_refused("", "test.json is not valid JSON (line 1)");
    assert_refused("{\n\"a\": 1,\n}", "test.json is not valid JSON (line 3)");
    assert_refused("[1", "test.json");
    assert_refused("[NaN]", "test.json");
    assert_refused("[Infinity]", "test.json");
    assert_refused("[1e999]", "test.json");
    assert_refused("[99999999999999999999", "test.json");
    assert_refused("[01]", "test.json");
    assert_refused("[1] x", "test.json");
    assert_refused("\"\xff\"", "test.json");
    assert_refused("\"\\u0000\"", "test.json");
}

TEST(nesting_is_bounded)
{
    struct str text = {0};
    str_append_repeated(&text, '[', 200);
    str_append_repeated(&text, ']', 200);
    doc_destroy(read_json(str_text(&text)));

    str_clear(&text);
    str_append_repeated(&text, '[', 201);
    str_append_repeated(&text, ']', 201);
    assert_refused(str_text(&text), "nested more than 200 levels deep");

    str_clear(&text);
    str_append_repeated(&text, '[', 1000000);
    assert_refused(str_text(&text), "test.json");
    str_finish(&text);
}

TEST(the_last_of_two_members_of_one_name_counts)
{
    assert_writes("{\"a\": 1, \"b\": 2, \"a\": 3}", -1, "{\"a\": 3, \"b\": 2}");
}

TEST(numbers_that_only_python_writes_are_null)
{
    static const char text[] =
        "{\"NaN\": [NaN, Infinity, -Infinity, -1], \"a\\\"NaN\": \"Infinity\"}";
    struct doc *doc;
    struct str written = {0};
    struct gput_error error;
    assert_refused("[NaN]", "test.json");
    assert_int_equal(doc_read_python_json(text, strlen(text), "test.json", &doc, &error), GPUT_OK);
    doc_write_json(doc, -1, &written);
    assert_string_equal(
        str_text(&written), "{\"NaN\": [null, null, null, -1], \"a\\\"NaN\": \"Infinity\"}");
    str_finish(&written);
    doc_destroy(doc);
    assert_int_equal(doc_read_python_json("[NaN", 4, "test.json", &doc, &error), GPUT_ERROR_FORMAT);
    assert_null(doc);
}

TEST(a_byte_order_mark_is_skipped)
{
    assert_writes("\xef\xbb\xbf{\"a\": 9223372036854775808}", -1, "{\"a\": 9.223372036854776e+18}");
    assert_refused("\xef\xbb\xbf", "test.json");
    assert_refused("\xef\xbb", "test.json");
}

RUN_TESTS(NULL, NULL)
