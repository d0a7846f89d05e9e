#include "files/marks/block_log.h"

#include "base/clock.h"
#include "base/file.h"
#include "files/marks/mapped_guard.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(struct block_log_header) <= BLOCK_LOG_HEADER_BYTES, "the header has a page");
_Static_assert(sizeof(struct block_log_chunk) == 64, "part of the file format");
_Static_assert(sizeof(struct sub_tracking_exact) == 88, "part of the file format");
_Static_assert(offsetof(struct sub_tracking_exact, block_peak_rss_bytes) == BLOCK_LOG_EXACT_BYTES,
    "part of the file format");
_Static_assert(offsetof(struct sub_tracking_exact, gpu_ns) == BLOCK_LOG_COUNTED_BYTES,
    "part of the file format");

/* No log grows beyond this: chunks are counted in 32 bits. */
#define MAX_BYTES ((uint64_t)UINT32_MAX / 2 * BLOCK_LOG_CHUNK_BYTES)

/* Linux 5.14; not in every libc's headers. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* A full disk is retried after this time. */
#define RETRY_NS (NS_PER_SECOND / 20)

/*
 * Writes zeroes to a part of the file. That allocates its space on the disk, so that no later store
 * to it can fail, and its pages are in the page cache when they are mapped. (After fallocate() each
 * first store to a page costs four times as much.)
 */
static int reserve(int fd, off_t offset, size_t length)
{
    static const char zeroes[BLOCK_LOG_CHUNK_BYTES];
    struct file_limit limit;
    size_t done = 0;
    ssize_t wrote = 0;
    file_limit_block_signal(&limit);
    while (done < length && (wrote >= 0 || errno == EINTR)) {
        wrote = pwrite(fd, zeroes, length - done, offset + (off_t)done);
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    file_limit_unblock_signal(&limit);
    return done == length ? 0 : -1;
}

/* Maps a part of the file, whose space on the disk is reserved; NULL: there is none. */
static void *map_part(struct block_log *log, off_t offset, size_t length)
{
    if (reserve(log->fd, offset, length) != 0)
        return NULL;
    void *part = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, log->fd, offset);
    if (part == MAP_FAILED)
        return NULL;
    /* Else each first store to a page is a fault of its own, in which a file system makes the page
     * writable. Where the kernel does not know this, it stays so. */
    madvise(part, length, MADV_POPULATE_WRITE);
    mapped_guard_add(part, length, &log->cut);
    return part;
}

static void unmap_part(void *part, size_t length)
{
    mapped_guard_remove(part);
    munmap(part, length);
}

/* Returns which marks a file with these columns has. */
static enum block_log_kind kind_of(unsigned columns)
{
    if (columns & SUB_TRACKING_COLUMN_GPU)
        return BLOCK_LOG_GPU_MARKS;
    if (columns & (SUB_TRACKING_COLUMN_BLOCK_PEAK | SUB_TRACKING_COLUMNS_COUNTERS))
        return BLOCK_LOG_COUNTED_MARKS;
    return columns & SUB_TRACKING_COLUMNS_EXACT ? BLOCK_LOG_EXACT_MARKS : BLOCK_LOG_MARKS;
}

int block_log_create(int fd, const char *path, const struct block_log_setup *setup,
    struct block_log **log, struct gput_error *error)
{
    struct block_log *created = calloc(1, sizeof *created);
    if (!created) {
        close(fd);
        return error_memory(error);
    }
    created->fd = fd;
    created->header = map_part(created, 0, sizeof *created->header);
    if (!created->header) {
        int code = error_set_errno(error, errno, "Cannot write %s", path);
        close(fd);
        free(created);
        return code;
    }
    atomic_init(&created->reserved_bytes, sizeof *created->header);
    created->kind = kind_of(setup->columns);
    struct block_log_header *header = created->header;
    memcpy(header->magic, BLOCK_LOG_MAGIC, sizeof BLOCK_LOG_MAGIC);
    header->byte_order = BLOCK_LOG_BYTE_ORDER;
    header->version = created->kind == BLOCK_LOG_GPU_MARKS       ? BLOCK_LOG_VERSION_GPU
                      : created->kind == BLOCK_LOG_COUNTED_MARKS ? BLOCK_LOG_VERSION_COUNTED
                                                                 : BLOCK_LOG_VERSION;
    header->header_bytes = BLOCK_LOG_HEADER_BYTES;
    header->chunk_bytes = BLOCK_LOG_CHUNK_BYTES;
    header->process_id = setup->process_id;
    header->limit_bytes = setup->limit_bytes;
    header->columns = setup->columns;
    header->reserved_bytes = sizeof *header;

