#include "base/json_string.h"

#include "base/utf8.h"

#include <string.h>

static void append_escape(unsigned char byte, struct str *text)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *found = byte ? strchr(from, byte) : NULL;
    if (found) {
        char pair[2] = {'\\', to[found - from]};
        str_append_bytes(text, pair, 2);
    } else {
        str_printf(text, "\\u%04x", byte);
    }
}

void json_write_string(const char *bytes, size_t length, struct str *text)
{
    size_t plain = 0;
    str_append_char(text, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        utf8_append(bytes + plain, i - plain, text);
        append_escape(byte, text);
        plain = i + 1;
    }
    utf8_append(bytes + plain, length - plain, text);
    str_append_char(text, '"');
}
