#include "base/json_string.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* Appends the escape of the character at `bytes`; returns the character's length. */
static size_t append_escape(const char *bytes, size_t left, struct str *text)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *found = *bytes ? strchr(from, *bytes) : NULL;
    if (found) {
        const char pair[] = {'\\', to[found - from]};
        str_append_bytes(text, pair, sizeof pair);
        return 1;
    }
    uint32_t point;
    size_t length = utf8_decode(bytes, left, &point);
    if (length == 0 && *bytes)
        point = UTF8_REPLACEMENT;
    if (point < 0x10000)
        str_printf(text, "\\u%04x", point);
    else
        str_printf(
            text, "\\u%04x\\u%04x", 0xd800 | (point - 0x10000) >> 10, 0xdc00 | (point & 0x3ff));
    return length ? length : 1;
}

/* Writes a string in quotes, with all escapes that JSON requires. */
static void write_string(const char *bytes, size_t length, bool ascii, struct str *text)
{
    size_t plain = 0;
    str_append_char(text, '"');
    for (size_t i = 0; i < length;) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\' && (byte < 0x7f || !ascii)) {
            i++;
            continue;
        }
        utf8_append(bytes + plain, i - plain, text);
        i += append_escape(bytes + i, length - i, text);
        plain = i;
    }
    utf8_append(bytes + plain, length - plain, text);
    str_append_char(text, '"');
}

void json_write_string(const char *bytes, size_t length, struct str *text)
{
    write_string(bytes, length, false, text);
}

void json_write_ascii_string(const char *bytes, size_t length, struct str *text)
{
    write_string(bytes, length, true, text);
}
