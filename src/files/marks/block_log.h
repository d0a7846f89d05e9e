/*
 * The block log (.gputblocks): marks of code blocks as fixed-size records in a file that is mapped
 * into the memory of the program that marks. A mark is a store to memory: no system call, no lock.
 * The pages belong to the kernel's page cache, so every mark survives the end of the program, also
 * by SIGKILL (but not a crash of the machine).
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
 * - marks: words of 8 bytes, see block_log_word(): which block, start or stop, and the nanoseconds
 *   since the mark before; or one of BLOCK_LOG_TAG_TIME, …_THREAD, …_PROCESS, and then the next
 * word is a time, thread id or process id that is valid from there on; BLOCK_LOG_TAG_STARTED: the
 * word after it is the time of the start that the next mark, a stop, belongs to;
 * - exact marks: the same, each mark followed by the first BLOCK_LOG_EXACT_BYTES of a struct
 *   sub_tracking_exact, counted marks by its first BLOCK_LOG_COUNTED_BYTES, marks with GPU time by
 *   all of it. A file with counted marks is of version 2, one with GPU time of version 3, which
 *   older programs refuse; any other is of version 1.
 *
 * Each record is published by its first word (a name by its `length`), which is written last. A
 * chunk whose `kind` is 0 was allocated but never used, and is skipped. Marks of one thread are in
 * the order of time within a chunk. Between chunks they need not be: a thread also fills up what
 * one that ended left.
 *
 * Growth is bounded: a call costs 16 bytes (exact: 112, counted: 176, GPU time: 192), and once it
 * has `limit_bytes` further marks are counted in `marks_lost` instead of being written. Space on
 * the disk is allocated before a chunk is used: on a full disk marks are lost, but the program goes
 * on (a store to a page without space on the disk raises SIGBUS). A store to a truncated page does
 * so too: see mapped_guard.h.
 */
#pragma once

#include "base/error.h"
#include "files/marks/sub_tracking_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_LOG_EXTENSION ".gputblocks"
#define BLOCK_LOG_MAGIC "GPUTBLK"
#define BLOCK_LOG_VERSION 1
#define BLOCK_LOG_VERSION_COUNTED 2
#define BLOCK_LOG_VERSION_GPU 3
#define BLOCK_LOG_EXACT_BYTES 48
#define BLOCK_LOG_COUNTED_BYTES 80
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
    /* One moment by the clock of the records and since the epoch: epoch = realtime_ns + (time_ns -
     * monotonic_ns). Both are 0 where records have times since the epoch, as wall_clock_ns(). */
    int64_t realtime_ns;
    int64_t monotonic_ns;
    uint64_t limit_bytes;
    _Atomic uint64_t marks_lost;
    _Atomic uint32_t n_chunks; /* allocated so far */
    _Atomic uint32_t columns;  /* enum sub_tracking_columns: the columns of its marks */
    /* Calls of which marks were lost, and when, since the epoch: struct sub_tracking_lost. */
    _Atomic uint64_t calls_lost;
    _Atomic int64_t lost_since_ns;
    _Atomic int64_t lost_until_ns;
    _Atomic uint64_t reserved_bytes; /* minimum size of the file, unless it was truncated */
};

enum block_log_kind {
    BLOCK_LOG_UNUSED = 0,
    BLOCK_LOG_NAMES = 1,
    BLOCK_LOG_MARKS = 2,
    BLOCK_LOG_EXACT_MARKS = 3,
    BLOCK_LOG_COUNTED_MARKS = 4,
    BLOCK_LOG_GPU_MARKS = 5,
};

struct block_log_chunk {
    uint32_t magic;
    _Atomic uint32_t kind; /* written last */
    uint64_t reserved[7];  /* records start on a cache line */
};

struct block_log_name {
    _Atomic uint32_t length; /* length of the name that follows, plus one */
    char bytes[];
};

/* Longest name, in bytes. */
#define BLOCK_LOG_NAME_MAX 65000

/* Returns how many bytes of figures follow each mark of a chunk. */
static inline uint32_t block_log_figures_bytes(uint32_t kind)
{
    switch (kind) {
    case BLOCK_LOG_EXACT_MARKS:
        return BLOCK_LOG_EXACT_BYTES;
    case BLOCK_LOG_COUNTED_MARKS:
        return BLOCK_LOG_COUNTED_BYTES;
    case BLOCK_LOG_GPU_MARKS:
        return (uint32_t)sizeof(struct sub_tracking_exact);
    default:
        return 0;
    }
}

