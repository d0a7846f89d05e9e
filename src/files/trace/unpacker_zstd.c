/* Unpacks Zstandard by the stable interface of its library (libzstd 1), which is loaded when a file
 * needs it. */
#include "base/cleanup.h"
#include "base/shared_library.h"
#include "files/trace/unpacker.h"

#include <stdlib.h>
#include <string.h>

#define PATH "libzstd.so.1"

struct zstd_stream; /* ZSTD_DStream */

struct zstd_in { /* ZSTD_inBuffer */
    const void *bytes;
    size_t length, at;
};

struct zstd_out { /* ZSTD_outBuffer */
    void *bytes;
    size_t length, at;
};

/* Error codes of the library, which are stable: */
#define WINDOW_TOO_LARGE ((size_t)-16) /* larger than the library's limit of 128 MiB */
#define OUT_OF_MEMORY ((size_t)-64)

struct unpacking {
    struct zstd_stream *(*create)(void);
    size_t (*decompress)(struct zstd_stream *stream, struct zstd_out *out, struct zstd_in *in);
    unsigned (*is_error)(size_t code);
    size_t (*destroy)(struct zstd_stream *stream);
    struct zstd_stream *stream;
};

/* Whether bytes begin a frame, or a skippable frame (50 to 5f, 2a 4d 18). */
static bool begins(const unsigned char *bytes, size_t length)
{
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd}, skipped[] = {0x2a, 0x4d, 0x18};
    size_t there = length < sizeof frame ? length : sizeof frame;
    if (memcmp(bytes, frame, there) == 0)
        return true;
    return bytes[0] >> 4 == 5 && memcmp(bytes + 1, skipped, there - 1) == 0;
}

/* Loads libzstd and makes its stream; fails where the library is missing. */
static int create(void **state, struct gput_error *error)
{
    CLEANUP_FREE struct unpacking *unpacking = calloc(1, sizeof *unpacking);
    if (!unpacking)
        return error_memory(error);
    const struct shared_symbol symbols[] = {
        {"ZSTD_createDStream", &unpacking->create},
        {"ZSTD_decompressStream", &unpacking->decompress},
        {"ZSTD_isError", &unpacking->is_error},
        {"ZSTD_freeDStream", &unpacking->destroy},
        {NULL, NULL},
    };
    if (shared_library_load(PATH, symbols))
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "it is packed with Zstandard, which needs the library " PATH
            " (Debian: apt-get install libzstd1); or unpack it first: zstd -d");
    unpacking->stream = unpacking->create();
    if (!unpacking->stream)
        return error_memory(error);
    *state = STEAL(unpacking);
    return GPUT_OK;
}

/* Unpacks one step with libzstd. A window that is too large counts as out of memory. */
static enum unpack_status unpack(void *state, struct unpack_step *step)
{
    struct unpacking *unpacking = state;
    struct zstd_in in = {step->in, step->in_length, 0};
    struct zstd_out out = {step->out, step->out_length, 0};
    size_t result = unpacking->decompress(unpacking->stream, &out, &in);
    step->in += in.at;
    step->in_length -= in.at;
    step->out += out.at;
    step->out_length -= out.at;
    if (result == WINDOW_TOO_LARGE || result == OUT_OF_MEMORY)
        return UNPACK_NO_MEMORY;
    if (unpacking->is_error(result))
        return UNPACK_DAMAGED;
    return result == 0 ? UNPACK_MEMBER_ENDED : UNPACK_ON;
}

/* Does nothing: a stream continues with the next frame by itself. */
static void next_member(void *state)
{
    (void)state;
}

/* Frees the stream and its state. */
static void destroy(void *state)
{
    struct unpacking *unpacking = state;
    unpacking->destroy(unpacking->stream);
    free(unpacking);
}

const struct unpacker_class unpacker_zstd = {.begins = begins,
    .magic_length = 4,
    .is_zero_padded = false,
    .create = create,
    .unpack = unpack,
    .next_member = next_member,
    .destroy = destroy};
