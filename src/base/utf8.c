#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>

#define REPLACEMENT "\xef\xbf\xbd"

size_t utf8_length(const char *text, size_t left)
{
    const unsigned char *bytes = (const unsigned char *)text;
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = bytes[0];
    if (first == 0) /* valid UTF-8, but texts end with NUL */
        return 0;
    size_t length = first < 0x80             ? 1
                    : (first & 0xe0) == 0xc0 ? 2
                    : (first & 0xf0) == 0xe0 ? 3
                    : (first & 0xf8) == 0xf0 ? 4
                                             : 0;
    if (length < 2 || length > left)
        return length == 1;
    uint32_t point = first & (0x7f >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (bytes[i] & 0x3f);
    }
    bool surrogate = point >= 0xd800 && point < 0xe000;
    return point >= lowest[length] && point <= 0x10ffff && !surrogate ? length : 0;
}

void utf8_append(const char *bytes, size_t length, struct str *text)
{
    size_t plain = 0;
    for (size_t i = 0; i < length;) {
        size_t step = utf8_length(bytes + i, length - i);
        if (step == 0) {
            str_append_bytes(text, bytes + plain, i - plain);
            str_append(text, REPLACEMENT);
            plain = ++i;
        } else {
            i += step;
        }
    }
    str_append_bytes(text, bytes + plain, length - plain);
}
