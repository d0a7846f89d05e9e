#include "base/json_scan.h"
#include "base/padded.h"
#include "testing.h"

/* Scans the first `length` bytes of a text. */
static enum json_status scan(
    const char *text, size_t length, struct json_value *value, size_t *used)
{
    char *copy = padded_copy(text, length);
    const char *at = copy;
    enum json_status status = json_scan_value(&at, copy + length, value);
    *used = (size_t)(at - copy);
    /* The slice, but of the caller's text: the copy goes. Without a value there is none. */
    if (value->text >= copy && value->text <= copy + length)
        value->text = text + (value->text - copy);
    free(copy);
    return status;
}

static void assert_value(const char *text, enum json_kind kind, const char *slice)
{
    struct json_value value;
    size_t used;
    assert_int_equal(scan(text, strlen(text), &value, &used), JSON_OK);
    assert_int_equal(value.kind, kind);
    assert_int_equal(value.length, strlen(slice));
    assert_memory_equal(value.text, slice, value.length);
}

TEST(reads_every_kind_of_value)
{
    assert_value("null,", JSON_NULL, "null");
    assert_value("true ", JSON_TRUE, "true");
    assert_value("false]", JSON_FALSE, "false");
    assert_value("-12.5e+3,", JSON_NUMBER, "-12.5e+3");
    assert_value("0}", JSON_NUMBER, "0");
    assert_value("1700000000.4570894}", JSON_NUMBER, "1700000000.4570894");
    assert_value("12345678901234567890,", JSON_NUMBER, "12345678901234567890");
    assert_value("-Infinity,", JSON_NAN, "-Infinity");
    assert_value("NaN,", JSON_NAN, "NaN");
    assert_value("-nan,", JSON_NAN, "-nan");
    assert_value("inf,", JSON_NAN, "inf");
    assert_value("\"short\"", JSON_STRING, "short");
    assert_value("\"a string of more than sixteen bytes\"", JSON_STRING,
        "a string of more than sixteen bytes");
    assert_value("\"\"", JSON_STRING, "");
    assert_value("\"say \\\"x\\\" \\u00e9\"", JSON_STRING, "say \\\"x\\\" \\u00e9");
    assert_value("[]", JSON_ARRAY, "[]");
    assert_value("{ }", JSON_OBJECT, "{ }");
    assert_value("{\"a\": [1, {\"b\" : \"]}\"}, [ ]], \"c\":2} ", JSON_OBJECT,
        "{\"a\": [1, {\"b\" : \"]}\"}, [ ]], \"c\":2}");
}

TEST(refuses_what_is_no_json)
{
    static const char *const bad[] = {"nul ", "tru3", "+1,", "[01]", "1.,", "1.x", "1e,", "-,",
        ".5,", "\"a\nb\"", "\"\\x\"", "\"\\u12g4\"", "[1,]", "[1 2]", "{\"a\" 1}", "{a: 1}",
        "{\"a\": 1,}", "{\"a\": }", "[}", "{]", "[1}", "}", ",", ":", "\x01", "{1: 2}", "[,1]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct json_value value;
        size_t used;
        assert_int_equal(scan(bad[i], strlen(bad[i]), &value, &used), JSON_BAD);
    }
}

TEST(says_torn_at_every_cut)
{
    static const char *const texts[] = {
        "{\"name\": \"aten::linear\", \"ts\": 12.5, \"args\": {\"a\": [1, true, null, -0.5e-3], "
        "\"text\": \"\\u00e9\\n and more than sixteen bytes\"}}",
        "[[[\"x\"]], {\"y\": {}}, [], false, NaN, Infinity, 1234567890123456789]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t length = 0; length < strlen(texts[i]); length++) {
            struct json_value value = {0};
            size_t used;
            assert_int_equal(scan(texts[i], length, &value, &used), JSON_TORN);
        }
    }
}