    uint64_t limit = setup->limit_bytes;
    created->figures_bytes = block_log_figures_bytes(created->kind);
    created->mark_bytes = BLOCK_LOG_MARK_BYTES + created->figures_bytes;
    uint64_t chunks = (limit < MAX_BYTES ? limit : MAX_BYTES) / BLOCK_LOG_CHUNK_BYTES;
    created->max_chunks = chunks > 1 ? (uint32_t)chunks - 1 : 0;
    pthread_mutex_init(&created->lock, NULL);
    *log = created;
    return GPUT_OK;
}

static off_t chunk_offset(uint32_t chunk)
{
    return BLOCK_LOG_HEADER_BYTES + (off_t)chunk * BLOCK_LOG_CHUNK_BYTES;
}

/* Chunks are mapped separately and only page-aligned: the start of one is computed from the end
 * that its cursor has. */
static void unmap_chunk(char *end)
{
    if (end)
        unmap_part(end - BLOCK_LOG_CHUNK_BYTES, BLOCK_LOG_CHUNK_BYTES);
}

void block_log_free_cursor(struct block_log_cursor *cursor)
{
    unmap_chunk(cursor->end);
    *cursor = (struct block_log_cursor){0};
}

/* Whether another program has truncated the mapped file: its pages do not exist any more, and later
 * stores to them are lost. So may be the number of chunks. Once seen, it stays so, also if the
 * file grows again. */
static bool is_cut(struct block_log *log)
{
    if (block_log_is_cut(log))
        return true;
    /* Read before the size: another thread may make the file larger meanwhile. */
    uint64_t reserved_bytes = atomic_load(&log->reserved_bytes);
    struct stat status;
    if (fstat(log->fd, &status) == 0 && (uint64_t)status.st_size < reserved_bytes)
        atomic_store(&log->cut, true);
    return block_log_is_cut(log);
}

int block_log_cut_error(struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_IO,
        "The block log was truncated by another program while it was written; marks are lost.");
}

int block_log_close(struct block_log *log, struct gput_error *error)
{
    int code = GPUT_OK;
    struct stat status;
    off_t used = chunk_offset(atomic_load(&log->header->n_chunks));
    if (is_cut(log))
        code = block_log_cut_error(error);
    else if (fstat(log->fd, &status) == 0 && status.st_size > used && /* reserved and not used */
             ftruncate(log->fd, used) != 0)
        code = error_set_errno(error, errno, "Cannot complete the block log");
    if (close(log->fd) != 0 && code == GPUT_OK)
        code = error_set_errno(error, errno, "Cannot complete the block log");
    pthread_mutex_destroy(&log->lock);
    unmap_chunk(log->names.end);
    for (uint32_t i = 0; i < log->n_free; i++)
        unmap_chunk(log->free_chunks[i].end);
    unmap_part(log->header, sizeof *log->header);
    free(log);
    return code;
}

void block_log_abandon(struct block_log *log)
{
    close(log->fd);
    unmap_part(log->header, sizeof *log->header);
    free(log);
}

/* Whether no chunk is to be requested: the size limit is final, a full disk is retried after a
 * while. */
static bool is_closed(struct block_log *log)
{
    int failed = atomic_load(&log->failed);
    return failed == GPUT_ERROR_STATE ||
           (failed && clock_monotonic_ns() < atomic_load(&log->retry_ns));
}

/* Gives back a chunk that could not be made, and says why. */
static int fail_chunk(struct block_log *log, uint32_t chunk, int code, struct gput_error *error)
{
    int saved = errno;
    /* Given back, unless another thread has one after it: then it is a hole in the file. */
    uint32_t handed_out = chunk + 1;
    if (code == GPUT_ERROR_STATE)
        atomic_fetch_sub(&log->header->n_chunks, 1);
    else
        atomic_compare_exchange_strong(&log->header->n_chunks, &handed_out, chunk);
    atomic_store(&log->retry_ns, clock_monotonic_ns() + RETRY_NS);
    atomic_store(&log->failed, code);
    if (code == GPUT_ERROR_STATE)
        return error_set(error, GPUT_ERROR_STATE,
            "The block log has reached its limit of %llu bytes; further marks are lost.",
            (unsigned long long)log->header->limit_bytes);
    return error_set_errno(error, saved, "Cannot extend the block log; further marks are lost");
}

static void raise_to(_Atomic uint64_t *max, uint64_t bytes)
{
    uint64_t seen = atomic_load(max);
    while (seen < bytes && !atomic_compare_exchange_weak(max, &seen, bytes))
        ;
}

