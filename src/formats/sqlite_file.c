#include "formats/sqlite_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long to wait while another program, such as pandas, has locked the file. */
#define BUSY_TIMEOUT_MS 2000

static enum gput_code code_of_sqlite(int result)
{
    switch (result & 0xff) {
    case SQLITE_NOMEM:
        return GPUT_ERROR_MEMORY;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
        return GPUT_ERROR_PERMISSION;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
        return GPUT_ERROR_FORMAT;
    default:
        return GPUT_ERROR_IO;
    }
}

int sqlite_file_error(
    sqlite3 *database, const char *what, const char *path, struct gput_error *error)
{
    int result = sqlite3_errcode(database), kind = result & 0xff;
    /* The system's reason says more than "unable to open database file". */
    int failure = sqlite3_system_errno(database);
    if (failure && (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR))
        return error_set_errno(error, failure, "Cannot %s %s", what, path);
    return error_set(
        error, code_of_sqlite(result), "Cannot %s %s: %s", what, path, sqlite3_errmsg(database));
}

int sqlite_file_run(sqlite3 *database, const char *sql, const char *path, struct gput_error *error)
{
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK)
        return GPUT_OK;
    return sqlite_file_error(database, "write", path, error);
}

int sqlite_file_prepare(sqlite3 *database, const char *sql, const char *path,
    sqlite3_stmt **statement, struct gput_error *error)
{
    *statement = NULL;
    if (sqlite3_prepare_v2(database, sql, -1, statement, NULL) == SQLITE_OK)
        return GPUT_OK;
    return sqlite_file_error(database, "read", path, error);
}

/* Opens the file, and makes SQLite read its header. */
static int try_open(const char *name, int flags, sqlite3 **database)
{
    int result = sqlite3_open_v2(name, database, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (result == SQLITE_OK) {
        sqlite3_busy_timeout(*database, BUSY_TIMEOUT_MS);
        result = sqlite3_exec(*database, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    }
    return result;
}

/* "file:…?immutable=1": reads only the file, without log or journal. */
static char *immutable_uri(const char *path)
{
    struct str uri = {0};
    str_append(&uri, "file:");
    for (; *path; path++) {
        if (strchr("%?#", *path))
            str_printf(&uri, "%%%02x", (unsigned)*path);
        else
            str_append_char(&uri, *path);
    }
    str_append(&uri, "?immutable=1");
    return str_steal(&uri);
}

/* Reading only the file would miss the content of its log or journal. */
static int refuse_left_over(const char *path, struct gput_error *error)
{
    static const char *const endings[] = {"-wal", "-journal"};
    int code = GPUT_OK;
    for (size_t i = 0; code == GPUT_OK && i < sizeof endings / sizeof endings[0]; i++) {
        struct str name = {0};
        struct stat status;
        str_printf(&name, "%s%s", path, endings[i]);
        if (name.failed)
            code = error_memory(error);
        else if (stat(name.data, &status) == 0 && status.st_size > 0)
            code = error_set(error, GPUT_ERROR_PERMISSION,
                "Cannot read %s: a part of it is still in %s, and taking that in needs a folder "
                "that can be written to. Copy both files to one of your own and read them there.",
                path, name.data);
        str_finish(&name);
    }
    return code;
}

int sqlite_file_open(const char *path, sqlite3 **database, struct gput_error *error)
{
    *database = NULL;
    if (access(path, R_OK) != 0)
        return error_set_errno(error, errno, "Cannot open %s", path);

    /* Recovering a leftover log needs writing; without permission, read-only access may do. */
    int result = try_open(path, SQLITE_OPEN_READWRITE, database);
    if (result == SQLITE_CANTOPEN || (result & 0xff) == SQLITE_READONLY) {
        sqlite3_close(*database);
        result = try_open(path, SQLITE_OPEN_READONLY, database);
    }
    if (result == SQLITE_CANTOPEN || (result & 0xff) == SQLITE_READONLY) {
        sqlite3_close(*database);
        *database = NULL;
        TRY(refuse_left_over(path, error));
        char *uri = immutable_uri(path);
        if (!uri)
            return error_memory(error);
        result = try_open(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, database);
        free(uri);
    }
    if (result == SQLITE_OK)
        return GPUT_OK;
    int code = *database ? sqlite_file_error(*database, "read", path, error) : error_memory(error);
    sqlite3_close(*database);
    *database = NULL;
    return code;
}

/* SQLite refuses a file that is shorter than its header says, except with writable_schema. */
int sqlite_file_salvage(const char *path, sqlite3 **database, struct gput_error *error)
{
    int code = sqlite_file_open(path, database, error);
    if (code != GPUT_ERROR_FORMAT)
        return code;
    const char *sql = "PRAGMA writable_schema=ON; SELECT count(*) FROM sqlite_master";
    int result = sqlite3_open_v2(path, database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_exec(*database, sql, NULL, NULL, NULL);
    if (result == SQLITE_OK)
        return GPUT_OK;
    sqlite3_close(*database);
    *database = NULL;
    return code;
}

int sqlite_file_create(const char *path, sqlite3 **database, struct gput_error *error)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, database, flags, NULL) != SQLITE_OK) {
        int code =
            *database ? sqlite_file_error(*database, "create", path, error) : error_memory(error);
        sqlite3_close(*database);
        *database = NULL;
        return code;
    }
    sqlite3_busy_timeout(*database, BUSY_TIMEOUT_MS);
    sqlite_file_use_log(*database);
    return GPUT_OK;
}

void sqlite_file_use_log(sqlite3 *database)
{
    /* Network file systems may not support WAL; the default journal is as safe, only slower. */
    if (sqlite3_exec(database, "PRAGMA journal_mode=WAL", NULL, NULL, NULL) != SQLITE_OK)
        sqlite3_exec(database, "PRAGMA journal_mode=TRUNCATE", NULL, NULL, NULL);
    sqlite3_exec(database, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
}

/* Whether the file was removed, renamed or replaced since it was opened. */
static bool has_moved(sqlite3 *database)
{
    int moved = 0;
    return sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
           moved;
}

int sqlite_file_finish(sqlite3 *database, const char *path, struct gput_error *error)
{
    int result = SQLITE_OK, code = GPUT_OK;
    /* This checkpoints the log and removes it. While a reader has the file open the log stays, and
     * the last one to close the file checkpoints it. A log at the path of a removed file belongs to
     * another database. */
    if (!has_moved(database))
        result = sqlite3_exec(database, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    if (result != SQLITE_OK && result != SQLITE_BUSY && result != SQLITE_LOCKED)
        code = sqlite_file_error(database, "write", path, error);
    if (sqlite3_close(database) != SQLITE_OK && code == GPUT_OK)
        code = sqlite_file_error(database, "close", path, error);
    return code;
}

int sqlite_file_remove(const char *path, struct gput_error *error)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    int code = GPUT_OK;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        struct str name = {0};
        str_printf(&name, "%s%s", path, endings[i]);
        if (name.failed)
            return error_memory(error);
        if (unlink(name.data) != 0 && errno != ENOENT && code == GPUT_OK)
            code = error_set_errno(error, errno, "Cannot remove %s", name.data);
        str_finish(&name);
    }
    return code;
}

bool sqlite_file_has_table(sqlite3 *database, const char *name)
{
    sqlite3_stmt *statement;
    const char *sql = "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?";
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    bool found = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return found;
}

void sqlite_file_append_name(struct str *sql, const char *name)
{
    str_append_char(sql, '"');
    for (; *name; name++) {
        if (*name == '"')
            str_append_char(sql, '"');
        str_append_char(sql, *name);
    }
    str_append_char(sql, '"');
}
