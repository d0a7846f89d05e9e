#include "base/array.h"
#include "base/file.h"
#include "files/marks/block_log.h"
#include "files/marks/sub_tracking_format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits of chunk sizes in a file; sizes other than ours are valid. */
#define MIN_CHUNK_BYTES UINT32_C(4096)
#define MAX_CHUNK_BYTES (UINT32_C(16) * 1024 * 1024)

struct log_reader {
    struct sub_tracking_reader base;
    int fd;
    uint64_t bytes;
    struct block_log_header header;
    uint32_t n_chunks;  /* number of chunks; the last one may be truncated */
    uint32_t chunk;     /* the next one to read */
    char *buffer;       /* one chunk */
    const char *at;     /* the next record, in the buffer */
    const char *end;    /* end of the chunk's bytes */
    uint32_t kind;      /* kind of the chunk */
    int64_t process_id; /* process of the next marks */
    int64_t thread_id;
    int64_t time_ns;    /* time of the previous mark */
    int64_t started_ns; /* start of the call that the next mark stops, or SUB_TRACKING_UNKNOWN */
    uint32_t *names;    /* maps numbers in the file to numbers in base.names */
    uint32_t n_names;
    uint64_t unnamed; /* records skipped because their name is missing */
    bool cut;         /* the file lacks a part of the allocated chunks */
};

/* ---- Opening ---- */

static int read_at(struct log_reader *reader, void *bytes, size_t length, uint64_t offset,
    size_t *got, struct gput_error *error)
{
    return file_read_at(reader->fd, reader->base.path, bytes, length, offset, got, error);
}

/* Refuses what is not a log, or not one of this machine and version. */
static int check_header(struct log_reader *reader, size_t got, struct gput_error *error)
{
    const struct block_log_header *header = &reader->header;
    if (got < sizeof *header || memcmp(header->magic, BLOCK_LOG_MAGIC, sizeof BLOCK_LOG_MAGIC) != 0)
        return sub_tracking_invalid(&reader->base, error, "it is not a block log.");
    if (header->byte_order != BLOCK_LOG_BYTE_ORDER)
        return sub_tracking_invalid(&reader->base, error,
            "it was written on a machine of another byte order. Convert it there with "
            "`gpu-tracker sub-track combine --mix`.");
    if (header->version < BLOCK_LOG_VERSION || header->version > BLOCK_LOG_VERSION_GPU)
        return sub_tracking_invalid(&reader->base, error,
            "it is of version %" PRIu32 ", and this program reads versions up to %d: read it with "
            "the gpu-tracker that wrote it.",
            header->version, BLOCK_LOG_VERSION_GPU);
    if (header->header_bytes < sizeof *header || header->header_bytes > MAX_CHUNK_BYTES ||
        header->chunk_bytes < MIN_CHUNK_BYTES || header->chunk_bytes % 64 != 0 ||
        header->chunk_bytes > MAX_CHUNK_BYTES)
        return sub_tracking_invalid(&reader->base, error, "its header is damaged.");
    return GPUT_OK;
}

static uint64_t chunk_offset(const struct log_reader *reader, uint32_t chunk)
{
    return reader->header.header_bytes + (uint64_t)chunk * reader->header.chunk_bytes;
}

/* Finds the kind of a chunk; BLOCK_LOG_UNUSED when it is empty. */
static int chunk_kind(
    struct log_reader *reader, uint32_t chunk, uint32_t *kind, struct gput_error *error)
{
    struct block_log_chunk header;
    size_t got;
    TRY(read_at(reader, &header, sizeof header, chunk_offset(reader, chunk), &got, error));
    *kind = got == sizeof header && header.magic == BLOCK_LOG_CHUNK_MAGIC ? header.kind
                                                                          : BLOCK_LOG_UNUSED;
    return GPUT_OK;
}

/* Reads a chunk to the buffer; its records are then between `at` and `end`. */
static int load_chunk(struct log_reader *reader, uint32_t chunk, struct gput_error *error)
{
    size_t got;
    TRY(read_at(reader, reader->buffer, reader->header.chunk_bytes, chunk_offset(reader, chunk),
        &got, error));
    reader->end = reader->buffer + got;
    size_t skip = sizeof(struct block_log_chunk);
    reader->at = reader->buffer + (got < skip ? got : skip);
    return GPUT_OK;
}

