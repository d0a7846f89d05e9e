#include "base/clock.h"
#include "base/file_limit.h"
#include "base/space_reserve.h"
#include "blocks/block_sink.h"
#include "formats/marks/sub_tracking_lost.h"
#include "formats/marks/sub_tracking_sqlite.h"
#include "formats/sqlite_file.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* Space for copying the write-ahead log on a full disk, then for saying that calls were lost, as
 * soon as the first one was; the rest is for their number at the end. */
#define RESERVE_BYTES (48 * 1024)
#define RESERVE_FOR_LOSSES_BYTES (32 * 1024)
#define RESERVE_KEPT_BYTES (16 * 1024)

/* What marks leave of a limit of file sizes, for the same. */
#define KEPT_OF_LIMIT_BYTES (16 * 1024)
#define NO_LIMIT UINT64_MAX

/* Where copying the log made no space, that is tried again after this time. */
#define RETRY_NS (NS_PER_SECOND / 20)

/* Each mark is a transaction in the write-ahead log: committed marks survive when the program is
 * killed. */
struct sqlite_sink {
    struct block_sink base;
    sqlite3 *database; /* NULL: closed before a fork; the next mark opens it */
    sqlite3_stmt *insert;
    unsigned columns; /* that `insert` fills */
    struct sub_tracking_lost lost;
    uint64_t lost_written; /* calls that the file says are lost */
    int64_t lost_rows[2];  /* ids of the rows that say so; 0: there are none */
    struct space_reserve reserve;
    int64_t retry_ns;     /* no space can be made before */
    uint64_t limit_bytes; /* that the database was given for marks; NO_LIMIT */
    pthread_mutex_t lock; /* of the members above */
};

static int sqlite_begin(struct block_sink *base, int fd, struct gput_error *error)
{
    struct sqlite_sink *sink = (struct sqlite_sink *)base;
    close(fd);
    sink->reserve.fd = -1;
    sink->limit_bytes = NO_LIMIT;
    TRY(sqlite_file_create(base->path, false, &sink->database, error));
    int code = sub_tracking_sqlite_prepare(
        sink->database, base->path, base->columns, &sink->insert, error);
    if (code != GPUT_OK) {
        sqlite_file_finish(sink->database, base->path, NULL);
        return code;
    }
    sink->columns = base->columns;
    pthread_mutex_init(&sink->lock, NULL);
    space_reserve_open(&sink->reserve, base->path, RESERVE_BYTES);
    return GPUT_OK;
}

static void close_database(struct sqlite_sink *sink)
{
    sqlite3_finalize(sink->insert);
    sqlite3_close(sink->database);
    sink->insert = NULL;
    sink->database = NULL;
}

/* Opens the existing file, to append to it. */
static int open_database(struct sqlite_sink *sink, struct gput_error *error)
{
    const char *path = sink->base.absolute;
    TRY(sqlite_file_open(path, &sink->database, error));
    sqlite_file_use_log(sink->database);
    sink->limit_bytes = NO_LIMIT;
    int code =
        sub_tracking_sqlite_prepare(sink->database, path, sink->columns, &sink->insert, error);
    if (code != GPUT_OK)
        close_database(sink);
    return code;
}

static int sqlite_join(struct block_sink *base, struct gput_error *error)
{
    struct sqlite_sink *sink = (struct sqlite_sink *)base;
    sink->columns = base->columns | SUB_TRACKING_COLUMNS_DISTINGUISH_CALLS;
    sink->reserve.fd = -1;
    TRY(open_database(sink, error));
    pthread_mutex_init(&sink->lock, NULL);
    return GPUT_OK;
}

/* With the lock held. On failure the table is unchanged. */
static void add_thread_ids(struct block_sink *base)
{
    struct sqlite_sink *sink = (struct sqlite_sink *)base;
    char sql[200];
    unsigned columns = sink->columns | SUB_TRACKING_COLUMNS_DISTINGUISH_CALLS;
    sqlite3_stmt *insert = NULL;
    snprintf(sql, sizeof sql,
        "BEGIN; ALTER TABLE data ADD COLUMN thread_id INTEGER; "
        "ALTER TABLE data ADD COLUMN started_ns INTEGER; UPDATE data SET thread_id = %" PRId64,
        atomic_load(&sink->base.only_thread));
    if (sqlite_file_run(sink->database, sql, sink->base.path, NULL) == GPUT_OK &&
        sub_tracking_sqlite_prepare(sink->database, sink->base.path, columns, &insert, NULL) ==
            GPUT_OK &&
        sqlite_file_run(sink->database, "COMMIT", sink->base.path, NULL) == GPUT_OK) {
        sqlite3_finalize(sink->insert);
        sink->insert = insert;
        sink->columns = columns;
        return;
    }
    sqlite3_finalize(insert);
    if (!sqlite3_get_autocommit(sink->database))
        sqlite_file_run(sink->database, "ROLLBACK", sink->base.path, NULL);
}

