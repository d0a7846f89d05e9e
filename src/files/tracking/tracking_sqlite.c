/*
 * Tracking files as SQLite databases: tables `static_data` and `data`, and further tables.
 *
 * Rows are committed in batches: a transaction costs several times as much as its rows. The first
 * row of a batch waits a second at most, and not at all when the next row is expected later.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_target.h"
#include "base/number.h"
#include "base/part_file.h"
#include "files/sqlite_file.h"
#include "files/sqlite_library.h"
#include "files/sqlite_tables.h"
#include "files/tracking/tracking_format.h"
#include "files/tracking/tracking_sqlite_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A prepared insert of rows into a table of a SQLite tracking file.
 */

/* The caller sets all but the statement. */
struct sqlite_insert {
    sqlite3 *database; /* not owned */
    const char *path;  /* for messages; not owned */
    const char *name;  /* of the table; not owned, used until it is prepared */
    size_t columns;
    sqlite3_stmt *statement; /* sqlite_insert_finish() frees it */
};

/* Prepares the insert into a table that exists. */
static int sqlite_insert_prepare(struct sqlite_insert *insert, struct gput_error *error)
{
    CLEANUP_STR struct str text = {0}, last = {0};
    str_append(&text, "INSERT OR REPLACE INTO ");
    sqlite_file_append_name(&text, insert->name);
    for (size_t i = 0; i < insert->columns; i++)
        str_append(&text, i ? ", ?" : " VALUES (?");
    str_append_char(&text, ')');
    if (text.failed)
        return error_memory(error);
    TRY(sqlite_file_prepare(insert->database, text.data, insert->path, &insert->statement, error));

    /* SQLite then keeps the pages in memory to which rows are appended: a transaction reads none,
     * and is right also when the index of the log is lost meanwhile. */
    str_append(&last, "SELECT max(rowid) FROM ");
    sqlite_file_append_name(&last, insert->name);
    if (!last.failed)
        sqlite3_exec(insert->database, last.data, NULL, NULL, NULL);
    return GPUT_OK;
}

/* The same, after the table was created with these columns. */
static int sqlite_insert_create_table(
    struct sqlite_insert *insert, const struct tracking_column *columns, struct gput_error *error)
{
    static const char *const types[] = {[TRACKING_INTEGER] = "INTEGER",
        [TRACKING_REAL] = "REAL",
        [TRACKING_TEXT] = "TEXT",
        [TRACKING_KEY] = "TEXT PRIMARY KEY"};
    CLEANUP_STR struct str create = {0};
    str_append(&create, "CREATE TABLE ");
    sqlite_file_append_name(&create, insert->name);
    for (size_t i = 0; i < insert->columns; i++) {
        str_append(&create, i ? ", " : " (");
        sqlite_file_append_name(&create, columns[i].name);
        str_printf(&create, " %s", types[columns[i].kind]);
    }
    str_append_char(&create, ')');
    if (create.failed)
        return error_memory(error);
    TRY(sqlite_file_run(insert->database, create.data, insert->path, error));
    return sqlite_insert_prepare(insert, error);
}

/* Binds one value a column. Texts must live until the row is inserted. */
static void sqlite_insert_bind(
    const struct sqlite_insert *insert, const struct tracking_value *values)
{
    for (size_t i = 0; i < insert->columns; i++) {
        int place = (int)i + 1;
        switch (values[i].kind) {
        case TRACKING_NULL:
            sqlite3_bind_null(insert->statement, place);
            break;
        case TRACKING_INTEGER:
            sqlite3_bind_int64(insert->statement, place, values[i].integer);
            break;
        case TRACKING_REAL: /* NaN becomes NULL */
            sqlite3_bind_double(insert->statement, place, values[i].real);
            break;
        case TRACKING_TEXT:
        case TRACKING_KEY:
            sqlite3_bind_text(insert->statement, place, values[i].text, -1, SQLITE_STATIC);
            break;
        }
    }
}

/* Inserts the row whose values are bound; false: SQLite has the error. */
static bool sqlite_insert_run(const struct sqlite_insert *insert)
{
    bool done = sqlite3_step(insert->statement) == SQLITE_DONE;
    sqlite3_reset(insert->statement);
    return done;
}