/* Reads the names of all chunks, each up to a missing one. */
static int read_names(struct log_reader *reader, struct gput_error *error)
{
    const size_t prefix = sizeof(struct block_log_name);
    for (uint32_t i = 0; i < reader->n_chunks; i++) {
        uint32_t kind;
        TRY(chunk_kind(reader, i, &kind, error));
        if (kind != BLOCK_LOG_NAMES)
            continue;
        TRY(load_chunk(reader, i, error));
        while ((size_t)(reader->end - reader->at) > prefix) {
            size_t rest = (size_t)(reader->end - reader->at);
            uint32_t length_plus_one;
            memcpy(&length_plus_one, reader->at, sizeof length_plus_one);
            if (length_plus_one == 0)
                break;
            size_t length = length_plus_one - 1;
            if (length > rest - prefix && reader->cut)
                break;
            if (length > rest - prefix)
                return sub_tracking_invalid(&reader->base, error, "its names are damaged.");
            uint32_t number =
                sub_tracking_names_add(reader->base.names, reader->at + prefix, length);
            if (number == SUB_TRACKING_NO_NAME || !ARRAY_EXTEND(reader->names, reader->n_names))
                return error_memory(error);
            reader->names[reader->n_names++] = number;
            size_t bytes = (prefix + length + 7) & ~(size_t)7;
            reader->at += bytes < rest ? bytes : rest;
        }
    }
    reader->at = reader->end = reader->buffer;
    return GPUT_OK;
}

/* Opens the file and reads its names, which may be in any chunk. */
static int log_open(struct sub_tracking_reader *base, struct gput_error *error)
{
    struct log_reader *reader = (struct log_reader *)base;
    reader->fd = open(base->path, O_RDONLY | O_CLOEXEC);
    if (reader->fd < 0)
        return error_set_errno(error, errno, "Cannot open %s", base->path);
    size_t got;
    TRY(read_at(reader, &reader->header, sizeof reader->header, 0, &got, error));
    if (got == 0) {
        sub_tracking_warn_of_no_marks(base);
        return GPUT_OK;
    }
    TRY(check_header(reader, got, error));
    struct stat status; /* after the header, so that a growing log does not look truncated */
    if (fstat(reader->fd, &status) != 0)
        return error_set_errno(error, errno, "Cannot read %s", base->path);
    reader->bytes = (uint64_t)status.st_size;
    uint64_t begin = reader->header.header_bytes;
    uint64_t chunk_bytes = reader->header.chunk_bytes;
    uint64_t chunks =
        reader->bytes > begin ? (reader->bytes - begin + chunk_bytes - 1) / chunk_bytes : 0;
    reader->n_chunks = chunks < UINT32_MAX ? (uint32_t)chunks : UINT32_MAX;
    /* A killed program may have been making the file larger for its last chunks. Older logs do not
     * say how large it was. */
    uint64_t reserved_bytes = reader->header.reserved_bytes;
    reader->cut =
        reader->bytes <
        (reserved_bytes > 0 ? reserved_bytes : chunk_offset(reader, reader->header.n_chunks));
    base->columns = reader->header.columns &
                    (SUB_TRACKING_COLUMNS_DISTINGUISH_CALLS | SUB_TRACKING_COLUMNS_COUNTED);
    /* A lost call has two marks at most. Where more are lost, programs ended before stops of theirs
     * were written, or the log is an older one, which counts no calls. */
    uint64_t calls = reader->header.calls_lost, marks = reader->header.marks_lost;
    base->lost = (struct sub_tracking_lost){
        .calls = calls,
        .at_least = reader->cut || (marks > calls && marks - calls > calls),
        .process_id = reader->header.process_id,
        .since_ns = reader->header.lost_since_ns,
        .until_ns = reader->header.lost_until_ns,
    };
    reader->buffer = malloc(chunk_bytes);
    if (!reader->buffer)
        return error_memory(error);
    return read_names(reader, error);
}

/* ---- Reading ---- */

/* Warns at the end of marks that are missing. */
static void report_losses(struct log_reader *reader)
{
    uint64_t lost = reader->header.marks_lost;
    const char *rows_were = reader->base.rows == 1 ? "row was" : "rows were";
    if (lost > 0 && reader->base.lost.calls == 0)
        sub_tracking_warn(&reader->base,
            "at least %" PRIu64 " %s not in it, because it had reached its limit or the disk was "
            "full; %" PRIu64 " %s kept.",
            lost, lost == 1 ? "mark is" : "marks are", reader->base.rows, rows_were);
    else if (reader->cut)
        sub_tracking_warn(
            &reader->base, "it is truncated; %" PRIu64 " %s kept.", reader->base.rows, rows_were);
    else if (reader->unnamed > 0)
        sub_tracking_warn(&reader->base,
            "%" PRIu64 " %s skipped: the name of the code block is not in it; %" PRIu64 " %s kept.",
            reader->unnamed, reader->unnamed == 1 ? "mark was" : "marks were", reader->base.rows,
            rows_were);
}

/* Takes bytes of the chunk. False: it has ended. */
static bool take(struct log_reader *reader, void *bytes, size_t length)
{
    if ((size_t)(reader->end - reader->at) < length)
        return false;
    memcpy(bytes, reader->at, length);
    reader->at += length;
    return true;
}