/* Returns the first word of a mark: its tag, and above it the nanoseconds since the previous
 * mark. Never 0. */
static inline uint64_t block_log_word(uint32_t tag, uint32_t elapsed_ns)
{
    return (uint64_t)elapsed_ns << 32 | tag;
}

/* Returns a mark's tag: at least 2, and below the tags of state words. */
static inline uint32_t block_log_tag(uint32_t name, unsigned position)
{
    return (name + 1) * 2 + position;
}

/* Tags of state words: the word after them is valid for the rest of the chunk. */
#define BLOCK_LOG_TAG_TIME UINT32_C(1) /* the time of "the mark before" */
#define BLOCK_LOG_TAG_STARTED (UINT32_MAX - 2)
#define BLOCK_LOG_TAG_THREAD (UINT32_MAX - 1) /* at first SUB_TRACKING_UNKNOWN */
#define BLOCK_LOG_TAG_PROCESS UINT32_MAX      /* at first that of the header */

/* ---- Writing ---- */

/* Where a thread writes its next record. All zero at first; used by one thread. */
struct block_log_cursor {
    char *next;
    char *end;
    int64_t last_ns; /* time of the previous mark, BLOCK_LOG_NO_TIME when there is none */
    int64_t process_id, thread_id; /* of the marks that follow in the chunk */
};

#define BLOCK_LOG_NO_TIME INT64_MIN

/* The word of a mark, preceded by up to four records of state: time, thread, process, start. */
#define BLOCK_LOG_MARK_BYTES (8 + 4 * 16)

/* Maximum number of partly used chunks kept for later threads; the rest of further ones is
 * wasted. */
#define BLOCK_LOG_FREE_CHUNKS 64

/* A log that this process writes. Its members are used by the inline functions below. */
struct block_log {
    int fd;
    struct block_log_header *header; /* mapped */
    enum block_log_kind kind;        /* kind of the chunks that are written */
    uint32_t mark_bytes;             /* bytes of one mark with the state that may precede it */
    uint32_t figures_bytes;          /* the part of mark_bytes for figures */
    uint32_t max_chunks;
    atomic_bool cut;                 /* another program was seen to have truncated the file */
    _Atomic uint64_t reserved_bytes; /* as in the header, which may be truncated */
    _Atomic int failed;              /* error code of the last chunk allocation; 0: success */
    _Atomic int64_t retry_ns;        /* when allocation is retried after a full disk */
    pthread_mutex_t lock; /* protects the members below; not taken while a chunk has space */
    uint32_t n_free;
    /* Partly used chunks of threads that ended. */
    struct block_log_cursor free_chunks[BLOCK_LOG_FREE_CHUNKS];
    struct block_log_cursor names;
};

struct block_log_setup {
    unsigned columns;     /* enum sub_tracking_columns */
    int64_t process_id;   /* of the marks before the first process record */
    uint64_t limit_bytes; /* of the file */
};

/*
 * Creates a log in the empty file `fd`, which the log owns from here on, also on failure. `path` is
 * for messages. On success the caller owns `*log`.
 */
int block_log_create(int fd, const char *path, const struct block_log_setup *setup,
    struct block_log **log, struct gput_error *error);

/*
 * Truncates the file to its used part, closes it and frees the log. No thread may be marking; each
 * cursor is released before or freed after.
 */
int block_log_close(struct block_log *log, struct gput_error *error);

/* In a child after fork: unmaps and closes the parent's log without changing its file. Memory that
 * another thread of the parent may have been changing at the fork is not freed. */
void block_log_abandon(struct block_log *log);

/* Adds the next name, number 0, 1, 2 …; called once for each name, in this order. Any thread. */
int block_log_add_name(
    struct block_log *log, const char *name, size_t length, struct gput_error *error);

/*
 * Gives the cursor space for another mark, in a new chunk or one of a thread that ended, and writes
 * thread and process there. Returns GPUT_OK, GPUT_ERROR_STATE (the limit: also for every later
 * call) or GPUT_ERROR_IO (no space at the moment; or the file was truncated: also for every later
 * call).
 */
int block_log_extend(struct block_log *log, struct block_log_cursor *cursor, int64_t thread_id,
    struct gput_error *error);

/* Leaves the rest of a chunk to other threads; the cursor is all zero again. */
void block_log_release(struct block_log *log, struct block_log_cursor *cursor);