/* Frees the statement; several calls do no harm. */
static void sqlite_insert_finish(struct sqlite_insert *insert)
{
    sqlite3_finalize(insert->statement);
    insert->statement = NULL;
}

#define BATCH_NS NS_PER_SECOND

/* ---- Writing ---- */

struct sqlite_writer {
    struct tracking_file base;
    char *target; /* to which the path resolves; SQLite would follow any link */
    sqlite3 *database;
    struct part_file part; /* the first file at the target, which is locked */
    struct sqlite_insert data;
    struct sqlite_insert tables[TRACKING_FILE_MAX_TABLES];
    unsigned table_count;
    uint64_t waiting;       /* rows in the open transaction */
    int64_t batch_start_ns; /* when the first of them came */
    int64_t last_row_ns;    /* of `data`; INT64_MIN before the first */
};

static int writer_error(struct sqlite_writer *writer, struct gput_error *error)
{
    return sqlite_file_error(writer->database, "write", writer->base.path, error);
}

static struct sqlite_insert insert_into(
    const struct sqlite_writer *writer, const char *name, size_t columns)
{
    return (struct sqlite_insert){
        .database = writer->database, .path = writer->base.path, .name = name, .columns = columns};
}

/* Inserts the one row of static_data. */
static int insert_static_data(
    struct sqlite_writer *writer, const struct sqlite_insert *insert, struct gput_error *error)
{
    struct tracking_value values[TRACKING_STATIC_COLUMNS];
    for (size_t i = 0; i < TRACKING_STATIC_COLUMNS; i++)
        values[i] = tracking_static_value(&writer->base.static_data, i);
    sqlite_insert_bind(insert, values);
    return sqlite_insert_run(insert) ? GPUT_OK : writer_error(writer, error);
}

/* Creates the tables, with the static data, in a file at a temporary path: a tracker that is killed
 * meanwhile leaves no file without them. */
static int make_tables(struct sqlite_writer *writer, struct gput_error *error)
{
    const char *path = writer->base.path;
    CLEANUP(sqlite_insert_finish)
    struct sqlite_insert insert = insert_into(writer, "static_data", TRACKING_STATIC_COLUMNS);
    struct tracking_column columns[TRACKING_COLUMNS];
    for (size_t i = 0; i < TRACKING_COLUMNS; i++)
        columns[i] = tracking_column_of(tracking_columns[i]);
    TRY(sqlite_file_run(writer->database, "PRAGMA journal_mode=OFF; BEGIN", path, error));
    TRY(sqlite_insert_create_table(&insert, tracking_static_columns, error));
    TRY(insert_static_data(writer, &insert, error));
    writer->data = insert_into(writer, "data", TRACKING_COLUMNS);
    TRY(sqlite_insert_create_table(&writer->data, columns, error));
    return sqlite_file_run(writer->database, "COMMIT", path, error);
}

/* Opens the file that has the tables, for rows. */
static int open_for_rows(struct sqlite_writer *writer, struct gput_error *error)
{
    TRY(sqlite_file_create(writer->target, true, &writer->database, error));
    writer->data = insert_into(writer, "data", TRACKING_COLUMNS);
    return sqlite_insert_prepare(&writer->data, error);
}

/* Frees the statements, which SQLite wants before the database is closed. */
static void finalize_statements(struct sqlite_writer *writer)
{
    sqlite_insert_finish(&writer->data);
    for (unsigned i = 0; i < writer->table_count; i++)
        sqlite_insert_finish(&writer->tables[i]);
}

static void close_database(struct sqlite_writer *writer)
{
    finalize_statements(writer);
    sqlite_file_close(writer->database);
    writer->database = NULL;
}

