#include "analysis/timeline/gzip_part.h"

#include <zlib.h>

/* zlib's bits for the largest window, without header and trailer. */
#define WINDOW_BITS (-15)
#define MEMORY_LEVEL 8
/* Bytes of a flush, which ends a part on a whole byte; deflateBound() does not include them. */
#define FLUSH_BYTES 16

/* Header of gzip (RFC 1952): DEFLATE, no name, no time, fastest level, Unix. */
const unsigned char gzip_head[GZIP_HEAD_BYTES] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3};

int gzip_part_pack(const struct str *text, struct gzip_part *part, struct gput_error *error)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
            Z_DEFAULT_STRATEGY) != Z_OK)
        return error_memory(error);
    size_t most = deflateBound(&stream, text->length) + FLUSH_BYTES;
    bool is_whole = false;
    str_clear(&part->bytes);
    if (str_reserve(&part->bytes, most)) {
        stream.next_in = (Bytef *)str_text(text);
        stream.avail_in = (uInt)text->length;
        stream.next_out = (Bytef *)part->bytes.data;
        stream.avail_out = (uInt)most;
        is_whole =
            deflate(&stream, Z_SYNC_FLUSH) == Z_OK && stream.avail_in == 0 && stream.avail_out > 0;
        part->bytes.length = most - stream.avail_out;
    }
    deflateEnd(&stream);
    part->length = text->length;
    part->check = (uint32_t)crc32(0, (const Bytef *)str_text(text), (uInt)text->length);
    return is_whole ? GPUT_OK : error_memory(error);
}

void gzip_part_finish(struct gzip_part *part)
{
    str_finish(&part->bytes);
}

void gzip_part_count(struct gzip_part *whole, const struct gzip_part *part)
{
    whole->check = (uint32_t)crc32_combine(whole->check, part->check, (z_off_t)part->length);
    whole->length += part->length;
}

/* Writes a number as four bytes, the lowest first. */
static void put_number(uint32_t number, unsigned char *bytes)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
}

void gzip_end(const struct gzip_part *whole, unsigned char end[GZIP_END_BYTES])
{
    end[0] = 3; /* an empty last block */
    end[1] = 0;
    put_number(whole->check, end + 2);
    put_number((uint32_t)whole->length, end + 6);
}
