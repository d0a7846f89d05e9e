#include "blocks/block_sink.h"
#include "store/sqlite_file.h"
#include "store/sub_tracking_sqlite.h"

#include <pthread.h>
#include <unistd.h>

/* Each mark is a transaction of its own, in the write-ahead log: what was committed is in a file
 * and stays when the program is killed. */
struct sqlite_sink {
    struct block_sink base;
    sqlite3 *database;
    sqlite3_stmt *insert;
    pthread_mutex_t lock; /* of the two above */
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
    pthread_mutex_init(&sink->lock, NULL);
    return GPUT_OK;
}

static int sqlite_mark(struct block_sink *base, struct block_sink_thread *thread,
    const struct block_name *name, enum sub_tracking_position position, struct gput_error *error)
{
    struct sqlite_sink *sink = (struct sqlite_sink *)base;
    struct sub_tracking_row row;
    block_sink_fill_row(base, thread, position, &row);
    pthread_mutex_lock(&sink->lock);
    int code = sub_tracking_sqlite_insert(
        sink->insert, base->path, base->columns, &row, name->text, name->length, error);
    pthread_mutex_unlock(&sink->lock);
    return code;
}

static int sqlite_finish(struct block_sink *base, struct gput_error *error)
{
    struct sqlite_sink *sink = (struct sqlite_sink *)base;
    sqlite3_finalize(sink->insert);
    pthread_mutex_destroy(&sink->lock);
    return sqlite_file_finish(sink->database, base->path, error);
}

/* SQLite forbids a child to touch, or even to close, a connection of its parent: no forget(). */
const struct block_sink_methods block_sink_sqlite = {
    .bytes = sizeof(struct sqlite_sink),
    .begin = sqlite_begin,
    .mark = sqlite_mark,
    .finish = sqlite_finish,
};
