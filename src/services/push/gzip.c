#include "services/push/gzip.h"

#include "base/error.h"

#include <zlib.h>

/* For zlib: the largest window, and the head of gzip. */
#define WINDOW_BITS (15 + 16)
#define MEMORY_LEVEL 8

int gzip_compress(struct str *text, struct gput_error *error)
{
    z_stream stream = {0};
    struct str packed = {0};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
            Z_DEFAULT_STRATEGY) != Z_OK)
        return error_memory(error);
    size_t most = deflateBound(&stream, text->length);
    bool is_whole = false;
    if (str_reserve(&packed, most)) {
        stream.next_in = (Bytef *)text->data;
        stream.avail_in = (uInt)text->length;
        stream.next_out = (Bytef *)packed.data;
        stream.avail_out = (uInt)most;
        is_whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
        packed.length = most - stream.avail_out;
    }
    deflateEnd(&stream);
    if (!is_whole) {
        str_finish(&packed);
        return error_memory(error);
    }
    str_finish(text);
    *text = packed;
    return GPUT_OK;
}