/* SQLite keeps the state of its file locks in memory, which is wrong in a forked child. So no
 * connection may be open at a fork. */
static void sqlite_share(struct block_sink *base)
{
    struct sqlite_sink *sink = (struct sqlite_sink *)base;
    block_sink_decide_thread_ids(base, &sink->lock, add_thread_ids);
    if (!(sink->columns & SUB_TRACKING_COLUMN_THREAD_ID))
        return;
    close_database(sink);
    base->shared = true;
}

/* ---- Lost calls ---- */

static int insert_lost(struct sqlite_sink *sink)
{
    struct sub_tracking_mark rows[2];
    char name[SUB_TRACKING_LOST_NAME_SIZE];
    size_t length = sub_tracking_lost_rows(&sink->lost, rows, name);
    for (int i = 0; i < 2; i++) {
        TRY(sub_tracking_sqlite_insert(
            sink->insert, sink->base.path, sink->columns, &rows[i], name, length, NULL));
        sink->lost_rows[i] = sqlite3_last_insert_rowid(sink->database);
    }
    return GPUT_OK;
}

static int update_lost(struct sqlite_sink *sink)
{
    struct sub_tracking_mark rows[2];
    char name[SUB_TRACKING_LOST_NAME_SIZE];
    char sql[300];
    sub_tracking_lost_rows(&sink->lost, rows, name);
    snprintf(sql, sizeof sql,
        "UPDATE data SET code_block_name = '%s' WHERE rowid IN (%" PRId64 ", %" PRId64 "); "
        "UPDATE data SET timestamp = %.9f WHERE rowid = %" PRId64,
        name, sink->lost_rows[0], sink->lost_rows[1], rows[1].timestamp, sink->lost_rows[1]);
    return sqlite_file_run(sink->database, sql, sink->base.path, NULL);
}

/* Sets how large the database may become: less than the limit of file sizes for marks. */
static void set_limit(struct sqlite_sink *sink, uint64_t bytes)
{
    if (bytes != sink->limit_bytes)
        sqlite_file_set_limit(sink->database, bytes);
    sink->limit_bytes = bytes;
}

static uint64_t limit_of_marks(const struct file_limit *limit)
{
    if (!limit->held)
        return NO_LIMIT;
    return limit->bytes > KEPT_OF_LIMIT_BYTES ? limit->bytes - KEPT_OF_LIMIT_BYTES : 0;
}

/* Has the file say how many calls were lost, in two rows. With the lock held, SIGXFSZ blocked, and
 * the database open. */
static void write_lost(struct sqlite_sink *sink, size_t kept_reserve)
{
    bool is_there = sink->lost_rows[1] != 0;
    space_reserve_release(&sink->reserve, kept_reserve);
    if (!is_there)
        set_limit(sink, NO_LIMIT);
    if (sqlite_file_run(sink->database, "BEGIN", sink->base.path, NULL) != GPUT_OK)
        return;
    int code = is_there ? update_lost(sink) : insert_lost(sink);
    if (code == GPUT_OK)
        code = sqlite_file_run(sink->database, "COMMIT", sink->base.path, NULL);
    if (code == GPUT_OK)
        sink->lost_written = sink->lost.calls;
    else if (!is_there)
        sink->lost_rows[0] = sink->lost_rows[1] = 0;
    if (!sqlite3_get_autocommit(sink->database))
        sqlite_file_run(sink->database, "ROLLBACK", sink->base.path, NULL);
}

static void sqlite_lose_call(struct block_sink *base)
{
    struct sqlite_sink *sink = (struct sqlite_sink *)base;
    struct file_limit limit;
    pthread_mutex_lock(&sink->lock);
    file_limit_block_signal(&limit);
    block_sink_count_lost_call(base, &sink->lost);
    if (sink->database)
        write_lost(sink, RESERVE_KEPT_BYTES);
    file_limit_unblock_signal(&limit);
    pthread_mutex_unlock(&sink->lock);
}