/* Goes on in a file that is there: the same one, or its copy. */
static int open_again(struct sqlite_writer *writer, struct gput_error *error)
{
    const char *path = writer->base.path;
    if (access(writer->target, F_OK) != 0)
        return error_set_errno(error, errno, "Cannot write %s", path);
    int code = open_for_rows(writer, error);
    for (unsigned i = 0; code == GPUT_OK && i < writer->table_count; i++) {
        writer->tables[i].database = writer->database;
        writer->tables[i].path = path;
        code = sqlite_insert_prepare(&writer->tables[i], error);
    }
    if (code != GPUT_OK)
        close_database(writer);
    else
        sqlite3_busy_timeout(writer->database, 0); /* as at the start */
    return code;
}

/* Opens the database again where its log has lost its index. To be called before a transaction. */
static int check_index(struct sqlite_writer *writer, struct gput_error *error)
{
    if (sqlite_file_has_lost_index(writer->database))
        close_database(writer);
    return writer->database ? GPUT_OK : open_again(writer, error);
}

/* Replaces the static data, in a transaction of its own. */
static int put_static_data(struct tracking_file *file, bool are_same, struct gput_error *error)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)file;
    if (are_same)
        return GPUT_OK;
    TRY(check_index(writer, error));
    CLEANUP(sqlite_insert_finish)
    struct sqlite_insert insert = insert_into(writer, "static_data", TRACKING_STATIC_COLUMNS);
    TRY(sqlite_file_run(writer->database, "BEGIN; DELETE FROM static_data", file->path, error));
    int code = sqlite_insert_prepare(&insert, error);
    if (code == GPUT_OK)
        code = insert_static_data(writer, &insert, error);
    const char *end = code == GPUT_OK ? "COMMIT" : "ROLLBACK";
    int ended = sqlite_file_run(writer->database, end, file->path, code == GPUT_OK ? error : NULL);
    return code == GPUT_OK ? ended : code;
}

