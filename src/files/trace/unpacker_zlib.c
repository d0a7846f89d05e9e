#include "files/trace/unpacker.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

bool unpacker_begins_gzip(const unsigned char *bytes, size_t length)
{
    return (length < 1 || bytes[0] == 0x1f) && (length < 2 || bytes[1] == 0x8b);
}

/* Makes a state of zlib that expects gzip. */
static int create(void **state, struct gput_error *error)
{
    z_stream *stream = calloc(1, sizeof *stream);
    if (!stream || inflateInit2(stream, 16 + MAX_WBITS) != Z_OK) {
        free(stream);
        return error_memory(error);
    }
    *state = stream;
    return GPUT_OK;
}

/* Unpacks one step with zlib. */
static enum unpack_status unpack(void *state, struct unpack_step *step)
{
    z_stream *stream = state;
    size_t in = step->in_length < UINT32_MAX ? step->in_length : UINT32_MAX;
    size_t out = step->out_length < UINT32_MAX ? step->out_length : UINT32_MAX;
    stream->next_in = (unsigned char *)(uintptr_t)step->in;
    stream->avail_in = (uInt)in;
    stream->next_out = step->out;
    stream->avail_out = (uInt)out;
    int result = inflate(stream, Z_NO_FLUSH);
    step->in += in - stream->avail_in;
    step->in_length -= in - stream->avail_in;
    step->out += out - stream->avail_out;
    step->out_length -= out - stream->avail_out;
    if (result == Z_STREAM_END)
        return UNPACK_MEMBER_ENDED;
    if (result == Z_MEM_ERROR)
        return UNPACK_NO_MEMORY;
    return result == Z_OK || result == Z_BUF_ERROR ? UNPACK_ON : UNPACK_DAMAGED;
}

static void next_member(void *state)
{
    inflateReset(state);
}

static void destroy(void *state)
{
    inflateEnd(state);
    free(state);
}

const struct unpacker_class unpacker_zlib = {.begins = unpacker_begins_gzip,
    .magic_length = 2,
    .is_zero_padded = true,
    .create = create,
    .unpack = unpack,
    .next_member = next_member,
    .destroy = destroy};
