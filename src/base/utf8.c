#include "base/utf8.h"

#include <string.h>

#include <stdbool.h>

size_t utf8_decode(const char *text, size_t left, uint32_t *point)
{
    const unsigned char *bytes = (const unsigned char *)text;
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = bytes[0];
    *point = first;
    if (first < 0x80)
        return first != 0; /* valid UTF-8, but texts end with NUL */
    size_t length = (first & 0xe0) == 0xc0   ? 2
                    : (first & 0xf0) == 0xe0 ? 3
                    : (first & 0xf8) == 0xf0 ? 4
                                             : 0;
    if (length == 0 || length > left)
        return 0;
    *point = first & (0x7f >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | (bytes[i] & 0x3f);
    }
    bool surrogate = *point >= 0xd800 && *point < 0xe000;
    return *point >= lowest[length] && *point <= 0x10ffff && !surrogate ? length : 0;
}

void utf8_append_point(uint32_t point, struct str *text)
{
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    char bytes[4];
    for (size_t i = length; i-- > 1; point >>= 6)
        bytes[i] = (char)(0x80 | (point & 0x3f));
    bytes[0] = (char)(first[length] | point);
    str_append_bytes(text, bytes, length);
}

void utf8_append(const char *bytes, size_t length, struct str *text)
{
    size_t plain = 0;
    for (size_t i = 0; i < length;) {
        uint32_t point;
        size_t step = utf8_decode(bytes + i, length - i, &point);
        if (step == 0) {
            str_append_bytes(text, bytes + plain, i - plain);
            utf8_append_point(UTF8_REPLACEMENT, text);
            plain = ++i;
        } else {
            i += step;
        }
    }
    str_append_bytes(text, bytes + plain, length - plain);
}

size_t utf8_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += (*text & 0xc0) != 0x80;
    return width;
}

int utf8_field(const char *text, int columns)
{
    return columns + (int)(strlen(text) - utf8_width(text));
}

void utf8_cut(struct str *text, size_t width)
{
    size_t columns = 0, end = 0;
    for (size_t i = 0; i < text->length; i++) {
        if ((text->data[i] & 0xc0) == 0x80)
            continue;
        if (columns == width - 1)
            end = i;
        columns++;
    }
    if (columns <= width)
        return;
    text->length = end;
    str_append(text, "…");
}
