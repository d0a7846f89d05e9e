/*
 * The block log (.gputblocks): marks of code blocks as fixed-size records in a file that is mapped
 * into the memory of the program that marks. A mark is a store to memory: no system call, no lock.
 * It is the kernel that keeps the pages, so that every mark survives the death of the program, by
 * SIGKILL too (not that of the machine).
 *
 * The file, in the byte order of the machine that wrote it:
 *
 *     header              64 KiB, of which struct block_log_header is used
 *     chunk 0, 1, 2 …     of `chunk_bytes` each: struct block_log_chunk, then its records
 *
 * A chunk belongs to one thread at a time and holds records of one kind, one after the other; it
 * ends at its first record that is all zero, or where the chunk ends:
 *
 * - names: struct block_log_name and its bytes, padded to 8; names are numbered from 0 in the order
 *   of the file;
 * - marks: struct block_log_mark;
 * - exact marks: struct block_log_exact_mark.
 *
 * Each record is published by its `tag` (a name by its `length`), which is written last. A chunk
 * whose `kind` is 0 was handed out but never begun, and is skipped. Records of one thread are in
 * the order of time, those of several are not.
 *
 * Growth is bounded: a call costs 32 bytes (exact: 128), and once the file has `limit_bytes`
 * further marks are counted in `marks_lost` instead of being kept. Space is reserved on the disk
 * before a chunk is used: a full disk costs marks, never the program (a store to a page that has no
 * room on the disk would be a SIGBUS).
 */
#ifndef STORE_BLOCK_LOG_H
#define STORE_BLOCK_LOG_H

#include "base/error.h"
#include "store/sub_tracking_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BLOCK_LOG_MAGIC "GPUTBLK"
#define BLOCK_LOG_VERSION 1
#define BLOCK_LOG_BYTE_ORDER UINT32_C(0x01020304)
#define BLOCK_LOG_HEADER_BYTES 65536
#define BLOCK_LOG_CHUNK_BYTES 65536
#define BLOCK_LOG_CHUNK_MAGIC UINT32_C(0x6b6e6843)

struct block_log_header {
    char magic[8];
    uint32_t byte_order;
    uint32_t version;
    uint32_t header_bytes;
    uint32_t chunk_bytes;
    int64_t process_id;
    /* One moment by both clocks: times of records are monotonic, epoch = realtime_ns + (time_ns -
     * monotonic_ns). */
    int64_t realtime_ns;
    int64_t monotonic_ns;
    uint64_t limit_bytes;
    _Atomic uint64_t marks_lost;
    _Atomic uint32_t n_chunks; /* handed out so far */
    uint32_t columns;          /* enum sub_tracking_columns */
};

enum block_log_kind {
    BLOCK_LOG_UNUSED = 0,
    BLOCK_LOG_NAMES = 1,
    BLOCK_LOG_MARKS = 2,
    BLOCK_LOG_EXACT_MARKS = 3,
};

struct block_log_chunk {
    uint32_t magic;
    _Atomic uint32_t kind; /* written last */
    uint64_t reserved[7];  /* records begin on a cache line */
};

struct block_log_name {
    _Atomic uint32_t length; /* of the bytes that follow, plus one */
    char bytes[];
};

/* Longest name, in bytes. */
#define BLOCK_LOG_NAME_MAX 65000

struct block_log_mark {
    int64_t time_ns;
    _Atomic uint32_t tag; /* (name + 1) * 2 + position, or one of the two below; 0: no record */
    uint32_t thread_id;
};

/* The marks that follow in this chunk are of process `time_ns`, not of the header's. */
#define BLOCK_LOG_TAG_PROCESS UINT32_C(1)
/* The marks that follow and have thread id BLOCK_LOG_WIDE_THREAD are of thread `time_ns`. */
#define BLOCK_LOG_TAG_THREAD UINT32_MAX
#define BLOCK_LOG_WIDE_THREAD (UINT32_MAX - 1)
#define BLOCK_LOG_NO_THREAD UINT32_MAX

struct block_log_exact_mark {
    struct block_log_mark mark;
    struct sub_tracking_exact exact;
};

static inline uint32_t block_log_tag(uint32_t name, unsigned position)
{
    return (name + 1) * 2 + position;
}

/* ---- Writing ---- */

/* Where one thread writes its next record. All zero at first; one thread's own. */
struct block_log_cursor {
    char *next;
    char *end;
};

/* A log that this process writes. Its members are for the inline functions below. */
struct block_log {
    int fd;
    struct block_log_header *header; /* mapped */
    enum block_log_kind kind;        /* of the marks */
    uint32_t record_bytes;
    uint32_t max_chunks;
    _Atomic int failed;   /* the code of the first chunk that could not be had: no more are tried */
    pthread_mutex_t lock; /* of what follows; not taken while there is room in a chunk */
    struct block_log_cursor *free_chunks; /* left by threads that ended */
    uint32_t n_free;
    struct block_log_cursor names;
};

struct block_log_setup {
    unsigned columns;     /* SUB_TRACKING_COLUMNS_EXACT: exact marks */
    int64_t process_id;   /* whose marks they are until a process record says otherwise */
    uint64_t limit_bytes; /* of the file */
    bool epoch_times;     /* times of records are of the epoch, not monotonic */
};

/*
 * Starts a log in the empty file `fd`, which the log owns from here on, also on failure. `path` is
 * for messages. On success the caller owns `*log`.
 */
int block_log_create(int fd, const char *path, const struct block_log_setup *setup,
    struct block_log **log, struct gput_error *error);

/*
 * Cuts the file to what was used, closes and frees. No thread may be marking; each cursor is to be
 * released before or dropped after.
 */
int block_log_close(struct block_log *log, struct gput_error *error);

/* Frees the memory of a log that belongs to the parent process, without touching its file. */
void block_log_forget(struct block_log *log);

/* Adds the next name: number 0, 1, 2 …; to be called once a name, in their order. Any thread. */
int block_log_add_name(
    struct block_log *log, const char *name, size_t length, struct gput_error *error);

/*
 * Gives the cursor room for a record more: a new chunk, or one that another thread left. GPUT_OK,
 * or an error and the marks until then are lost: GPUT_ERROR_IO, GPUT_ERROR_STATE (the limit).
 */
int block_log_extend(
    struct block_log *log, struct block_log_cursor *cursor, struct gput_error *error);

/* Leaves the rest of a chunk to other threads; the cursor is all zero again. */
void block_log_release(struct block_log *log, struct block_log_cursor *cursor);

/* Frees the memory of a cursor whose log is closed or forgotten. */
void block_log_drop_cursor(struct block_log_cursor *cursor);

static inline bool block_log_has_room(
    const struct block_log *log, const struct block_log_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->next) >= log->record_bytes;
}

/* Writes a record; there must be room. `exact` is ignored by a log without exact figures. */
static inline void block_log_put(const struct block_log *log, struct block_log_cursor *cursor,
    int64_t time_ns, uint32_t tag, uint32_t thread_id, const struct sub_tracking_exact *exact)
{
    struct block_log_exact_mark *record = (struct block_log_exact_mark *)cursor->next;
    record->mark.time_ns = time_ns;
    record->mark.thread_id = thread_id;
    if (log->kind == BLOCK_LOG_EXACT_MARKS)
        record->exact = *exact;
    atomic_store_explicit(&record->mark.tag, tag, memory_order_release);
    cursor->next += log->record_bytes;
}

#endif
