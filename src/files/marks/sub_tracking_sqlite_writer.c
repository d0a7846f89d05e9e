#include "files/marks/sub_tracking_writer.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/file_target.h"
#include "base/number.h"
#include "base/space_reserve.h"
#include "files/marks/sub_tracking_columns.h"
#include "files/sqlite_file.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Maximum time that a mark waits while another program has locked the database. */
#define BUSY_TIMEOUT_MS 10000

/* Space for copying the write-ahead log on a full disk, then for saying that calls were lost, as
 * soon as the first one was; the rest is for their number at the end. */
#define RESERVE_BYTES (48 * 1024)
#define RESERVE_FOR_LOSSES_BYTES (32 * 1024)
#define RESERVE_KEPT_BYTES (16 * 1024)

/* Bytes that marks leave below a limit of file sizes, for the same purpose. */
#define KEPT_OF_LIMIT_BYTES (16 * 1024)
#define NO_LIMIT UINT64_MAX

/* If copying the log made no space, it is tried again after this time. */
#define RETRY_NS (NS_PER_SECOND / 20)

/* Each mark of a live file is a transaction in the write-ahead log: committed marks survive when
 * the program is killed. */
struct sqlite_writer {
    struct sub_tracking_writer base;
    sqlite3 *database; /* NULL: closed before a fork; the next mark opens it */
    sqlite3_stmt *insert;
    unsigned columns; /* columns that `insert` fills */

    /* Members for a live file: */
    struct sub_tracking_lost lost;
    uint64_t lost_written; /* calls that the file says are lost */
    int64_t lost_rows[2];  /* ids of the rows with these counts; 0: there are none */
    struct space_reserve reserve;
    int64_t retry_ns;     /* time before which no space can be made */
    uint64_t limit_bytes; /* maximum size of the database for marks; or NO_LIMIT */
};

/* ---- SQL ---- */

/* Creates the table `data` where there is none, and prepares the statement that adds a row to it.
 */
static int prepare_insert(sqlite3 *database, const char *path, unsigned columns,
    sqlite3_stmt **insert, struct gput_error *error)
{
    enum sub_tracking_column list[SUB_TRACKING_COLUMN_COUNT];
    unsigned count = sub_tracking_columns_of(columns, list);
    struct str create = {0};
    struct str add = {0};
    str_append(&create, "CREATE TABLE IF NOT EXISTS data (");
    str_append(&add, "INSERT INTO data (");
    for (unsigned i = 0; i < count; i++) {
        const char *comma = i + 1 < count ? ", " : ")";
        const char *name = sub_tracking_column_name(list[i]);
        const char *type = list[i] == SUB_TRACKING_NAME        ? "TEXT"
                           : list[i] == SUB_TRACKING_TIMESTAMP ? "REAL"
                                                               : "INTEGER";
        str_printf(&create, "%s %s%s", name, type, comma);
        str_printf(&add, "%s%s", name, comma);
    }
    str_append(&add, " VALUES (?");
    for (unsigned i = 1; i < count; i++)
        str_append(&add, ", ?");
    str_append_char(&add, ')');
    int code = create.failed || add.failed ? error_memory(error)
                                           : sqlite_file_run(database, create.data, path, error);
    if (code == GPUT_OK)
        code = sqlite_file_prepare(database, add.data, path, insert, error);
    str_finish(&create);
    str_finish(&add);
    return code;
}

/* Adds a row by that statement. */
static int insert_row(sqlite3_stmt *insert, const char *path, unsigned columns,
    const struct sub_tracking_mark *row, const char *name, size_t name_length,
    struct gput_error *error)
{
    sqlite3_bind_int64(insert, 1, row->process_id);
    sqlite3_bind_text(insert, 2, name, (int)name_length, SQLITE_STATIC);
    sqlite3_bind_int(insert, 3, row->position);
    sqlite3_bind_double(insert, 4, row->timestamp);
    if (columns) {
        enum sub_tracking_column list[SUB_TRACKING_COLUMN_COUNT];
        unsigned count = sub_tracking_columns_of(columns, list);
        for (unsigned i = SUB_TRACKING_REQUIRED_COLUMNS; i < count; i++) {
            int64_t figure = *sub_tracking_column_figure((struct sub_tracking_mark *)row, list[i]);
            if (figure == SUB_TRACKING_UNKNOWN)
                sqlite3_bind_null(insert, (int)i + 1);
            else
                sqlite3_bind_int64(insert, (int)i + 1, figure);
        }
    }
    bool done = sqlite3_step(insert) == SQLITE_DONE;
    int code = done ? GPUT_OK : sqlite_file_error(sqlite3_db_handle(insert), "write", path, error);
    sqlite3_reset(insert);
    return code;
}

