#include "services/push/snappy.h"

#include "base/error.h"
#include "base/shared_library.h"

/* A literal with two bytes for its length less one. */
#define LITERAL_TAG (61 << 2)
#define MAX_LITERAL ((size_t)1 << 16)

/* Writes the length that precedes a block, in groups of 7 bits. */
static void append_length(struct str *block, size_t length)
{
    for (; length >= 0x80; length >>= 7)
        str_append_char(block, (char)(length | 0x80));
    str_append_char(block, (char)length);
}

/* Of snappy-c.h, which stays. */
struct snappy_library {
    size_t (*max_length)(size_t length);
    int (*compress)(const char *bytes, size_t length, char *block, size_t *block_length);
};

/* Packs by libsnappy, to about a quarter. False: it is not there, or failed. */
static bool compress(const struct str *bytes, struct str *block)
{
    struct snappy_library library;
    const struct shared_symbol symbols[] = {{"snappy_max_compressed_length", &library.max_length},
        {"snappy_compress", &library.compress}, {NULL, NULL}};
    if (!shared_library_can_load() || shared_library_load("libsnappy.so.1", symbols))
        return false;
    size_t length = library.max_length(bytes->length);
    if (!str_reserve(block, length) ||
        library.compress(str_text(bytes), bytes->length, block->data, &length) != 0)
        return false;
    block->length = length;
    return true;
}

int snappy_pack(struct str *bytes, struct gput_error *error)
{
    struct str block = {0};
    if (compress(bytes, &block)) {
        str_finish(bytes);
        *bytes = block;
        return GPUT_OK;
    }
    str_clear(&block);
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
