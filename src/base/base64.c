#include "base/base64.h"

void base64_encode(const void *bytes, size_t length, char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = bytes;
    for (; length >= 3; length -= 3, from += 3) {
        *text++ = digits[from[0] >> 2];
        *text++ = digits[(from[0] << 4 & 0x30) | from[1] >> 4];
        *text++ = digits[(from[1] << 2 & 0x3c) | from[2] >> 6];
        *text++ = digits[from[2] & 0x3f];
    }
    if (length == 0)
        return;
    unsigned char second = length == 2 ? from[1] : 0;
    *text++ = digits[from[0] >> 2];
    *text++ = digits[(from[0] << 4 & 0x30) | second >> 4];
    *text++ = length == 2 ? digits[second << 2 & 0x3c] : '=';
    *text = '=';
}