/* ---- Opening ---- */

/* Begins the empty database. A whole file is not used before it is renamed: it needs no journal and
 * no sync. */
static int begin_database(struct sqlite_writer *writer, struct gput_error *error)
{
    struct sub_tracking_writer *base = &writer->base;
    if (base->is_live)
        return sqlite_file_create(base->path, false, &writer->database, error);
    TRY(sqlite_file_open_alone(base->part.path, &writer->database, error));
    return sqlite_file_run(writer->database,
        "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", base->path, error);
}

/* Starts a new file: SQLite opens it by its path. */
static int sqlite_begin(struct sub_tracking_writer *base, int fd, struct gput_error *error)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)base;
    close(fd);
    writer->reserve.fd = -1;
    writer->limit_bytes = NO_LIMIT;
    writer->columns = base->columns;
    int code = begin_database(writer, error);
    if (code == GPUT_OK)
        code = prepare_insert(writer->database, base->path, base->columns, &writer->insert, error);
    if (code != GPUT_OK && writer->database && base->is_live)
        sqlite_file_finish(writer->database, base->path, NULL);
    else if (code != GPUT_OK)
        sqlite3_close(writer->database);
    else if (base->is_live)
        space_reserve_open(&writer->reserve, base->path, RESERVE_BYTES);
    return code;
}

static void close_database(struct sqlite_writer *writer)
{
    sqlite3_finalize(writer->insert);
    sqlite_file_close(writer->database);
    writer->insert = NULL;
    writer->database = NULL;
}

/* Opens the existing file, to append to it. */
static int open_database(struct sqlite_writer *writer, struct gput_error *error)
{
    const char *path = writer->base.target;
    TRY(sqlite_file_open(path, &writer->database, error));
    sqlite_file_use_log(writer->database);
    writer->limit_bytes = NO_LIMIT;
    int code = prepare_insert(writer->database, path, writer->columns, &writer->insert, error);
    if (code != GPUT_OK)
        close_database(writer);
    return code;
}

/* Reopens the database where another program truncated the index of its log. */
static int check_index(struct sqlite_writer *writer, struct gput_error *error)
{
    if (!sqlite_file_has_lost_index(writer->database))
        return GPUT_OK;
    close_database(writer);
    return open_database(writer, error);
}

static int sqlite_join(struct sub_tracking_writer *base, struct gput_error *error)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)base;
    writer->columns = base->columns | SUB_TRACKING_COLUMNS_DISTINGUISH_CALLS;
    writer->reserve.fd = -1;
    return open_database(writer, error);
}

/* Adds thread ids. On failure the table is unchanged. */
static void sqlite_add_thread_ids(struct sub_tracking_writer *base)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)base;
    char sql[200];
    unsigned columns = writer->columns | SUB_TRACKING_COLUMNS_DISTINGUISH_CALLS;
    sqlite3_stmt *insert = NULL;
    if (check_index(writer, NULL) != GPUT_OK)
        return;
    snprintf(sql, sizeof sql,
        "BEGIN; ALTER TABLE data ADD COLUMN thread_id INTEGER; "
        "ALTER TABLE data ADD COLUMN started_ns INTEGER; UPDATE data SET thread_id = %" PRId64,
        atomic_load(&writer->base.only_thread));
    if (sqlite_file_run(writer->database, sql, writer->base.path, NULL) == GPUT_OK &&
        prepare_insert(writer->database, writer->base.path, columns, &insert, NULL) == GPUT_OK &&
        sqlite_file_run(writer->database, "COMMIT", writer->base.path, NULL) == GPUT_OK) {
        sqlite3_finalize(writer->insert);
        writer->insert = insert;
        writer->columns = columns;
        return;
    }
    sqlite3_finalize(insert);
    if (!sqlite3_get_autocommit(writer->database))
        sqlite_file_run(writer->database, "ROLLBACK", writer->base.path, NULL);
}

/* Closes the database: SQLite keeps the state of its file locks in memory, which is wrong in a
 * forked child. So no connection may be open at a fork. */
