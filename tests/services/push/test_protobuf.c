#include "services/push/protobuf.h"

#include "testing.h"

#include <string.h>

static struct protobuf_field next(const struct str *message, size_t *at)
{
    struct protobuf_field field;
    assert_true(protobuf_next(message->data, message->length, at, &field));
    return field;
}

TEST(what_is_written_is_read_back)
{
    struct str message = {0};
    size_t at = 0;
    protobuf_add_uint(&message, 1, 300);
    protobuf_add_double(&message, 2, -2.5);
    protobuf_add_text(&message, 3, "");
    protobuf_add_text(&message, 4, "text");
    struct protobuf_field field = next(&message, &at);
    assert_int_equal(field.number, 1);
    assert_int_equal(field.value, 300);
    double number;
    field = next(&message, &at);
    memcpy(&number, &field.value, sizeof number);
    assert_true(field.number == 2 && number == -2.5);
    field = next(&message, &at);
    assert_int_equal(field.number, 4);
    assert_memory_equal(field.bytes, "text", field.length);
    assert_int_equal(at, message.length);
    str_finish(&message);
}

TEST(messages_of_any_length_are_nested)
{
    struct str message = {0}, long_text = {0};
    size_t at = 0, inner_at = 0;
    str_append_repeated(&long_text, 'x', 20000);
    size_t inner = protobuf_begin(&message, 15);
    protobuf_add_text(&message, 1, long_text.data);
    protobuf_end(&message, inner);
    protobuf_add_uint(&message, 2, 7);
    struct protobuf_field field = next(&message, &at), text;
    assert_int_equal(field.number, 15);
    assert_true(protobuf_next(field.bytes, field.length, &inner_at, &text));
    assert_int_equal(text.length, 20000);
    assert_int_equal(next(&message, &at).value, 7);
    str_finish(&message);
    str_finish(&long_text);
}

TEST(texts_become_utf8)
{
    struct str message = {0};
    size_t at = 0;
    protobuf_add_text(&message, 1, "a\xff");
    struct protobuf_field field = next(&message, &at);
    assert_int_equal(field.length, 4);
    assert_memory_equal(field.bytes, "a\xef\xbf\xbd", 4);
    str_finish(&message);
}

TEST(damage_ends_the_reading)
{
    static const struct {
        const char *bytes;
        size_t length;
    } damaged[] = {{"\x08", 1}, {"\x08\xff", 2},
        {"\x0a\x05"
         "ab",
            4},
        {"\x09xxxxxxx", 8}, {"\x0b", 1}, {"\x00\x01", 2},
        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11}};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct protobuf_field field;
        size_t at = 0;
        assert_false(protobuf_next(damaged[i].bytes, damaged[i].length, &at, &field));
        assert_int_equal(at, 0);
    }
}

RUN_TESTS(NULL, NULL)