/* Renames the part file over the existing one, which no other tracker may be writing. */
static int replace_old(struct sqlite_writer *writer, struct gput_error *error)
{
    const char *path = writer->base.path;
    CLEANUP_FD int old = open(writer->target, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (old < 0 && errno != ENOENT)
        return error_set_errno(error, errno, "Cannot write %s", path);
    if (old >= 0)
        TRY(tracking_lock(old, path, error));
    TRY(sqlite_file_remove(writer->target, error));
    return part_file_keep(&writer->part, writer->target, path, error);
}

/* Makes the file with its tables and opens it for rows. Without `overwrite` any link is refused, as
 * O_EXCL does. */
static int start_file(struct sqlite_writer *writer, bool overwrite, struct gput_error *error)
{
    const char *path = writer->base.path;
    struct stat info;
    int fd;
    if (!overwrite && lstat(path, &info) == 0)
        return error_set_exists(error, path);
    TRY(file_target(path, &writer->target, error));
    if (file_is_written_directly(path))
        return error_set(error, GPUT_ERROR_INVALID,
            "Cannot write %s: it is not a regular file, as SQLite needs it. Name another one.",
            path);
    TRY(part_file_create(writer->target, path, &writer->part, &fd, error));
    close(fd);

    int code = sqlite_file_open_alone(writer->part.path, &writer->database, error);
    if (code == GPUT_OK)
        code = make_tables(writer, error);
    sqlite_insert_finish(&writer->data);
    if (sqlite3_close(writer->database) != SQLITE_OK && code == GPUT_OK)
        code = sqlite_file_error(writer->database, "create", path, error);
    writer->database = NULL;
    TRY(code);

    TRY(replace_old(writer, error));
    code = open_for_rows(writer, error);
    if (code != GPUT_OK) {
        close_database(writer);
        sqlite_file_remove(writer->target, NULL);
        return code;
    }
    /* from here on a tick must not wait for a reader; a locked file is retried later */
    sqlite3_busy_timeout(writer->database, 0);
    return GPUT_OK;
}

/* Creates the database with its tables. */
static int create_sqlite(const struct tracking_format *format, const char *path,
    const struct gput_static_data *static_data, bool overwrite, struct tracking_file **file,
    struct gput_error *error)
{
    CLEANUP_FREE struct sqlite_writer *writer = calloc(1, sizeof *writer);
    if (!writer || !tracking_file_init(&writer->base, format, path, static_data))
        return error_memory(error);
    writer->last_row_ns = INT64_MIN;
    writer->part.lock_fd = -1;
    int code = start_file(writer, overwrite, error);
    if (code != GPUT_OK) {
        part_file_close(&writer->part);
        free(writer->target);
        free(writer->base.path);
        return code;
    }
    *file = &STEAL(writer)->base;
    return GPUT_OK;
}

/* Ends a batch after a failure: its rows are lost. The next batch may have more space. */
static int roll_back_batch(struct sqlite_writer *writer, struct gput_error *error)
{
    int code = writer_error(writer, error);
    bool is_full = sqlite_file_is_full(writer->database);
    if (!sqlite3_get_autocommit(writer->database))
        sqlite3_exec(writer->database, "ROLLBACK", NULL, NULL, NULL);
    if (is_full)
        sqlite_file_make_space(writer->database);
    writer->base.rows_lost += writer->waiting;
    writer->waiting = 0;
    return code;
}

/* Commits the batch. While a reader has locked the file the batch stays open, unless this is the
 * last commit. */
static int commit(struct sqlite_writer *writer, bool last, struct gput_error *error)
{
    if (writer->waiting == 0)
        return GPUT_OK;
    int result = sqlite3_exec(writer->database, "COMMIT", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        writer->waiting = 0;
    else if (result != SQLITE_BUSY || last)
        return roll_back_batch(writer, error);
    return GPUT_OK;
}

/* Begins a batch where none is open, for a row whose values are bound afterwards. */
static int begin_batch(struct sqlite_writer *writer, int64_t now_ns, struct gput_error *error)
{
    if (writer->waiting > 0)
        return GPUT_OK;
    writer->batch_start_ns = now_ns;
    int code = check_index(writer, error);
    if (code == GPUT_OK && sqlite3_exec(writer->database, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        code = writer_error(writer, error);
    writer->base.rows_lost += code != GPUT_OK;
    return code;
}

/* Adds the row whose values are bound to the batch. */
static int add_to_batch(
    struct sqlite_writer *writer, const struct sqlite_insert *insert, struct gput_error *error)
{
    writer->waiting++;
    return sqlite_insert_run(insert) ? GPUT_OK : roll_back_batch(writer, error);
}

/* Adds a sample to the open batch, and commits it when it is due. */
static int write_sqlite_row(struct tracking_file *file, const struct gput_sample *sample,
    int64_t now_ns, struct gput_error *error)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)file;
    TRY(begin_batch(writer, now_ns, error));
    sqlite3_stmt *statement = writer->data.statement;
    for (int i = 0; i < TRACKING_COLUMNS; i++) {
        int place = tracking_columns[i];
        bool is_time = place == TRACKING_TIMESTAMP;
        double value = is_time ? tracking_timestamp(sample) : sample->values[place];
        if (tracking_column_of(place).kind == TRACKING_INTEGER && fabs(value) < 0x1p53)
            sqlite3_bind_int64(statement, i + 1, (int64_t)value);
        else
            sqlite3_bind_double(statement, i + 1, is_time ? value : value * file->factors[place]);
    }

    bool first = writer->last_row_ns == INT64_MIN;
    int64_t interval = first ? BATCH_NS : now_ns - writer->last_row_ns;
    writer->last_row_ns = now_ns;
    TRY(add_to_batch(writer, &writer->data, error));
    bool next_is_late = now_ns + interval - writer->batch_start_ns >= BATCH_NS;
    return next_is_late ? commit(writer, false, error) : GPUT_OK;
}

/* Copies a database that was removed to a new file, and goes on there. */
static int restore_sqlite(
    struct tracking_file *file, enum file_fate *fate, struct gput_error *error)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)file;
    CLEANUP_FREE char *name = NULL, *target = NULL;
    char *now = NULL;
    *fate = file_fate(writer->part.lock_fd, writer->target, &now);
    if (*fate == FILE_MOVED) {
        free(file->path);
        file->path = now;
    }
    if (*fate != FILE_REMOVED)
        return GPUT_OK;
    TRY(commit(writer, true, error));
    TRY(file_restore_name(file->path, &name, error));
    TRY(file_target(name, &target, error));
    TRY(sqlite_file_copy(writer->database, target, name, error));
    close_database(writer);
    free(file->path);
    free(writer->target);
    file->path = STEAL(name);
    writer->target = STEAL(target);
    return open_again(writer, error);
}

