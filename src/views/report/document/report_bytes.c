#include "views/report/document/report_bytes.h"

#include "base/array.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "The temporary file of the report"
#define FIRST_CAPACITY 256

void report_spool_init(struct report_spool *spool, const char *folder)
{
    *spool = (struct report_spool){.folder = folder, .fd = -1};
}

void report_spool_finish(struct report_spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
}

void report_bytes_init(struct report_bytes *bytes, struct report_spool *spool)
{
    *bytes = (struct report_bytes){.spool = spool};
}

void report_bytes_finish(struct report_bytes *bytes)
{
    free(bytes->block);
    free(bytes->places);
    *bytes = (struct report_bytes){.spool = bytes->spool};
}

/* Adds `length` bytes, or, without `more`, as many zeros. */
static int add(
    struct report_bytes *bytes, const char *more, uint64_t length, struct gput_error *error)
{
    while (length > 0) {
        size_t wanted = length < REPORT_BLOCK_BYTES ? (size_t)length : REPORT_BLOCK_BYTES;

        /* Make space for at least one byte more, at best for all that are wanted. */
        if (bytes->used == REPORT_BLOCK_BYTES) {
            /* Move the full block to the spool. */
            struct report_spool *spool = bytes->spool;
            if (!ARRAY_EXTEND(bytes->places, bytes->place_count))
                return error_memory(error);
            if (spool->fd < 0)
                TRY(file_open_temporary(spool->folder, &spool->fd, error));
            TRY(file_write_fd(spool->fd, NAME, bytes->block, bytes->used, error));
            bytes->places[bytes->place_count++] = spool->length;
            spool->length += bytes->used;
            bytes->used = 0;
        }
        while (bytes->capacity < REPORT_BLOCK_BYTES && bytes->capacity - bytes->used < wanted) {
            size_t capacity = bytes->capacity ? bytes->capacity * 2 : FIRST_CAPACITY;
            if (!ARRAY_RESIZE(bytes->block, capacity))
                return error_memory(error);
            bytes->capacity = capacity;
        }

        size_t space = bytes->capacity - bytes->used;
        size_t taken = wanted < space ? wanted : space;
        if (more)
            memcpy(bytes->block + bytes->used, more, taken);
        else
            memset(bytes->block + bytes->used, 0, taken);
        bytes->used += taken;
        bytes->length += taken;
        more = more ? more + taken : NULL;
        length -= taken;
    }
    return GPUT_OK;
}

int report_bytes_add(
    struct report_bytes *bytes, const void *more, size_t length, struct gput_error *error)
{
    return length > 0 ? add(bytes, more, length, error) : GPUT_OK;
}

int report_bytes_add_zeros(struct report_bytes *bytes, uint64_t count, struct gput_error *error)
{
    return add(bytes, NULL, count, error);
}

/* Reads a full block back. */
static int read_block(
    const struct report_bytes *bytes, size_t index, unsigned char *block, struct gput_error *error)
{
    size_t got;
    TRY(file_read_at(
        bytes->spool->fd, NAME, block, REPORT_BLOCK_BYTES, bytes->places[index], &got, error));
    if (got < REPORT_BLOCK_BYTES)
        return error_set(error, GPUT_ERROR_IO, NAME " is shorter than what was written to it.");
    return GPUT_OK;
}

int report_bytes_compare(const struct report_bytes *a, const struct report_bytes *b, bool *same,
    struct gput_error *error)
{
    *same = a->length == b->length && (a->length == 0 || memcmp(a->block, b->block, a->used) == 0);
    if (!*same || a->place_count == 0)
        return GPUT_OK;
    unsigned char *blocks = malloc(2 * REPORT_BLOCK_BYTES);
    int code = blocks ? GPUT_OK : error_memory(error);
    for (size_t i = 0; code == GPUT_OK && *same && i < a->place_count; i++) {
        code = read_block(a, i, blocks, error);
        if (code == GPUT_OK)
            code = read_block(b, i, blocks + REPORT_BLOCK_BYTES, error);
        *same =
            code == GPUT_OK && memcmp(blocks, blocks + REPORT_BLOCK_BYTES, REPORT_BLOCK_BYTES) == 0;
    }
    free(blocks);
    return code;
}

int report_bytes_pass(const struct report_bytes *bytes, report_receiver *receive, void *user,
    struct gput_error *error)
{
    unsigned char *block = bytes->place_count ? malloc(REPORT_BLOCK_BYTES) : NULL;
    int code = bytes->place_count && !block ? error_memory(error) : GPUT_OK;
    for (size_t i = 0; code == GPUT_OK && i < bytes->place_count; i++) {
        code = read_block(bytes, i, block, error);
        if (code == GPUT_OK)
            code = receive(user, block, REPORT_BLOCK_BYTES, error);
    }
    free(block);
    if (code == GPUT_OK && bytes->used > 0)
        code = receive(user, bytes->block, bytes->used, error);
    return code;
}
