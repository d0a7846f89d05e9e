#include "code_point.h"

#include "code_point_columns.h"

#include <stdbool.h>

/* Length of the sequence that begins with this byte; 0: none does. */
static size_t sequence_length(unsigned char byte)
{
    if (byte < 0x80)
        return 1;
    if (byte >= 0xC2 && byte <= 0xDF)
        return 2;
    if (byte >= 0xE0 && byte <= 0xEF)
        return 3;
    return byte >= 0xF0 && byte <= 0xF4 ? 4 : 0;
}

uint32_t code_point_next(const char **at, const char *end)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)*at;
    size_t length = sequence_length(bytes[0]);
    *at += 1;
    if (length == 1)
        return bytes[0];
    if (length == 0 || length > (size_t)(end - (const char *)bytes))
        return CODE_POINT_INVALID;
    uint32_t code = bytes[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return CODE_POINT_INVALID;
        code = code << 6 | (bytes[i] & 0x3Fu);
    }
    if (code < lowest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return CODE_POINT_INVALID;
    *at += length - 1;
    return code;
}

static bool is_in(const struct code_point_range *ranges, size_t count, uint32_t code)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && code >= ranges[low].first;
}

#define IS_IN(ranges, code) is_in(ranges, sizeof(ranges) / sizeof((ranges)[0]), code)

int code_point_columns(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7F && code < 0xA0))
        return -1;
    if (code < 0x300)
        return 1;
    if (IS_IN(no_columns, code))
        return 0;
    return IS_IN(two_columns, code) ? 2 : 1;
}

size_t code_point_encode(uint32_t code, char text[4])
{
    if (code < 0x80) {
        text[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6)
        text[i] = (char)(0x80 | (code & 0x3F));
    text[0] = (char)(0xF00 >> length | code);
    return length;
}

int code_point_text_columns(const char *text, size_t length)
{
    int columns = 0;
    for (const char *at = text, *end = text + length; at < end;) {
        int taken = code_point_columns(code_point_next(&at, end));
        columns += taken < 0 ? 1 : taken;
    }
    return columns;
}
