#include "trace/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define PACKED_BUFFER (128 * 1024)

struct byte_source {
    char *name;
    int fd;                      /* -1: from memory */
    const unsigned char *memory; /* what is left of it */
    size_t memory_left;
    uint64_t bytes_read;
    bool packed;
    bool ended; /* nothing more will come */
    const char *damage;
    z_stream inflater;
    bool in_member;       /* inside a gzip member: the data may not end here */
    unsigned char *input; /* read, not yet used */
    size_t input_at, input_length;
};

static int read_raw(struct byte_source *source, void *buffer, size_t capacity, size_t *length,
    struct gput_error *error)
{
    if (source->fd < 0) {
        *length = capacity < source->memory_left ? capacity : source->memory_left;
        if (*length > 0)
            memcpy(buffer, source->memory, *length);
        source->memory += *length;
        source->memory_left -= *length;
        return GPUT_OK;
    }
    for (;;) {
        ssize_t got = read(source->fd, buffer, capacity);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_errno(error, errno, "Cannot read %s", source->name);
        *length = (size_t)got;
        source->bytes_read += *length;
        return GPUT_OK;
    }
}

static int refill(struct byte_source *source, struct gput_error *error)
{
    source->input_at = 0;
    return read_raw(source, source->input, PACKED_BUFFER, &source->input_length, error);
}

/* Fills the input buffer and checks whether a gzip file starts there. */
static int start(struct byte_source *source, struct gput_error *error)
{
    source->input = malloc(PACKED_BUFFER);
    if (!source->input)
        return error_memory(error);
    TRY(refill(source, error));
    source->packed =
        source->input_length >= 2 && source->input[0] == 0x1f && source->input[1] == 0x8b;
    if (source->packed && inflateInit2(&source->inflater, 16 + MAX_WBITS) != Z_OK) {
        source->packed = false;
        return error_memory(error);
    }
    source->in_member = source->packed;
    return GPUT_OK;
}

static int create(const char *name, struct byte_source **source, struct gput_error *error)
{
    *source = calloc(1, sizeof **source);
    if (!*source)
        return error_memory(error);
    (*source)->fd = -1;
    (*source)->name = strdup(name);
    if (!(*source)->name) {
        byte_source_close(*source);
        *source = NULL;
        return error_memory(error);
    }
    return GPUT_OK;
}

static int started(struct byte_source **source, struct gput_error *error)
{
    int code = start(*source, error);
    if (code != GPUT_OK) {
        byte_source_close(*source);
        *source = NULL;
    }
    return code;
}

int byte_source_open(const char *path, struct byte_source **source, struct gput_error *error)
{
    *source = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(error, errno, "Cannot open %s", path);
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    int code = create(path, source, error);
    if (code != GPUT_OK) {
        close(fd);
        return code;
    }
    (*source)->fd = fd;
    return started(source, error);
}

int byte_source_open_memory(
    const void *bytes, size_t length, struct byte_source **source, struct gput_error *error)
{
    TRY(create("memory", source, error));
    (*source)->memory = bytes;
    (*source)->memory_left = length;
    return started(source, error);
}

/* After a member: another one, or the end. Zeroes after the last one are padding. */
static int next_member(struct byte_source *source, struct gput_error *error)
{
    if (source->input_at == source->input_length)
        TRY(refill(source, error));
    if (source->input_length == 0) {
        source->ended = true;
        return GPUT_OK;
    }
    if (source->input[source->input_at] != 0x1f) {
        source->ended = true;
        if (source->input[source->input_at] != 0)
            source->damage = "is damaged";
        return GPUT_OK;
    }
    inflateReset(&source->inflater);
    source->in_member = true;
    return GPUT_OK;
}

/* One call of inflate(), with what comes after it. */
static int inflate_some(struct byte_source *source, struct gput_error *error)
{
    if (!source->in_member)
        return next_member(source, error);
    if (source->input_at == source->input_length) {
        TRY(refill(source, error));
        if (source->input_length == 0) {
            source->damage = "ends too early";
            source->ended = true;
            return GPUT_OK;
        }
    }
    z_stream *inflater = &source->inflater;
    inflater->next_in = source->input + source->input_at;
    inflater->avail_in = (uInt)(source->input_length - source->input_at);
    int result = inflate(inflater, Z_NO_FLUSH);
    source->input_at = source->input_length - inflater->avail_in;
    if (result == Z_STREAM_END) {
        source->in_member = false;
    } else if (result == Z_MEM_ERROR) {
        return error_memory(error);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
        source->damage = "is damaged";
        source->ended = true;
    }
    return GPUT_OK;
}

static int read_packed(struct byte_source *source, void *buffer, size_t capacity, size_t *length,
    struct gput_error *error)
{
    z_stream *inflater = &source->inflater;
    size_t space = capacity < UINT32_MAX ? capacity : UINT32_MAX;
    inflater->next_out = buffer;
    inflater->avail_out = (uInt)space;
    while (inflater->avail_out == space && !source->ended)
        TRY(inflate_some(source, error));
    *length = space - inflater->avail_out;
    return GPUT_OK;
}

int byte_source_read(struct byte_source *source, void *buffer, size_t capacity, size_t *length,
    struct gput_error *error)
{
    *length = 0;
    if (source->ended || capacity == 0)
        return GPUT_OK;
    if (source->packed)
        return read_packed(source, buffer, capacity, length, error);
    size_t kept = source->input_length - source->input_at;
    if (kept == 0)
        return read_raw(source, buffer, capacity, length, error);
    *length = kept < capacity ? kept : capacity;
    memcpy(buffer, source->input + source->input_at, *length);
    source->input_at += *length;
    return GPUT_OK;
}

const char *byte_source_damage(const struct byte_source *source)
{
    return source->damage;
}

uint64_t byte_source_bytes_read(const struct byte_source *source)
{
    return source->bytes_read;
}

int byte_source_plain_fd(const struct byte_source *source)
{
    return source->packed ? -1 : source->fd;
}

void byte_source_close(struct byte_source *source)
{
    if (!source)
        return;
    if (source->packed)
        inflateEnd(&source->inflater);
    if (source->fd >= 0)
        close(source->fd);
    free(source->input);
    free(source->name);
    free(source);
}