/* At the end. What is in the write-ahead log needs no space there any more once it is copied. */
static void write_last_lost(struct sqlite_sink *sink)
{
    if (!sink->database && open_database(sink, NULL) != GPUT_OK)
        return;
    space_reserve_release(&sink->reserve, 0);
    sqlite3_wal_checkpoint_v2(sink->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    write_lost(sink, 0);
}

/* ---- Marks ---- */

static int insert_mark(struct sqlite_sink *sink, const struct block_name *name,
    const struct sub_tracking_mark *row, struct gput_error *error)
{
    return sub_tracking_sqlite_insert(
        sink->insert, sink->base.path, sink->columns, row, name->text, name->length, error);
}

/* After a mark could not be written. */
static bool make_space(struct sqlite_sink *sink)
{
    if (!sqlite_file_is_full(sink->database) || clock_monotonic_ns() < sink->retry_ns)
        return false;
    space_reserve_release(&sink->reserve, RESERVE_FOR_LOSSES_BYTES);
    return sqlite_file_make_space(sink->database);
}

static int mark_failed(struct sqlite_sink *sink, int code, struct gput_error *error)
{
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns >= sink->retry_ns)
        sink->retry_ns = now_ns + RETRY_NS;
    if (sink->limit_bytes != NO_LIMIT && sqlite_file_is_at_limit(sink->database))
        return error_set_errno(error, EFBIG, "Cannot write %s", sink->base.path);
    return code;
}

/* With the lock held, SIGXFSZ blocked, and the database open. */
static int write_mark(struct sqlite_sink *sink, const struct block_name *name,
    const struct sub_tracking_mark *row, struct gput_error *error)
{
    int code = insert_mark(sink, name, row, error);
    if (code != GPUT_OK && make_space(sink))
        code = insert_mark(sink, name, row, error);
    if (code != GPUT_OK)
        return mark_failed(sink, code, error);
    if (sink->lost_written != sink->lost.calls)
        write_lost(sink, RESERVE_KEPT_BYTES);
    /* It was used, or there was too little space for it so far. */
    space_reserve_fill(&sink->reserve, RESERVE_BYTES);
    return GPUT_OK;
}

static int sqlite_keep(struct block_sink *base, struct block_sink_thread *thread,
    const struct block_name *name, const struct sub_tracking_mark *row, struct gput_error *error)
{
    (void)thread;
    struct sqlite_sink *sink = (struct sqlite_sink *)base;
    struct file_limit limit;
    pthread_mutex_lock(&sink->lock);
    file_limit_block_signal(&limit);
    int code = GPUT_OK;
    if (!sink->database) {
        base->shared = false; /* a child must not inherit the connection */
        code = open_database(sink, error);
    }
    if (code == GPUT_OK) {
        set_limit(sink, limit_of_marks(&limit));
        code = write_mark(sink, name, row, error);
    }
    file_limit_unblock_signal(&limit);
    pthread_mutex_unlock(&sink->lock);
    return code;
}

static int sqlite_mark(struct block_sink *base, struct block_sink_thread *thread,
    const struct block_name *name, enum sub_tracking_position position, struct gput_error *error)
{
    if (block_sink_needs_thread_ids(base, thread))
        block_sink_decide_thread_ids(base, &((struct sqlite_sink *)base)->lock, add_thread_ids);
    block_sink_fill_row(base, thread, position, &thread->row);
    return sqlite_keep(base, thread, name, &thread->row, error);
}

static int sqlite_finish(struct block_sink *base, struct gput_error *error)
{
    struct sqlite_sink *sink = (struct sqlite_sink *)base;
    if (sink->lost_written != sink->lost.calls)
        write_last_lost(sink);
    space_reserve_close(&sink->reserve);
    sqlite3_finalize(sink->insert);
    pthread_mutex_destroy(&sink->lock);
    if (!sink->database)
        return GPUT_OK;
    return sqlite_file_finish(sink->database, base->path, error);
}

/* SQLite forbids a child to use, or even to close, a connection of its parent: no forget(). */
const struct block_sink_methods block_sink_sqlite = {
    .bytes = sizeof(struct sqlite_sink),
    .remove = sqlite_file_remove,
    .begin = sqlite_begin,
    .join = sqlite_join,
    .share = sqlite_share,
    .mark = sqlite_mark,
    .keep = sqlite_keep,
    .lose_call = sqlite_lose_call,
    .finish = sqlite_finish,
};
