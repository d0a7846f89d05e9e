#include "files/history/history_database.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "files/sqlite_file.h"
#include "files/sqlite_library.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long a session that ends waits for other writers, and how long somebody who reads. */
#define END_BUSY_MS 3
#define READER_BUSY_MS 5000

/* Log of writes that only a reader copies into the database, as that waits for the disk. Beyond
 * this rows wait in files: opening a database reads its log. */
#define MAX_LOG_BYTES (1 << 20)

#define TABLE "sessions"

/* PRAGMA user_version: a newer form, which this version must not write. */
#define FORM_VERSION 1

struct history_database {
    sqlite3 *sqlite;
    char *path;
    sqlite3_stmt *insert; /* NULL: not prepared */
};

/* ---- Opening for writing ---- */

/* Finds which of our columns the table has. */
static int find_columns(
    struct history_database *database, bool found[HISTORY_COLUMN_COUNT], struct gput_error *error)
{
    sqlite3_stmt *statement;
    int result;
    memset(found, 0, HISTORY_COLUMN_COUNT * sizeof *found);
    TRY(sqlite_file_prepare(database->sqlite, "SELECT name FROM pragma_table_info('" TABLE "')",
        database->path, &statement, error));
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        enum history_column_id id = name ? history_column_find(name) : HISTORY_COLUMN_COUNT;
        if (id != HISTORY_COLUMN_COUNT)
            found[id] = true;
    }
    int code = result == SQLITE_DONE
                   ? GPUT_OK
                   : sqlite_file_error(database->sqlite, "read", database->path, error);
    sqlite3_finalize(statement);
    return code;
}

/* Makes the table, or adds the columns that an older version did not have. */
static int make_columns(struct history_database *database, struct gput_error *error)
{
    bool found[HISTORY_COLUMN_COUNT];
    CLEANUP_STR struct str sql = {0};
    str_append(&sql, "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS " TABLE
                     " (number INTEGER PRIMARY KEY, session_id TEXT UNIQUE);");
    TRY(sqlite_file_run(database->sqlite, str_text(&sql), database->path, error));
    TRY(find_columns(database, found, error));
    str_clear(&sql);
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++) {
        if (found[id])
            continue;
        str_append(&sql, "ALTER TABLE " TABLE " ADD COLUMN ");
        const struct history_column *column = &history_columns[id];
        static const char *const types[] = {[GPUT_COLUMN_INT] = "INTEGER",
            [GPUT_COLUMN_DOUBLE] = "REAL",
            [GPUT_COLUMN_TEXT] = "TEXT"};
        str_printf(&sql, "%s %s", column->name, types[column->type]);
        str_append_char(&sql, ';');
    }
    str_printf(&sql, "PRAGMA user_version=%d; COMMIT;", FORM_VERSION);
    if (sql.failed)
        return error_memory(error);
    return sqlite_file_run(database->sqlite, sql.data, database->path, error);
}

/* Whether the table has all of our columns. */
static bool has_all_columns(struct history_database *database)
{
    bool found[HISTORY_COLUMN_COUNT];
    if (find_columns(database, found, NULL) != GPUT_OK)
        return false;
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++) {
        if (!found[id])
            return false;
    }
    return true;
}

