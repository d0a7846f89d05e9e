#include "push/snappy.h"

#include "base/error.h"

/* A literal with two bytes for its length less one. */
#define LITERAL_TAG (61 << 2)
#define MAX_LITERAL ((size_t)1 << 16)

static void append_length(struct str *block, size_t length)
{
    for (; length >= 0x80; length >>= 7)
        str_append_char(block, (char)(length | 0x80));
    str_append_char(block, (char)length);
}

int snappy_frame(struct str *bytes, struct gput_error *error)
{
    struct str block = {0};
    append_length(&block, bytes->length);
    for (size_t at = 0; at < bytes->length; at += MAX_LITERAL) {
        size_t left = bytes->length - at, length = left < MAX_LITERAL ? left : MAX_LITERAL;
        const char head[] = {(char)LITERAL_TAG, (char)(length - 1), (char)((length - 1) >> 8)};
        str_append_bytes(&block, head, sizeof head);
        str_append_bytes(&block, bytes->data + at, length);
    }
    if (block.failed) {
        str_finish(&block);
        return error_memory(error);
    }
    str_finish(bytes);
    *bytes = block;
    return GPUT_OK;
}