TEST(bounds_the_depth)
{
    char text[2 * JSON_MAX_DEPTH + 3] = {0};
    struct json_value value;
    size_t used;
    memset(text, '[', JSON_MAX_DEPTH);
    memset(text + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
    assert_int_equal(scan(text, 2 * JSON_MAX_DEPTH, &value, &used), JSON_OK);
    memset(text, '[', JSON_MAX_DEPTH + 1);
    memset(text + JSON_MAX_DEPTH + 1, ']', JSON_MAX_DEPTH + 1);
    assert_int_equal(scan(text, 2 * JSON_MAX_DEPTH + 2, &value, &used), JSON_BAD);
}

TEST(flags_what_needs_care)
{
    struct json_value value;
    size_t used;
    scan("\"plain\"", 7, &value, &used);
    assert_int_equal(value.flags, 0);
    scan("[\"caf\xc3\xa9\"]", 9, &value, &used);
    assert_int_equal(value.flags, JSON_NOT_ASCII);
    scan("{\"a\\n\": NaN}", 12, &value, &used);
    assert_int_equal(value.flags, JSON_ESCAPED | JSON_HAS_NAN);
    scan("[\"more than sixteen bytes and then \xc3\xa9\"]", 39, &value, &used);
    assert_int_equal(value.flags, JSON_NOT_ASCII);
}

TEST(walks_members_and_items)
{
    char *text = padded_copy("{ \"a\" : 1 , \"b\":[2, \"x\" ,{}], \"c\": null }", 42);
    const char *at = text;
    struct json_value object, key, value;
    assert_int_equal(json_scan_value(&at, text + 42, &object), JSON_OK);
    struct json_walk walk = json_walk(&object);
    assert_true(json_walk_member(&walk, &key, &value) && json_is(&key, "a"));
    assert_true(json_walk_member(&walk, &key, &value) && json_is(&key, "b"));
    struct json_walk items = json_walk(&value);
    struct json_value item;
    int count = 0;
    while (json_walk_item(&items, &item))
        count++;
    assert_int_equal(count, 3);
    assert_int_equal(item.kind, JSON_OBJECT);
    assert_true(json_walk_member(&walk, &key, &value) && json_is(&key, "c"));
    assert_false(json_walk_member(&walk, &key, &value));
    value = json_member(&object, "c");
    assert_int_equal(value.kind, JSON_NULL);
    value = json_member(&object, "d");
    assert_int_equal(value.kind, JSON_NONE);
    free(text);
}

static int64_t scaled(const char *text, enum json_kind kind)
{
    char *copy = padded_copy(text, strlen(text));
    struct json_value value = {copy, (uint32_t)strlen(text), (uint8_t)kind, 0};
    int64_t number = -1;
    bool fits = json_scaled_int64(&value, 3, &number);
    free(copy);
    return fits ? number : INT64_MIN;
}

TEST(scales_decimals_without_rounding)
{
    assert_int_equal(scaled("12.3456", JSON_NUMBER), 12345);
    assert_int_equal(scaled("0", JSON_NUMBER), 0);
    assert_int_equal(scaled("-0.5", JSON_NUMBER), -500);
    assert_int_equal(scaled("7", JSON_STRING), 7000);
    assert_int_equal(scaled("1594662605425850.125", JSON_NUMBER), 1594662605425850125);
    assert_int_equal(scaled("1594662605425850", JSON_NUMBER), 1594662605425850000);
    assert_int_equal(scaled("4395518150531.467", JSON_NUMBER), 4395518150531467);
    assert_int_equal(scaled("12345678.1234567899", JSON_NUMBER), 12345678123);
    assert_int_equal(scaled("12345678901234567", JSON_NUMBER), INT64_MIN);
    assert_int_equal(scaled("1.5e3", JSON_NUMBER), 1500000);
    assert_int_equal(scaled("1.123456789e3", JSON_NUMBER), 1123456);
    assert_int_equal(scaled("9223372036854775.807", JSON_NUMBER), INT64_MAX);
    assert_int_equal(scaled("9223372036854775.808", JSON_NUMBER), INT64_MIN);
    assert_int_equal(scaled("1e300", JSON_NUMBER), INT64_MIN);
    assert_int_equal(scaled("", JSON_STRING), INT64_MIN);
    assert_int_equal(scaled("x", JSON_STRING), INT64_MIN);
    assert_int_equal(scaled("1.", JSON_STRING), 1000);
}

static int64_t whole(const char *text, enum json_kind kind)
{
    char *copy = padded_copy(text, strlen(text));
    struct json_value value = {copy, (uint32_t)strlen(text), (uint8_t)kind, 0};
    int64_t number = -1;
    bool is_whole = json_int64(&value, &number);
    free(copy);
    return is_whole ? number : INT64_MIN;
}

TEST(reads_whole_numbers_from_numbers_and_strings)
{
    assert_int_equal(whole("42", JSON_STRING), 42);
    assert_int_equal(whole("0", JSON_NUMBER), 0);
    assert_int_equal(whole("12345678", JSON_NUMBER), 12345678);
    assert_int_equal(whole("-1234567890123456789", JSON_NUMBER), -1234567890123456789);
    assert_int_equal(whole("3.0", JSON_NUMBER), 3);
    assert_int_equal(whole("3.5", JSON_NUMBER), INT64_MIN);
    assert_int_equal(whole("true", JSON_TRUE), INT64_MIN);
}

RUN_TESTS(NULL, NULL)