/* Commits the last batch and closes the database. */
static int finish_sqlite(struct tracking_file *file, struct gput_error *error)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)file;
    int code = GPUT_OK, finished = GPUT_OK;
    if (writer->database) {
        sqlite3_busy_timeout(writer->database, 2000);
        code = commit(writer, true, error);
        finalize_statements(writer);
        finished = sqlite_file_finish(writer->database, file->path, code ? NULL : error);
    }
    part_file_close(
        &writer->part); /* not earlier: closing a file releases SQLite's own locks of it */
    free(writer->target);
    return code ? code : finished;
}

/* Adds a further table. The open batch is committed first, so that the table is not lost with it.
 */
static int add_sqlite_table(struct tracking_file *file, const char *name,
    const struct tracking_column *columns, size_t count, unsigned *table, struct gput_error *error)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)file;
    if (writer->table_count == TRACKING_FILE_MAX_TABLES)
        return error_set(error, GPUT_ERROR_STATE, "%s has %d further tables, more are not possible",
            file->path, TRACKING_FILE_MAX_TABLES);
    TRY(commit(writer, false, error));
    if (writer->waiting == 0)
        TRY(check_index(writer, error));
    struct sqlite_insert made = insert_into(writer, name, count);
    TRY(sqlite_insert_create_table(&made, columns, error));
    *table = writer->table_count;
    writer->tables[writer->table_count++] = made;
    return GPUT_OK;
}

/* Adds a row of a further table to the open batch. */
static int write_sqlite_table_row(struct tracking_file *file, unsigned table,
    const struct tracking_value *values, int64_t now_ns, struct gput_error *error)
{
    struct sqlite_writer *writer = (struct sqlite_writer *)file;
    TRY(begin_batch(writer, now_ns, error));
    sqlite_insert_bind(&writer->tables[table], values);
    TRY(add_to_batch(writer, &writer->tables[table], error));
    return now_ns - writer->batch_start_ns >= BATCH_NS ? commit(writer, false, error) : GPUT_OK;
}

/* ---- Reading ---- */

struct sqlite_tracking_reader {
    struct tracking_reader base;
    sqlite3 *database;
    sqlite3_stmt *rows;
    struct sqlite_columns columns;
    struct sqlite_ranges *ranges; /* whose rows come first; NULL: there are none, or no more */
    bool at_end;
    bool is_blank; /* the last row that was read */
    double last;   /* timestamp that was kept */
    uint64_t total;
};

static void finalize(sqlite3_stmt **statement)
{
    sqlite3_finalize(*statement);
}

static int reader_error(struct sqlite_tracking_reader *reader, struct gput_error *error)
{
    return sqlite_file_error(reader->database, "read", reader->base.path, error);
}

/* Gives a value as text, real numbers as a CSV file has them; returns its length. */
static size_t value_text(sqlite3_stmt *statement, int column, char *number, const char **text)
{
    *text = number;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_FLOAT:
        return number_format_double(sqlite3_column_double(statement, column), number);
    case SQLITE_NULL:
        return 0;
    default:
        *text = (const char *)sqlite3_column_text(statement, column);
        return *text ? (size_t)sqlite3_column_bytes(statement, column) : 0;
    }
}

/* Reads the one row of the table static_data. */
static int read_sqlite_static_data(struct sqlite_tracking_reader *reader, struct gput_error *error)
{
    CLEANUP(finalize) sqlite3_stmt *statement = NULL;
    const char *sql = "SELECT * FROM static_data LIMIT 1";
    TRY(sqlite_file_prepare(reader->database, sql, reader->base.path, &statement, error));
    int result = sqlite3_step(statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        return reader_error(reader, error);
    if (result == SQLITE_DONE)
        return tracking_reader_invalid(&reader->base, error, "its table static_data is empty.");
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        char number[NUMBER_TEXT_SIZE];
        const char *name = sqlite3_column_name(statement, i);
        const char *text;
        size_t length = value_text(statement, i, number, &text);
        if (!name || !text)
            return error_memory(error);
        TRY(tracking_reader_add_cell(&reader->base, name, strlen(name), text, length, error));
    }
    return tracking_reader_parse_static_data(&reader->base, error);
}