/* Allocates the next chunk by one atomic add, so that threads do not wait for each other. */
static int new_chunk(
    struct block_log *log, enum block_log_kind kind, char **start, struct gput_error *error)
{
    if (is_cut(log))
        return block_log_cut_error(error);
    if (is_closed(log))
        return error_set(
            error, atomic_load(&log->failed), "The block log takes no more marks for now.");
    uint32_t chunk = atomic_fetch_add(&log->header->n_chunks, 1);
    if (chunk >= log->max_chunks)
        return fail_chunk(log, chunk, GPUT_ERROR_STATE, error);
    *start = map_part(log, chunk_offset(chunk), BLOCK_LOG_CHUNK_BYTES);
    if (!*start)
        return fail_chunk(log, chunk, GPUT_ERROR_IO, error);
    atomic_store(&log->failed, 0);
    raise_to(&log->reserved_bytes, (uint64_t)chunk_offset(chunk + 1));
    raise_to(&log->header->reserved_bytes, (uint64_t)chunk_offset(chunk + 1));
    struct block_log_chunk *header = (struct block_log_chunk *)*start;
    header->magic = BLOCK_LOG_CHUNK_MAGIC;
    atomic_store_explicit(&header->kind, kind, memory_order_release);
    return GPUT_OK;
}

void block_log_add_lost(struct block_log *log, const struct sub_tracking_lost *lost)
{
    int64_t never = 0;
    atomic_compare_exchange_strong(&log->header->lost_since_ns, &never, lost->since_ns);
    atomic_store(&log->header->lost_until_ns, lost->until_ns);
    atomic_fetch_add(&log->header->calls_lost, lost->calls);
}

/* Adds a name with the lock held. */
static int add_name(
    struct block_log *log, const char *name, size_t length, struct gput_error *error)
{
    size_t bytes = (sizeof(struct block_log_name) + length + 7) & ~(size_t)7;
    if (block_log_is_cut(log))
        return block_log_cut_error(error);
    if ((size_t)(log->names.end - log->names.next) < bytes) {
        char *start;
        TRY(new_chunk(log, BLOCK_LOG_NAMES, &start, error));
        unmap_chunk(log->names.end);
        log->names.next = start + sizeof(struct block_log_chunk);
        log->names.end = start + BLOCK_LOG_CHUNK_BYTES;
    }
    struct block_log_name *record = (struct block_log_name *)log->names.next;
    memcpy(record->bytes, name, length);
    atomic_store_explicit(&record->length, (uint32_t)length + 1, memory_order_release);
    log->names.next += bytes;
    return block_log_is_cut(log) ? block_log_cut_error(error) : GPUT_OK;
}

int block_log_add_name(
    struct block_log *log, const char *name, size_t length, struct gput_error *error)
{
    if (length > BLOCK_LOG_NAME_MAX)
        return error_set(error, GPUT_ERROR_INVALID,
            "The name of a code block is %zu bytes long; at most %d are kept.", length,
            BLOCK_LOG_NAME_MAX);
    pthread_mutex_lock(&log->lock);
    int code = add_name(log, name, length, error);
    pthread_mutex_unlock(&log->lock);
    return code;
}

int block_log_extend(struct block_log *log, struct block_log_cursor *cursor, int64_t thread_id,
    struct gput_error *error)
{
    block_log_free_cursor(cursor);
    pthread_mutex_lock(&log->lock);
    bool has_free = log->n_free > 0;
    if (has_free)
        *cursor = log->free_chunks[--log->n_free];
    pthread_mutex_unlock(&log->lock);
    if (!has_free) {
        char *start;
        TRY(new_chunk(log, log->kind, &start, error));
        cursor->next = start + sizeof(struct block_log_chunk);
        cursor->end = start + BLOCK_LOG_CHUNK_BYTES;
        cursor->last_ns = BLOCK_LOG_NO_TIME;
        cursor->process_id = log->header->process_id;
    }
    block_log_put_state(cursor, BLOCK_LOG_TAG_THREAD, thread_id);
    cursor->thread_id = thread_id;
    return GPUT_OK;
}

void block_log_release(struct block_log *log, struct block_log_cursor *cursor)
{
    bool kept = false;
    if (block_log_has_space(log, cursor)) { /* space for at least a mark and its thread */
        pthread_mutex_lock(&log->lock);
        kept = log->n_free < BLOCK_LOG_FREE_CHUNKS;
        if (kept)
            log->free_chunks[log->n_free++] = *cursor;
        pthread_mutex_unlock(&log->lock);
    }
    if (kept)
        *cursor = (struct block_log_cursor){0};
    else
        block_log_free_cursor(cursor);
}