static void sqlite_share(struct sub_tracking_writer *base)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)base;
    sub_tracking_writer_decide_thread_ids(base);
    if (!(writer->columns & SUB_TRACKING_COLUMN_THREAD_ID))
        return;
    close_database(writer);
    base->shared = true;
}

/* ---- Lost calls ---- */

/* Writes the two rows that say how many calls were lost, or changes those that are there. */
static int put_lost(struct sqlite_writer *writer)
{
    const char *path = writer->base.path;
    struct sub_tracking_mark rows[2];
    char name[SUB_TRACKING_LOST_NAME_SIZE];
    size_t length = sub_tracking_lost_rows(&writer->lost, rows, name);
    if (writer->lost_rows[1] != 0) {
        char timestamp[NUMBER_TEXT_SIZE], sql[300];
        number_format_double(rows[1].timestamp, timestamp);
        snprintf(sql, sizeof sql,
            "UPDATE data SET code_block_name = '%s' WHERE rowid IN (%" PRId64 ", %" PRId64 "); "
            "UPDATE data SET timestamp = %s WHERE rowid = %" PRId64,
            name, writer->lost_rows[0], writer->lost_rows[1], timestamp, writer->lost_rows[1]);
        return sqlite_file_run(writer->database, sql, path, NULL);
    }
    for (int i = 0; i < 2; i++) {
        TRY(insert_row(writer->insert, path, writer->columns, &rows[i], name, length, NULL));
        writer->lost_rows[i] = sqlite3_last_insert_rowid(writer->database);
    }
    return GPUT_OK;
}

/* Sets how large the database may become: less than the limit of file sizes for marks. */
static void set_limit(struct sqlite_writer *writer, uint64_t bytes)
{
    if (bytes != writer->limit_bytes)
        sqlite_file_set_limit(writer->database, bytes);
    writer->limit_bytes = bytes;
}

/* Writes to the file how many calls were lost, in two rows. The lock is held, SIGXFSZ is
 * blocked, and the database is open. */
static void write_lost(struct sqlite_writer *writer, size_t kept_reserve)
{
    bool is_there = writer->lost_rows[1] != 0;
    space_reserve_release(&writer->reserve, kept_reserve);
    if (!is_there)
        set_limit(writer, NO_LIMIT);
    if (sqlite_file_run(writer->database, "BEGIN", writer->base.path, NULL) != GPUT_OK)
        return;
    int code = put_lost(writer);
    if (code == GPUT_OK)
        code = sqlite_file_run(writer->database, "COMMIT", writer->base.path, NULL);
    if (code == GPUT_OK)
        writer->lost_written = writer->lost.calls;
    else if (!is_there)
        writer->lost_rows[0] = writer->lost_rows[1] = 0;
    if (!sqlite3_get_autocommit(writer->database))
        sqlite_file_run(writer->database, "ROLLBACK", writer->base.path, NULL);
}

/* Counts lost calls, and says so in the file if it is open and there is space. */
static void sqlite_add_lost(struct sub_tracking_writer *base, const struct sub_tracking_lost *lost)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)base;
    struct file_limit limit;
    pthread_mutex_lock(&base->lock);
    file_limit_block_signal(&limit);
    sub_tracking_lost_add(&writer->lost, lost);
    if (writer->database)
        write_lost(writer, RESERVE_KEPT_BYTES);
    file_limit_unblock_signal(&limit);
    pthread_mutex_unlock(&base->lock);
}

/* Says at the end how many calls were lost. What is in the write-ahead log needs no space there any
 * more once it is copied. */