/* Finds the columns of the table data by their names. */
static int read_sqlite_header(struct sqlite_tracking_reader *reader, struct gput_error *error)
{
    const char *path = reader->base.path;
    TRY(sqlite_file_prepare(reader->database, "SELECT * FROM data", path, &reader->rows, error));
    reader->columns.count = (size_t)sqlite3_column_count(reader->rows);
    reader->columns.all = calloc(reader->columns.count, sizeof *reader->columns.all);
    if (!reader->columns.all)
        return error_memory(error);
    for (size_t i = 0; i < reader->columns.count; i++) {
        const char *name = sqlite3_column_name(reader->rows, (int)i);
        if (!name)
            return error_memory(error);
        int column = tracking_column_find(name, strlen(name));
        reader->columns.all[i] = column;
        if (column >= 0)
            reader->base.has[column] = true;
    }
    return tracking_reader_check_columns(&reader->base, error);
}

/* Returns how many rows there are, for progress only: the last row's number is known at once. */
static uint64_t estimate_rows(sqlite3 *database)
{
    CLEANUP(finalize) sqlite3_stmt *statement = NULL;
    const char *sql = "SELECT max(rowid) FROM data";
    bool is_known = sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK &&
                    sqlite3_step(statement) == SQLITE_ROW;
    int64_t rows = is_known ? sqlite3_column_int64(statement, 0) : 0;
    return rows > 0 ? (uint64_t)rows : 0;
}

/* Opens a database and finds its columns. */
static int open_sqlite(
    const char *path, bool salvage, struct tracking_reader **reader, struct gput_error *error)
{
    struct sqlite_tracking_reader *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    *reader = &made->base;
    if (!tracking_reader_init(&made->base, &tracking_sqlite, path, salvage))
        return error_memory(error);
    TRY((salvage ? sqlite_file_salvage : sqlite_file_open)(path, &made->database, error));
    static const char *const tables[] = {"static_data", "data"};
    for (size_t i = 0; i < 2; i++) {
        bool found;
        TRY(sqlite_file_find_table(made->database, tables[i], &found, error));
        if (!found)
            return tracking_reader_invalid(&made->base, error, "it has no table %s.", tables[i]);
    }
    TRY(read_sqlite_static_data(made, error));
    made->total = estimate_rows(made->database);
    return read_sqlite_header(made, error);
}

/* Closes the database and frees the reader's parts. */
static void close_sqlite(struct tracking_reader *reader)
{
    struct sqlite_tracking_reader *sqlite = (struct sqlite_tracking_reader *)reader;
    sqlite_ranges_destroy(sqlite->ranges);
    sqlite3_finalize(sqlite->rows);
    sqlite3_close(sqlite->database);
    free(sqlite->columns.all);
}

/* Whether a row was truncated. A page that was truncated, or not written, ends in zeroes. Rows in
 * them are blank. The one after these has its beginning before the zeroes; its timestamp, after
 * most columns, is zero or a part. */
static bool is_cut(struct sqlite_tracking_reader *reader, const double *values)
{
    bool follows_blank = reader->is_blank;
    double timestamp = values[TRACKING_TIMESTAMP];
    reader->is_blank = true;
    for (size_t i = 0; i < TRACKING_VALUES; i++)
        reader->is_blank &= isnan(values[i]);
    return reader->base.salvage.wanted &&
           ((follows_blank && !reader->is_blank) || (timestamp == 0 && reader->last > 0));
}