/* Adds lost calls to the header. Any thread. */
void block_log_add_lost(struct block_log *log, const struct sub_tracking_lost *lost);

/* Frees the memory of a cursor whose log is closed or abandoned. */
void block_log_free_cursor(struct block_log_cursor *cursor);

/* True where the log takes no more marks because another program truncated the file. A store to
 * a missing page is noticed at once, so this is asked after a mark, too. Stores to the page in
 * which the file now ends are lost unnoticed. */
static inline bool block_log_is_cut(const struct block_log *log)
{
    /* the flag is set by a signal handler of this thread: the store of the mark comes first */
    atomic_signal_fence(memory_order_seq_cst);
    return __builtin_expect(atomic_load_explicit(&log->cut, memory_order_relaxed), 0);
}

/* Sets the error of a mark in such a log. */
int block_log_cut_error(struct gput_error *error);

static inline bool block_log_has_space(
    const struct block_log *log, const struct block_log_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->next) >= log->mark_bytes;
}

/* True where a log without figures has space for a mark. */
static inline bool block_log_has_plain_space(const struct block_log_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->next) >= BLOCK_LOG_MARK_BYTES;
}

static inline void block_log_publish(char *at, uint64_t word)
{
    atomic_store_explicit((_Atomic uint64_t *)at, word, memory_order_release);
}

/* Writes state of one of the tags above; there must be space. */
static inline void block_log_put_state(struct block_log_cursor *cursor, uint32_t tag, int64_t value)
{
    *(int64_t *)(cursor->next + 8) = value;
    block_log_publish(cursor->next, block_log_word(tag, 0));
    cursor->next += 16;
}

/* Writes process and thread of the next mark where they are not those of the one before; there must
 * be space for both. */
static inline void block_log_put_owner(
    struct block_log_cursor *cursor, int64_t process_id, int64_t thread_id)
{
    if (cursor->process_id != process_id)
        block_log_put_state(cursor, BLOCK_LOG_TAG_PROCESS, process_id);
    if (cursor->thread_id != thread_id)
        block_log_put_state(cursor, BLOCK_LOG_TAG_THREAD, thread_id);
    cursor->process_id = process_id;
    cursor->thread_id = thread_id;
}

/* Writes the start time of the call that the next mark stops; there must be space for both. */
static inline void block_log_put_start_time(
    struct block_log *log, struct block_log_cursor *cursor, int64_t started_ns)
{
    if (!(log->header->columns & SUB_TRACKING_COLUMN_STARTED))
        atomic_fetch_or(&log->header->columns, (uint32_t)SUB_TRACKING_COLUMN_STARTED);
    block_log_put_state(cursor, BLOCK_LOG_TAG_STARTED, started_ns);
}

/* Returns the nanoseconds since the previous mark, or 0 after writing a record of the time. */
static inline uint32_t block_log_elapse(struct block_log_cursor *cursor, int64_t time_ns)
{
    uint64_t elapsed_ns = (uint64_t)time_ns - (uint64_t)cursor->last_ns;
    if (__builtin_expect(elapsed_ns > UINT32_MAX, 0)) {
        block_log_put_state(cursor, BLOCK_LOG_TAG_TIME, time_ns);
        elapsed_ns = 0;
    }
    cursor->last_ns = time_ns;
    return (uint32_t)elapsed_ns;
}

/* Writes a mark to a log without figures; there must be space. */
static inline void block_log_put_plain(
    struct block_log_cursor *cursor, int64_t time_ns, uint32_t tag)
{
    uint32_t elapsed_ns = block_log_elapse(cursor, time_ns);
    char *at = cursor->next;
    cursor->next += 8;
    block_log_publish(at, block_log_word(tag, elapsed_ns));
}

/* Writes a mark; there must be space. `exact` is ignored by a log without figures. */
static inline void block_log_put(const struct block_log *log, struct block_log_cursor *cursor,
    int64_t time_ns, uint32_t tag, const struct sub_tracking_exact *exact)
{
    uint32_t elapsed_ns = block_log_elapse(cursor, time_ns);
    char *at = cursor->next;
    cursor->next += 8;
    if (log->figures_bytes > 0) {
        memcpy(cursor->next, exact, log->figures_bytes);
        cursor->next += log->figures_bytes;
    }
    block_log_publish(at, block_log_word(tag, elapsed_ns));
}