static void write_last_lost(struct sqlite_writer *writer)
{
    if (!writer->database && open_database(writer, NULL) != GPUT_OK)
        return;
    space_reserve_release(&writer->reserve, 0);
    sqlite3_wal_checkpoint_v2(writer->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    write_lost(writer, 0);
}

/* ---- Marks ---- */

static int insert_mark(struct sqlite_writer *writer, const struct block_name *name,
    const struct sub_tracking_mark *row, struct gput_error *error)
{
    return insert_row(
        writer->insert, writer->base.path, writer->columns, row, name->text, name->length, error);
}

/* Makes space after a mark could not be written. False: there is none. */
static bool make_space(struct sqlite_writer *writer)
{
    if (!sqlite_file_is_full(writer->database) || clock_monotonic_ns() < writer->retry_ns)
        return false;
    space_reserve_release(&writer->reserve, RESERVE_FOR_LOSSES_BYTES);
    return sqlite_file_make_space(writer->database);
}

/* Writes a mark, with the lock held, SIGXFSZ blocked, and the database open. */
static int write_mark(struct sqlite_writer *writer, const struct block_name *name,
    const struct sub_tracking_mark *row, struct gput_error *error)
{
    int code = insert_mark(writer, name, row, error);
    if (code != GPUT_OK && make_space(writer))
        code = insert_mark(writer, name, row, error);
    else if (code != GPUT_OK && sqlite_file_has_lost_index(writer->database)) {
        TRY(check_index(writer, error));
        code = insert_mark(writer, name, row, error);
    }
    if (code != GPUT_OK) {
        /* Note when to retry. The limit of file sizes has an error of its own. */
        int64_t now_ns = clock_monotonic_ns();
        if (now_ns >= writer->retry_ns)
            writer->retry_ns = now_ns + RETRY_NS;
        if (writer->limit_bytes != NO_LIMIT && sqlite_file_is_at_limit(writer->database))
            return error_set_errno(error, EFBIG, "Cannot write %s", writer->base.path);
        return code;
    }
    if (writer->lost_written != writer->lost.calls)
        write_lost(writer, RESERVE_KEPT_BYTES);
    /* The reserve was used, or there was too little space for it before. */
    space_reserve_fill(&writer->reserve, RESERVE_BYTES);
    return GPUT_OK;
}

/* Adds a row: to the one transaction of a whole file, or as a transaction of a live one. */
static int sqlite_add(struct sub_tracking_writer *base, struct block_log_cursor *cursor,
    const struct block_name *name, const struct sub_tracking_mark *row, struct gput_error *error)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)base;
    struct file_limit limit;
    (void)cursor;
    if (!base->is_live)
        return insert_mark(writer, name, row, error);
    pthread_mutex_lock(&base->lock);
    file_limit_block_signal(&limit);
    int code = GPUT_OK;
    if (!writer->database) {
        base->shared = false; /* a child must not inherit the connection */
        code = open_database(writer, error);
    }
    if (code == GPUT_OK) {
        uint64_t kept = limit.bytes < KEPT_OF_LIMIT_BYTES ? limit.bytes : KEPT_OF_LIMIT_BYTES;
        set_limit(writer, limit.held ? limit.bytes - kept : NO_LIMIT);
        code = write_mark(writer, name, row, error);
    }
    file_limit_unblock_signal(&limit);
    pthread_mutex_unlock(&base->lock);
    return code;
}

/* Says last how many calls were lost, and closes the file. */
static int sqlite_finish(struct sub_tracking_writer *base, struct gput_error *error)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)base;
    if (writer->lost_written != writer->lost.calls)
        write_last_lost(writer);
    space_reserve_close(&writer->reserve);
    sqlite3_finalize(writer->insert);
    if (base->is_live)
        return writer->database ? sqlite_file_finish(writer->database, base->path, error) : GPUT_OK;
    int code = sqlite_file_run(writer->database, "COMMIT", base->path, error);
    sqlite3_close(writer->database);
    return code;
}

/* ---- A single mark ---- */

/* Appends one mark to an existing file. */
static int sqlite_append(const char *path, const char *name, const struct sub_tracking_mark *row,
    struct gput_error *error)
{
    CLEANUP_FREE char *target = NULL; /* SQLite would follow any link */
    sqlite3 *database = NULL;
    sqlite3_stmt *insert = NULL;
    TRY(file_target(path, &target, error));
    TRY(sqlite_file_open_shared(target, &database, error));
    sqlite3_busy_timeout(database, BUSY_TIMEOUT_MS);
    int code = prepare_insert(database, path, 0, &insert, error);
    if (code == GPUT_OK)
        code = insert_row(insert, path, 0, row, name, strlen(name), error);
    sqlite3_finalize(insert);
    sqlite3_close(database);
    return code;
}

/* SQLite forbids a child to use, or even to close, a connection of its parent: no forget(). */
const struct sub_tracking_writer_methods sub_tracking_sqlite_writer = {
    .format = SUB_TRACKING_SQLITE,
    .bytes = sizeof(struct sqlite_writer),
    .remove = sqlite_file_remove,
    .begin = sqlite_begin,
    .join = sqlite_join,
    .share = sqlite_share,
    .add_thread_ids = sqlite_add_thread_ids,
    .add = sqlite_add,
    .add_lost = sqlite_add_lost,
    .finish = sqlite_finish,
    .append = sqlite_append,
};