/* Makes an open database ready for rows. */
static int prepare(
    struct history_database *database, int busy_ms, bool is_network, struct gput_error *error)
{
    sqlite3 *sqlite = database->sqlite;
    sqlite3_busy_timeout(sqlite, busy_ms);
    sqlite3_stmt *statement = NULL;
    int64_t version = -1;
    if (sqlite3_prepare_v2(sqlite, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        version = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    if (version < 0)
        return sqlite_file_error(sqlite, "read", database->path, error);
    if (version > FORM_VERSION)
        return error_set(error, GPUT_ERROR_FORMAT,
            "%s is of a newer gpu-tracker, which alone can add rows to it.", database->path);
    /* A commit is then one write to the log, without waiting for the disk. Neither it nor closing
     * copies the log into the database, but for a reader's. */
    if (version == 0 && !is_network)
        TRY(sqlite_file_run(sqlite, "PRAGMA journal_mode=WAL", database->path, error));
    sqlite3_exec(
        sqlite, "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0", NULL, NULL, NULL);
    sqlite3_db_config(sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return version == 0 || !has_all_columns(database) ? make_columns(database, error) : GPUT_OK;
}

/* Opens the database, or makes it, readable by its user alone. */
static int open_to_write(const char *path, int busy_ms, bool is_network,
    struct history_database **database, struct gput_error *error)
{
    *database = NULL;
    TRY(sqlite_library_load(error));
    struct history_database *made = calloc(1, sizeof *made);
    char *copy = strdup(path);
    if (!made || !copy) {
        free(made);
        free(copy);
        return error_memory(error);
    }
    made->path = copy;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = GPUT_OK;
    if (sqlite3_open_v2(path, &made->sqlite, flags, NULL) != SQLITE_OK)
        code = made->sqlite ? sqlite_file_error(made->sqlite, "open", path, error)
                            : error_memory(error);
    else
        chmod(path, 0600);
    if (code == GPUT_OK)
        code = prepare(made, busy_ms, is_network, error);
    if (code == GPUT_OK)
        *database = made;
    else
        history_database_close(made);
    return code;
}

int history_database_open(
    const char *path, struct history_database **database, struct gput_error *error)
{
    CLEANUP_STR struct str log = {0};
    struct stat info;
    *database = NULL;
    str_printf(&log, "%s-wal", path);
    if (log.failed)
        return error_memory(error);
    if (stat(log.data, &info) == 0 && info.st_size > MAX_LOG_BYTES)
        return error_set(error, GPUT_ERROR_IO, "%s is long: a reader has to shorten it.", log.data);
    return open_to_write(path, END_BUSY_MS, false, database, error);
}

int history_database_open_patiently(
    const char *path, bool is_network, struct history_database **database, struct gput_error *error)
{
    return open_to_write(path, READER_BUSY_MS, is_network, database, error);
}

void history_database_close(struct history_database *database)
{
    if (!database)
        return;
    sqlite3_finalize(database->insert);
    sqlite3_close(database->sqlite);
    free(database->path);
    free(database);
}

/* ---- Adding ---- */

int history_database_begin(struct history_database *database, struct gput_error *error)
{
    return sqlite_file_run(database->sqlite, "BEGIN IMMEDIATE", database->path, error);
}

int history_database_commit(struct history_database *database, struct gput_error *error)
{
    return sqlite_file_run(database->sqlite, "COMMIT", database->path, error);
}

void history_database_shorten_log(struct history_database *database)
{
    sqlite3_wal_checkpoint_v2(database->sqlite, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

/* Prepares the insert of a row with all columns. */
static int prepare_insert(struct history_database *database, struct gput_error *error)
{
    CLEANUP_STR struct str sql = {0};
    str_append(&sql, "INSERT OR IGNORE INTO " TABLE " (");
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++)
        str_printf(&sql, "%s%s", id ? "," : "", history_columns[id].name);
    str_append(&sql, ") VALUES (");
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++)
        str_append(&sql, id ? ",?" : "?");
    str_append_char(&sql, ')');
    if (sql.failed)
        return error_memory(error);
    return sqlite_file_prepare(
        database->sqlite, sql.data, database->path, &database->insert, error);
}

int history_database_add(
    struct history_database *database, const struct history_row *row, struct gput_error *error)
{
    if (!database->insert)
        TRY(prepare_insert(database, error));
    sqlite3_clear_bindings(database->insert);
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++) {
        enum gput_column_type type = history_columns[id].type;
        if (type == GPUT_COLUMN_TEXT)
            sqlite3_bind_text(database->insert, id + 1, row->values[id].text, -1, SQLITE_STATIC);
        else if (!isfinite(row->values[id].number))
            sqlite3_bind_null(database->insert, id + 1);
        else if (type == GPUT_COLUMN_INT)
            sqlite3_bind_int64(database->insert, id + 1, (sqlite3_int64)row->values[id].number);
        else
            sqlite3_bind_double(database->insert, id + 1, row->values[id].number);
    }
    int result = sqlite3_step(database->insert);
    int code = result == SQLITE_DONE
                   ? GPUT_OK
                   : sqlite_file_error(database->sqlite, "write", database->path, error);
    sqlite3_reset(database->insert);
    return code;
}

/* ---- Filters ---- */

/* Whether two names are the same but for the folders of their words. */
static bool is_same_name(const char *left, const char *right)
{
    while (*left && *right) {
        size_t n_left = strcspn(left, " "), n_right = strcspn(right, " ");
        const char *slash = memrchr(left, '/', n_left), *other = memrchr(right, '/', n_right);
        const char *base = slash ? slash + 1 : left, *other_base = other ? other + 1 : right;
        size_t length = (size_t)(left + n_left - base);
        if (length != (size_t)(right + n_right - other_base) ||
            memcmp(base, other_base, length) != 0)
            return false;
        left += n_left + (left[n_left] == ' ');
        right += n_right + (right[n_right] == ' ');
    }
    return !*left && !*right;
}

bool history_filter_passes_session(
    const struct history_filter *filter, const char *name, double start_seconds)
{
    if (filter->name && !name)
        return false;
    if (filter->name && filter->is_whole_name && !is_same_name(name, filter->name))
        return false;
    if (filter->name && !filter->is_whole_name && !strstr(name, filter->name))
        return false;
    return isnan(filter->since_seconds) || start_seconds >= filter->since_seconds;
}

bool history_filter_passes(const struct history_filter *filter, const struct history_row *row)
{
    return history_filter_passes_session(
        filter, history_text(row, HISTORY_NAME), history_number(row, HISTORY_START_SECONDS));
}

/* Appends " WHERE …" for what is set of a filter, as far as the table has the columns. */
static void append_condition(struct str *sql, const struct history_filter *filter)
{
    str_append(sql, " WHERE 1");
    if (filter->name && !filter->is_whole_name)
        str_append(sql, " AND instr(name, ?1) > 0");
    if (!isnan(filter->since_seconds))
        str_append(sql, " AND start_seconds >= ?2");
    for (size_t i = 0; i < filter->n_numbers; i++)
        str_printf(sql, "%s%lld", i ? "," : " AND number IN (", (long long)filter->numbers[i]);
    if (filter->n_numbers)
        str_append_char(sql, ')');
}

/* Binds what a condition has parameters for. */
static void bind_condition(sqlite3_stmt *statement, const struct history_filter *filter)
{
    if (filter->name && !filter->is_whole_name)
        sqlite3_bind_text(statement, 1, filter->name, -1, SQLITE_STATIC);
    if (!isnan(filter->since_seconds))
        sqlite3_bind_double(statement, 2, filter->since_seconds);
}

/* ---- Reading ---- */

/* Appends the SELECT of the columns that the table has; the others are NULL. */
static void append_select(
    struct str *sql, const bool found[HISTORY_COLUMN_COUNT], const struct history_filter *filter)
{
    str_append(sql, "SELECT number");
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++)
        str_printf(sql, ",%s", found[id] ? history_columns[id].name : "NULL");
    str_append(sql, " FROM " TABLE);
    append_condition(sql, filter);
}

/* Appends what rows are sorted by; `direction`: "" or " DESC", in which missing ones are last. */
static void append_keys(struct str *sql, const bool found[HISTORY_COLUMN_COUNT],
    const struct history_filter *filter, const char *direction)
{
    str_append(sql, " ORDER BY ");
    if (found[filter->sort])
        str_printf(sql, "%s%s,", history_columns[filter->sort].name, direction);
    if (found[HISTORY_START_SECONDS])
        str_printf(sql, "start_seconds%s,", direction);
    str_printf(sql, "number%s", direction);
}

/* Appends the order of rows, and which are the last ones. */
static void append_order(
    struct str *sql, const bool found[HISTORY_COLUMN_COUNT], const struct history_filter *filter)
{
    if (filter->last) {
        str_append(sql, " AND number IN (SELECT number FROM " TABLE);
        append_condition(sql, filter);
        append_keys(sql, found, filter, " DESC");
        str_printf(sql, " LIMIT %llu)", (unsigned long long)filter->last);
    }
    append_keys(sql, found, filter, "");
}

/* Reads the row that a statement is at. */
static int read_row(sqlite3_stmt *statement, struct history_row *row, struct gput_error *error)
{
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++) {
        const char *text = (const char *)sqlite3_column_text(statement, id + 1);
        bool is_null = sqlite3_column_type(statement, id + 1) == SQLITE_NULL;
        if (history_columns[id].type != GPUT_COLUMN_TEXT)
            row->values[id].number = is_null ? NAN : sqlite3_column_double(statement, id + 1);
        else if (!history_row_set_text(row, (enum history_column_id)id, text))
            return error_memory(error);
    }
    return GPUT_OK;
}

