#include "files/trace/event_shapes.h"

#include "base/padded.h"
#include "testing.h"

#include <stdio.h>

static const char *const texts[] = {
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1, \"tid\": 2,\n"
    " \"ts\": 12.345, \"dur\": 1, \"args\": {\n \"id\": 7, \"n\": -1.5e3, \"s\": \"a\\n\" } }",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a name of more than thirty-two bytes, "
    "plain\", "
    "\"pid\": \"Spans\", \"tid\": 2,\n \"ts\": 1234567890123456.789, \"dur\": 0.5, \"args\": {\n "
    "\"id\": NaN, \"grid\": [1, 2, [3]], \"k\\u00e9y\": {}, \"\xc3\xa9\": {\"a\": []}}}",
    "{\"ph\": \"s\", \"id\": 1, \"pid\": 0, \"tid\": 7, \"ts\": 3, \"cat\": \"ac2g\"}",
    "{\"ph\": \"X\", \"args\": {}, \"other\": {\"b\": [true, false, null]}, \"ts\": \"4\"}",
    "{\"ph\": \"X\", \"args\": \"none\", \"ts\": 5}",
    "{\"ph\":\"X\",\"args\":{\"x\":Infinity},\"args\":3,\"ts\":6}",
    "{\"ph\":\"X\",\"args\":{\"step_num\":\"3\",\"pid\":905,\"thread_id\":[7]},\"ts\":7}",
    "{\"ph\":\"X\",\"args\":{\"thread_id\":8,\"o\":{\"pid\":1},\"a\":[2],\"pid\":3},\"ts\":8}",
    "{\"ph\":\"X\",\"step_num\":1,\"o\":{\"pid\":2},\"args\":{\"pid\":3,\"pid\":4},\"ts\":9}",
};
#define TEXT_COUNT (sizeof texts / sizeof *texts)

static void assert_same_value(const struct json_value *left, const struct json_value *right)
{
    assert_int_equal(left->kind, right->kind);
    if (left->kind == JSON_NONE)
        return;
    assert_ptr_equal(left->text, right->text);
    assert_int_equal(left->length, right->length);
    assert_int_equal(left->flags, right->flags);
}

/* What the quick scan gives, where it gives something, is what the careful one gives. */
static bool assert_agrees(struct event_shapes *shapes, const char *text, size_t length)
{
    struct trace_event quick, careful;
    const char *quick_end = text, *careful_end = text;
    if (!event_shapes_scan(shapes, &quick_end, text + length, &quick)) {
        assert_ptr_equal(quick_end, text);
        return false;
    }
    assert_int_equal(trace_event_scan(&careful_end, text + length, &careful), JSON_OK);
    assert_ptr_equal(quick_end, careful_end);
    for (int i = TRACE_OTHER + 1; i < TRACE_FIELD_COUNT; i++)
        assert_same_value(quick.values + i, careful.values + i);
    assert_int_equal(quick.members, careful.members);
    assert_int_equal(quick.type, careful.type);
    assert_int_equal(quick.length, careful.length);
    assert_int_equal(quick.has_start, careful.has_start);
    assert_int_equal(quick.start_ns, careful.start_ns);
    assert_int_equal(quick.duration_ns, careful.duration_ns);
    return true;
}

static void learn(struct event_shapes *shapes, const char *text)
{
    struct trace_event event;
    char *copy = padded_copy(text, strlen(text));
    const char *at = copy;
    assert_int_equal(trace_event_scan(&at, copy + strlen(text), &event), JSON_OK);
    event_shapes_learn(shapes, &event);
    free(copy);
}

static struct event_shapes *all_learnt(void)
{
    struct event_shapes *shapes = event_shapes_create();
    for (size_t i = 0; i < TEXT_COUNT; i++)
        learn(shapes, texts[i]);
    return shapes;
}

TEST(knows_the_shapes_it_has_learnt)
{
    struct event_shapes *shapes = all_learnt();
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        char *copy = padded_copy(texts[i], strlen(texts[i]));
        assert_true(assert_agrees(shapes, copy, strlen(texts[i])));
        free(copy);
    }
    event_shapes_destroy(shapes);
}

TEST(knows_none_before)
{
    struct event_shapes *shapes = event_shapes_create();
    char *copy = padded_copy(texts[0], strlen(texts[0]));
    assert_false(assert_agrees(shapes, copy, strlen(texts[0])));
    assert_false(assert_agrees(NULL, copy, strlen(texts[0])));
    free(copy);
    event_shapes_destroy(shapes);
}

TEST(knows_an_event_of_other_values)
{
    static const char other[] =
        "{\"ph\": 17, \"id\": \"\", \"pid\": -0.5e-3, \"tid\": null, \"ts\": "
        "123456789012345678901234567890.5, \"cat\": \"\\\"\\u00e9\xc3\xa9\"}";
    struct event_shapes *shapes = all_learnt();
    char *copy = padded_copy(other, strlen(other));
    assert_true(assert_agrees(shapes, copy, strlen(other)));
    free(copy);
    event_shapes_destroy(shapes);
}

TEST(gives_nothing_of_an_event_that_is_cut)
{
    struct event_shapes *shapes = all_learnt();
    for (size_t i = 0; i < TEXT_COUNT; i++)
        for (size_t length = 0; length < strlen(texts[i]); length++) {
            char *copy = padded_copy(texts[i], length);
            assert_false(assert_agrees(shapes, copy, length));
            free(copy);
        }
    event_shapes_destroy(shapes);
}

TEST(agrees_with_the_careful_scan_when_any_byte_is_changed)
{
    static const char bytes[] = "\"\\{}[],:0159.-+eEntN \n\x01\x80";
    struct event_shapes *shapes = all_learnt();
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        size_t length = strlen(texts[i]);
        char *copy = padded_copy(texts[i], length);
        for (size_t at = 0; at < length; at++)
            for (size_t j = 0; j < sizeof bytes; j++) { /* the NUL at its end, too */
                copy[at] = bytes[j];
                assert_agrees(shapes, copy, length);
                copy[at] = texts[i][at];
            }
        free(copy);
    }
    event_shapes_destroy(shapes);
}

TEST(goes_on_learning_when_it_is_full)
{
    struct event_shapes *shapes = event_shapes_create();
    for (int i = 0; i < 20000; i++) {
        char text[200];
        snprintf(
            text, sizeof text, "{\"ph\": \"X\", \"key %d\": {\"a\": 1, \"b %d\": 2}}", i % 30, i);
        learn(shapes, text);
    }
    char *copy = padded_copy(texts[0], strlen(texts[0]));
    for (int i = 0; i < 20000 && !assert_agrees(shapes, copy, strlen(texts[0])); i++)
        learn(shapes, texts[0]);
    assert_true(assert_agrees(shapes, copy, strlen(texts[0])));
    free(copy);
    event_shapes_destroy(shapes);
}

RUN_TESTS(NULL, NULL)