/* Reads the row at which the statement is. */
static int read_row(
    struct sqlite_tracking_reader *reader, struct tracking_row *row, struct gput_error *error)
{
    double values[TRACKING_VALUES];
    unsigned long long number = reader->base.rows + reader->base.salvage.rows_skipped + 1;
    int bad = sqlite_columns_read(&reader->columns, reader->rows, values);
    if (bad >= 0) {
        const char *text = (const char *)sqlite3_column_text(reader->rows, bad);
        return text ? tracking_reader_bad_cell(&reader->base, "row", number,
                          reader->columns.all[bad], text, strlen(text), error)
                    : error_memory(error);
    }
    if (is_cut(reader, values))
        return tracking_reader_invalid(&reader->base, error, "row %llu is truncated.", number);
    if (isnan(values[TRACKING_TIMESTAMP]))
        return tracking_reader_invalid(&reader->base, error, "row %llu has no timestamp.", number);
    memcpy(row->values, values, sizeof row->values);
    row->timestamp = reader->last = values[TRACKING_TIMESTAMP];
    return GPUT_OK;
}

/* Starts threads that read ranges of rows. */
static void use_cores(struct tracking_reader *reader, unsigned cores)
{
    struct sqlite_tracking_reader *sqlite = (struct sqlite_tracking_reader *)reader;
    /* Rows of a damaged file may have any order. */
    if (!reader->salvage.wanted)
        sqlite->ranges =
            sqlite_ranges_create(reader->path, &sqlite->columns, (int64_t)sqlite->total, cores);
}

/* Gives rows that other threads have read. After the last of them, this thread reads on alone. */
static int take_ranges(struct sqlite_tracking_reader *reader, struct tracking_row *rows,
    size_t capacity, size_t *count, struct gput_error *error)
{
    const char *sql = "SELECT * FROM data WHERE rowid >= ? ORDER BY rowid";
    int64_t next;
    *count = sqlite_ranges_take(reader->ranges, rows, capacity, &next);
    reader->base.rows += *count;
    if (*count == capacity)
        return GPUT_OK;
    sqlite_ranges_destroy(reader->ranges);
    reader->ranges = NULL;
    sqlite3_finalize(reader->rows);
    TRY(sqlite_file_prepare(reader->database, sql, reader->base.path, &reader->rows, error));
    sqlite3_bind_int64(reader->rows, 1, next);
    return GPUT_OK;
}

/* Reads the next rows, from other threads or by itself. */
static int next_sqlite(struct tracking_reader *reader, struct tracking_row *rows, size_t capacity,
    size_t *count, struct gput_error *error)
{
    struct sqlite_tracking_reader *sqlite = (struct sqlite_tracking_reader *)reader;
    if (sqlite->ranges)
        TRY(take_ranges(sqlite, rows, capacity, count, error));
    while (*count < capacity && !sqlite->at_end) {
        int result = sqlite3_step(sqlite->rows);
        if (result == SQLITE_DONE) {
            sqlite->at_end = true;
            break;
        }
        if (result != SQLITE_ROW)
            return reader_error(sqlite, error);
        int code = read_row(sqlite, &rows[*count], error);
        TRY(salvage_row(&reader->salvage, code, error));
        if (code != GPUT_OK)
            continue;
        *count += 1;
        reader->rows++;
    }
    return GPUT_OK;
}

static int read_sqlite_tables(
    struct tracking_reader *reader, struct gput_tables *building, struct gput_error *error)
{
    sqlite3 *database = ((struct sqlite_tracking_reader *)reader)->database;
    return sqlite_tables_read(database, reader->path, &reader->static_data, building, error);
}

static void progress_sqlite(const struct tracking_reader *reader, uint64_t *done, uint64_t *total)
{
    *done = reader->rows;
    *total = ((const struct sqlite_tracking_reader *)reader)->total;
}

const struct tracking_format tracking_sqlite = {
    .extension = ".sqlite",
    .has_tables = true,
    .create = create_sqlite,
    .put_static_data = put_static_data,
    .write_row = write_sqlite_row,
    .finish = finish_sqlite,
    .restore = restore_sqlite,
    .add_table = add_sqlite_table,
    .write_table_row = write_sqlite_table_row,
    .open = open_sqlite,
    .use_cores = use_cores,
    .next = next_sqlite,
    .read_tables = read_sqlite_tables,
    .progress = progress_sqlite,
    .close = close_sqlite,
};