/* The destination of the rows of a statement. */
struct passing {
    struct history_database *database;
    const struct history_filter *filter;
    history_receiver *receive;
    void *user;
    bool is_damaged;
    int64_t last_number; /* the highest that was passed on while the file was read forwards */
};

/* Passes the rows of a SELECT on, until one of them cannot be read. `is_backwards`: they come by
 * falling numbers, and those that were passed on before end it. */
static int pass_rows(
    struct passing *passing, const char *sql, bool is_backwards, struct gput_error *error)
{
    struct history_database *database = passing->database;
    CLEANUP(history_row_finish) struct history_row row;
    sqlite3_stmt *statement;
    int result, code = GPUT_OK;
    history_row_init(&row);
    TRY(sqlite_file_prepare(database->sqlite, sql, database->path, &statement, error));
    bind_condition(statement, passing->filter);
    while (code == GPUT_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t number = sqlite3_column_int64(statement, 0);
        if (is_backwards && number <= passing->last_number) {
            result = SQLITE_DONE;
            break;
        }
        code = read_row(statement, &row, error);
        if (code == GPUT_OK)
            code = passing->receive(passing->user, number, &row, error);
        if (!is_backwards && number > passing->last_number)
            passing->last_number = number;
    }
    if (code == GPUT_OK && (result & 0xff) == SQLITE_CORRUPT)
        passing->is_damaged = true;
    else if (code == GPUT_OK && result != SQLITE_DONE)
        code = sqlite_file_error(database->sqlite, "read", database->path, error);
    sqlite3_finalize(statement);
    return code;
}

