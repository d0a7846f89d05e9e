#include "base/utf8.h"

#include "base/utf8_columns.h"

#include <stdbool.h>
#include <string.h>

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

uint32_t utf8_next(const char **at, const char *end)
{
    uint32_t point;
    size_t length = utf8_decode(*at, (size_t)(end - *at), &point);
    if (length == 0)
        point = **at ? UTF8_REPLACEMENT : 0;
    *at += length ? length : 1;
    return point;
}

size_t utf8_bytes_of(uint32_t point, char bytes[4])
{
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; point >>= 6)
        bytes[i] = (char)(0x80 | (point & 0x3f));
    bytes[0] = (char)(first[length] | point);
    return length;
}

void utf8_append_point(uint32_t point, struct str *text)
{
    char bytes[4];
    str_append_bytes(text, bytes, utf8_bytes_of(point, bytes));
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

/* Returns whether a code point is in one of the sorted ranges. */
static bool is_in(const struct code_point_range *ranges, size_t count, uint32_t point)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (point > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && point >= ranges[low].first;
}

#define IS_IN(ranges, point) is_in(ranges, sizeof(ranges) / sizeof((ranges)[0]), point)

int utf8_columns(uint32_t point)
{
    if (point < 0x20 || (point >= 0x7f && point < 0xa0))
        return -1;
    if (point < 0x300)
        return 1;
    if (IS_IN(no_columns, point))
        return 0;
    return IS_IN(two_columns, point) ? 2 : 1;
}

/* Returns the columns of the character at `*at`, which moves past it. */
static size_t next_width(const char **at, const char *end)
{
    int columns = utf8_columns(utf8_next(at, end));
    return columns < 0 ? 1 : (size_t)columns;
}

size_t utf8_width(const char *text)
{
    size_t width = 0;
    for (const char *at = text, *end = text + strlen(text); at < end;)
        width += next_width(&at, end);
    return width;
}

int utf8_field(const char *text, int columns)
{
    return columns + (int)(strlen(text) - utf8_width(text));
}

void utf8_cut(struct str *text, size_t width)
{
    const char *start = str_text(text), *end = start + text->length;
    size_t columns = 0, kept = 0; /* bytes that leave a column for the "…" */
    for (const char *at = start; at < end;) {
        columns += next_width(&at, end);
        if (columns < width)
            kept = (size_t)(at - start);
    }
    if (columns <= width)
        return;
    text->length = kept;
    str_append(text, "…");
}
