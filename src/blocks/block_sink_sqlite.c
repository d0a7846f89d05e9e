#include "base/file_limit.h"
#include "blocks/block_sink.h"
#include "formats/marks/sub_tracking_sqlite.h"
#include "formats/sqlite_file.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* Each mark is a transaction in the write-ahead log: committed marks survive when the program is
 * killed. */
struct sqlite_sink {
    struct block_sink base;
    sqlite3 *database; /* NULL: closed before a fork; the next mark opens it */
    sqlite3_stmt *insert;
    unsigned columns;     /* that `insert` fills */
    pthread_mutex_t lock; /* of the members above */
};

static int sqlite_begin(struct block_sink *base, int fd, struct gput_error *error)
{
    struct sqlite_sink *sink = (struct sqlite_sink *)base;
    close(fd);
    TRY(sqlite_file_create(base->path, &sink->database, error));
    int code = sub_tracking_sqlite_prepare(
        sink->database, base->path, base->columns, &sink->insert, error);
    if (code != GPUT_OK) {
        sqlite_file_finish(sink->database, base->path, NULL);
        return code;
    }
    sink->columns = base->columns;
    pthread_mutex_init(&sink->lock, NULL);
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
    TRY(open_database(sink, error));
    pthread_mutex_init(&sink->lock, NULL);
    return GPUT_OK;
}

/* With the lock held. On failure the table is unchanged. */
static void add_thread_ids(struct sqlite_sink *sink)
{
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

static void settle_thread_ids(struct sqlite_sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    if (!atomic_load(&sink->base.thread_ids_decided))
        add_thread_ids(sink);
    atomic_store_explicit(&sink->base.thread_ids_decided, true, memory_order_release);
    pthread_mutex_unlock(&sink->lock);
}

/* SQLite keeps the state of its file locks in memory, which is wrong in a forked child. So no
 * connection may be open at a fork. */
static void sqlite_share(struct block_sink *base)
{
    struct sqlite_sink *sink = (struct sqlite_sink *)base;
    if (!atomic_load(&base->thread_ids_decided))
        settle_thread_ids(sink);
    if (!(sink->columns & SUB_TRACKING_COLUMN_THREAD_ID))
        return;
    close_database(sink);
    base->shared = true;
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
    if (code == GPUT_OK)
        code = sub_tracking_sqlite_insert(
            sink->insert, base->path, sink->columns, row, name->text, name->length, error);
    file_limit_unblock_signal(&limit);
    pthread_mutex_unlock(&sink->lock);
    return code;
}

static int sqlite_mark(struct block_sink *base, struct block_sink_thread *thread,
    const struct block_name *name, enum sub_tracking_position position, struct gput_error *error)
{
    if (block_sink_needs_thread_ids(base, thread))
        settle_thread_ids((struct sqlite_sink *)base);
    block_sink_fill_row(base, thread, position, &thread->row);
    return sqlite_keep(base, thread, name, &thread->row, error);
}

static int sqlite_finish(struct block_sink *base, struct gput_error *error)
{
    struct sqlite_sink *sink = (struct sqlite_sink *)base;
    sqlite3_finalize(sink->insert);
    pthread_mutex_destroy(&sink->lock);
    if (!sink->database)
        return GPUT_OK;
    return sqlite_file_finish(sink->database, base->path, error);
}

/* SQLite forbids a child to use, or even to close, a connection of its parent: no forget(). */
const struct block_sink_methods block_sink_sqlite = {
    .bytes = sizeof(struct sqlite_sink),
    .begin = sqlite_begin,
    .join = sqlite_join,
    .share = sqlite_share,
    .mark = sqlite_mark,
    .keep = sqlite_keep,
    .finish = sqlite_finish,
};