/* Reads the table: in order and, where a page is damaged, from both ends up to there. */
static int read_table(struct passing *passing, struct gput_error *error)
{
    CLEANUP_STR struct str sql = {0};
    bool found[HISTORY_COLUMN_COUNT];
    TRY(find_columns(passing->database, found, error));
    append_select(&sql, found, passing->filter);
    size_t length = sql.length;
    append_order(&sql, found, passing->filter);
    if (sql.failed)
        return error_memory(error);
    TRY(pass_rows(passing, sql.data, false, error));
    if (!passing->is_damaged || passing->last_number > 0)
        return GPUT_OK;
    sql.data[length] = '\0';
    TRY(pass_rows(passing, sql.data, false, error));
    sql.length = length;
    str_append(&sql, " ORDER BY number DESC");
    return sql.failed ? error_memory(error) : pass_rows(passing, sql.data, true, error);
}

int history_database_read(const char *path, const struct history_filter *filter,
    history_receiver *receive, void *user, bool *is_damaged, struct gput_error *error)
{
    struct history_database database = {.path = (char *)(uintptr_t)path};
    struct passing passing = {
        .database = &database, .filter = filter, .receive = receive, .user = user};
    bool has_table = false;
    *is_damaged = false;
    if (access(path, F_OK) != 0)
        return GPUT_OK;
    TRY(sqlite_file_salvage(path, &database.sqlite, error));
    sqlite3_set_authorizer(database.sqlite, NULL, NULL); /* table_info is no table */
    sqlite3_db_config(database.sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    int code = sqlite_file_find_table(database.sqlite, TABLE, &has_table, error);
    if (code == GPUT_OK && has_table)
        code = read_table(&passing, error);
    *is_damaged = passing.is_damaged;
    sqlite3_close(database.sqlite);
    return code;
}

/* ---- Forgetting ---- */

int history_database_forget(struct history_database *database, const struct history_filter *filter,
    uint64_t *n_removed, struct gput_error *error)
{
    CLEANUP_STR struct str sql = {0};
    sqlite3_stmt *statement;
    *n_removed = 0;
    sqlite3_exec(database->sqlite, "PRAGMA secure_delete=ON", NULL, NULL, NULL);
    str_append(&sql, "DELETE FROM " TABLE);
    append_condition(&sql, filter);
    if (sql.failed)
        return error_memory(error);
    TRY(sqlite_file_prepare(database->sqlite, sql.data, database->path, &statement, error));
    bind_condition(statement, filter);
    int result = sqlite3_step(statement);
    int code = result == SQLITE_DONE
                   ? GPUT_OK
                   : sqlite_file_error(database->sqlite, "write", database->path, error);
    *n_removed = (uint64_t)sqlite3_changes(database->sqlite);
    sqlite3_finalize(statement);
    /* The log is then in the file, and nowhere else. */
    if (code == GPUT_OK)
        history_database_shorten_log(database);
    return code;
}
