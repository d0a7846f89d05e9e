#include "files/trace/json_repair.h"

#include "files/trace/trace_event.h"
#include "testing.h"

#include <string.h>

static enum json_status scan(void *user, const char **at, const char *end)
{
    return trace_event_scan(at, end, user);
}

/* Scans a text that is followed by the padding; `*length` is how much of it was the value. */
static enum json_status repair_and_scan(
    struct str *copy, const char *text, struct trace_event *event, size_t *length)
{
    static char padded[2 << 20];
    size_t all = strlen(text);
    assert_true(all + JSON_PADDING < sizeof padded);
    memcpy(padded, text, all);
    memset(padded + all, 0, JSON_PADDING);
    const char *at = padded;
    enum json_status status = json_repair_scan(copy, &at, padded + all, scan, event);
    *length = (size_t)(at - padded);
    return status;
}

TEST(escapes_backslashes_that_escape_nothing)
{
    static const char value[] = "{\"name\": \"C:\\Users\\q \\\" \\u00e9 \\u12\", \"ph\": \"X\"}";
    char text[sizeof value + 16];
    struct str copy = {0};
    struct trace_event event;
    size_t length;
    snprintf(text, sizeof text, "%s, {\"a\\b\"", value);
    assert_int_equal(repair_and_scan(&copy, text, &event, &length), JSON_OK);
    assert_int_equal(length, strlen(value));
    assert_int_equal(event.type, 'X');
    static const char repaired[] = "C:\\\\Users\\\\q \\\" \\u00e9 \\\\u12";
    assert_int_equal(event.name.length, strlen(repaired));
    assert_memory_equal(event.name.text, repaired, strlen(repaired));
    str_finish(&copy);
}

TEST(escapes_control_characters_within_strings)
{
    static const char value[] = "{\n\t\"name\": \"a\tb\\\"\nc\x01\",\n\"ph\": \"X\"}";
    char text[sizeof value + 16];
    struct str copy = {0};
    struct trace_event event;
    size_t length;
    snprintf(text, sizeof text, "%s, {\"a\"", value);
    assert_int_equal(repair_and_scan(&copy, text, &event, &length), JSON_OK);
    assert_int_equal(length, strlen(value));
    static const char repaired[] = "a\\u0009b\\\"\\u000ac\\u0001";
    assert_int_equal(event.name.length, strlen(repaired));
    assert_memory_equal(event.name.text, repaired, strlen(repaired));
    assert_int_equal(repair_and_scan(&copy, "{\"a\": \"b\n{\"c\": 1}", &event, &length), JSON_BAD);
    str_finish(&copy);
}

TEST(a_value_may_be_longer_than_what_is_copied_at_first)
{
    static char text[(1 << 20) + 100000];
    struct str copy = {0};
    struct trace_event event;
    for (size_t filler = 3000; filler < sizeof text; filler *= 7) {
        size_t length, all = (size_t)snprintf(text, sizeof text,
                           "{\"name\": \"\\U%0*d\", \"ph\": \"X\"}", (int)filler, 0);
        bool is_short = all < 800000;
        assert_int_equal(
            repair_and_scan(&copy, text, &event, &length), is_short ? JSON_OK : JSON_BAD);
        if (is_short)
            assert_int_equal(length, all);
    }
    str_finish(&copy);
}

TEST(other_damage_stays)
{
    struct str copy = {0};
    struct trace_event event;
    size_t length;
    assert_int_equal(repair_and_scan(&copy, "{\"a\": oops}", &event, &length), JSON_BAD);
    assert_int_equal(repair_and_scan(&copy, "{\"a\": \"\\U", &event, &length), JSON_TORN);
    assert_int_equal(repair_and_scan(&copy, "{\"a\": \\U}", &event, &length), JSON_BAD);
    str_finish(&copy);
}

RUN_TESTS(NULL, NULL)
