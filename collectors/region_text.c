#include "region_text.h"

#include <stdint.h>

/* Without wcrtomb(): the locale of the program may have another encoding. */
static size_t encode(uint32_t c, char bytes[4])
{
    if (c < 0x80) {
        bytes[0] = (char)c;
        return 1;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(first[length] | c);
    return length;
}

const char *region_text_of_wide(const wchar_t *wide, char *buffer, size_t size)
{
    size_t used = 0;
    if (!wide)
        return NULL;
    for (; *wide; wide++) {
        char bytes[4];
        size_t length = encode((uint32_t)*wide, bytes);
        if (used + length >= size)
            break;
        for (size_t i = 0; i < length; i++)
            buffer[used++] = bytes[i];
    }
    buffer[used] = '\0';
    return buffer;
}
