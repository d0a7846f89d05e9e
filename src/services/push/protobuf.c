#include "services/push/protobuf.h"

#include "base/utf8.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

#define MAX_VARINT 10

/* Writes a number in groups of 7 bits, the lowest first. Returns the number of bytes. */
static size_t put_varint(char *at, uint64_t value)
{
    size_t length = 0;
    for (; value >= 0x80; value >>= 7)
        at[length++] = (char)(value | 0x80);
    at[length++] = (char)value;
    return length;
}

static void add_varint(struct str *message, uint64_t value)
{
    char bytes[MAX_VARINT];
    str_append_bytes(message, bytes, put_varint(bytes, value));
}

static void add_tag(struct str *message, unsigned field, unsigned type)
{
    add_varint(message, (uint64_t)field << 3 | type);
}

void protobuf_add_uint(struct str *message, unsigned field, uint64_t value)
{
    add_tag(message, field, VARINT);
    add_varint(message, value);
}

void protobuf_add_fixed64(struct str *message, unsigned field, uint64_t value)
{
    char bytes[8];
    add_tag(message, field, FIXED64);
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(value >> (8 * i));
    str_append_bytes(message, bytes, sizeof bytes);
}

void protobuf_add_double(struct str *message, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    protobuf_add_fixed64(message, field, bits);
}

void protobuf_add_text(struct str *message, unsigned field, const char *text)
{
    struct str valid = {0};
    if (!text || !text[0])
        return;
    utf8_append(text, strlen(text), &valid);
    add_tag(message, field, BYTES);
    add_varint(message, valid.length);
    str_append_bytes(message, str_text(&valid), valid.length);

    message->failed |= valid.failed;
    str_finish(&valid);
}

size_t protobuf_begin(struct str *message, unsigned field)
{
    add_tag(message, field, BYTES);
    return message->length;
}

/* Ends a nested message: inserts its length, now known, before it. */
void protobuf_end(struct str *message, size_t begin)
{
    char bytes[MAX_VARINT];
    if (message->failed)
        return;
    size_t length = message->length - begin, extra = put_varint(bytes, length);
    str_append_bytes(message, bytes, extra);
    if (message->failed)
        return;
    memmove(message->data + begin + extra, message->data + begin, length);
    memcpy(message->data + begin, bytes, extra);
}

/* ---- Reading ---- */

/* Reads a number in groups of 7 bits. Returns false if it is truncated or too long. */
static bool read_varint(const char *message, size_t length, size_t *position, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 7 * MAX_VARINT && *position < length; shift += 7) {
        unsigned char byte = (unsigned char)message[(*position)++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Reads a number of `size` bytes, the lowest first. */
static bool read_fixed(
    const char *message, size_t length, size_t *position, size_t size, uint64_t *value)
{
    if (length - *position < size)
        return false;
    *value = 0;
    for (size_t i = 0; i < size; i++)
        *value |= (uint64_t)(unsigned char)message[*position + i] << (8 * i);
    *position += size;
    return true;
}

/* Reads the value of a field by its wire type. Returns false if the message is damaged. */
static bool read_value(const char *message, size_t length, size_t *position, unsigned type,
    struct protobuf_field *field)
{
    switch (type) {
    case VARINT:
        return read_varint(message, length, position, &field->value);
    case FIXED64:
        return read_fixed(message, length, position, 8, &field->value);
    case FIXED32:
        return read_fixed(message, length, position, 4, &field->value);
    case BYTES: {
        uint64_t size;
        if (!read_varint(message, length, position, &size) || size > length - *position)
            return false;
        field->has_bytes = true;
        field->bytes = message + *position;
        field->length = (size_t)size;
        *position += (size_t)size;
        return true;
    }

    default:
        return false;
    }
}

bool protobuf_next(
    const char *message, size_t length, size_t *position, struct protobuf_field *field)
{
    size_t at = *position;
    uint64_t tag;
    *field = (struct protobuf_field){0};
    if (at >= length || !read_varint(message, length, &at, &tag) || tag >> 3 == 0 ||
        tag >> 3 > UINT32_MAX >> 3 || !read_value(message, length, &at, (unsigned)tag & 7, field))
        return false;
    field->number = (unsigned)(tag >> 3);
    *position = at;
    return true;
}