/* Skips the rest of the chunk. */
static bool end_of_chunk(struct log_reader *reader)
{
    reader->at = reader->end;
    return false;
}

/* Finds the first word of the next mark, after the state words before it. False at the chunk's end.
 */
static bool next_mark(struct log_reader *reader, uint64_t *word)
{
    while (take(reader, word, sizeof *word) && *word != 0) {
        uint32_t tag = (uint32_t)*word;
        int64_t *state = tag == BLOCK_LOG_TAG_TIME      ? &reader->time_ns
                         : tag == BLOCK_LOG_TAG_THREAD  ? &reader->thread_id
                         : tag == BLOCK_LOG_TAG_PROCESS ? &reader->process_id
                         : tag == BLOCK_LOG_TAG_STARTED ? &reader->started_ns
                                                        : NULL;
        if (!state)
            return tag > BLOCK_LOG_TAG_TIME || end_of_chunk(reader);
        if (!take(reader, state, sizeof *state))
            break;
    }
    return end_of_chunk(reader);
}

/* Converts to time since the epoch. Unsigned: the time of a damaged log may wrap, but must not be
 * undefined. */
static int64_t epoch_ns(const struct log_reader *reader, int64_t time_ns)
{
    return (int64_t)((uint64_t)time_ns + (uint64_t)reader->header.realtime_ns -
                     (uint64_t)reader->header.monotonic_ns);
}

/* Reads the next mark of the chunk. False at its end. */
static bool next_row(struct log_reader *reader, struct sub_tracking_mark *row)
{
    uint64_t word;
    while (next_mark(reader, &word)) {
        sub_tracking_mark_clear_figures(row);
        if (!take(reader, &row->exact, block_log_figures_bytes(reader->kind)))
            return end_of_chunk(reader);
        int64_t started_ns = reader->started_ns;
        reader->started_ns = SUB_TRACKING_UNKNOWN;
        reader->time_ns = (int64_t)((uint64_t)reader->time_ns + (word >> 32));
        uint32_t name = (uint32_t)word / 2 - 1;
        if (name >= reader->n_names) {
            reader->unnamed++;
            reader->base.lost.at_least = true;
            continue;
        }
        row->process_id = reader->process_id;
        row->thread_id = reader->thread_id;
        row->timestamp_ns = epoch_ns(reader, reader->time_ns);
        if (started_ns != SUB_TRACKING_UNKNOWN)
            row->started_ns = epoch_ns(reader, started_ns);
        row->timestamp = sub_tracking_seconds_of_ns(row->timestamp_ns);
        row->name = reader->names[name];
        row->position = (uint8_t)(word & 1);
        return true;
    }
    return false;
}

/* Reads the next marks, chunk by chunk. */
static int log_next(struct sub_tracking_reader *base, struct sub_tracking_mark *rows,
    size_t capacity, size_t *count, struct gput_error *error)
{
    struct log_reader *reader = (struct log_reader *)base;
    while (*count < capacity) {
        if (next_row(reader, &rows[*count])) {
            ++*count;
            continue;
        }
        bool found;
        /* Load the next chunk of marks; the state of a chunk begins anew. */
        for (found = false; !found && reader->chunk < reader->n_chunks; reader->chunk++) {
            uint32_t kind;
            TRY(chunk_kind(reader, reader->chunk, &kind, error));
            if (kind < BLOCK_LOG_MARKS || kind > BLOCK_LOG_GPU_MARKS)
                continue;
            TRY(load_chunk(reader, reader->chunk, error));
            reader->kind = kind;
            reader->process_id = reader->header.process_id;
            reader->thread_id = SUB_TRACKING_UNKNOWN;
            reader->time_ns = 0;
            reader->started_ns = SUB_TRACKING_UNKNOWN;
            found = true;
        }
        if (!found) {
            if (*count == 0)
                report_losses(reader);
            return GPUT_OK;
        }
    }
    return GPUT_OK;
}

static void log_progress(const struct sub_tracking_reader *base, uint64_t *done, uint64_t *total)
{
    const struct log_reader *reader = (const struct log_reader *)base;
    uint64_t reached = chunk_offset(reader, reader->chunk);
    *total = reader->bytes;
    *done = reached < *total ? reached : *total;
}

/* Closes the log and frees what was read of it. */
static void log_close(struct sub_tracking_reader *base)
{
    struct log_reader *reader = (struct log_reader *)base;
    if (!base->path)
        return;
    if (reader->fd >= 0)
        close(reader->fd);
    free(reader->buffer);
    free(reader->names);
}

const struct sub_tracking_format_methods sub_tracking_log = {
    .extension = BLOCK_LOG_EXTENSION,
    .reader_bytes = sizeof(struct log_reader),
    .open = log_open,
    .next = log_next,
    .progress = log_progress,
    .close = log_close,
};
