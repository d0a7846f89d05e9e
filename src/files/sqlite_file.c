#include "files/sqlite_file.h"

#include "base/cleanup.h"
#include "files/marks/mapped_guard.h"
#include "files/sqlite_library.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* How long to wait while another program, such as pandas, has locked the file. */
#define BUSY_TIMEOUT_MS 2000

/* A write-ahead log is copied to the database at this length; each mark is a page. Copying waits
 * for the disk. */
#define LOG_PAGES 1000

/* The same while little space is left. What the database grows by then is little, too. */
#define LOG_PAGES_OF_SMALL_DISK 128
#define LITTLE_SPACE_BYTES (16 << 20)

/* SQLite's own limit. */
#define MAX_PAGES UINT32_C(0xfffffffe)

/* A write-ahead log has an index, next to the database, in parts of this size. */
#define LOG_INDEX_BYTES (32 * 1024)

/* Returns the error that a result of SQLite is for us. */
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

/* Returns errno of the last failure; 0: there is none. SQLite does not pass it on when a commit
 * fails: then the file of the log has it, or the database's. */
static int errno_of(sqlite3 *database)
{
    sqlite3_file *log = NULL;
    int kind = sqlite3_errcode(database) & 0xff, failure = sqlite3_system_errno(database);
    if (kind != SQLITE_CANTOPEN && kind != SQLITE_IOERR)
        return 0;
    if (failure == 0 &&
        sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK &&
        log && log->pMethods)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &failure);
    if (failure == 0)
        sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &failure);
    return failure;
}

/* Whether the file system has no locks, as Lustre without -o flock. To be asked only for a
 * connection whose first lock failed: closing the file releases all locks that the process has of
 * it, and without them the next reader that ends removes the log. */
static bool lacks_locks(sqlite3 *database)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
    int result = sqlite3_extended_errcode(database);
    bool may_lack = result == SQLITE_BUSY || result == SQLITE_IOERR_LOCK;
    const char *path = may_lack ? sqlite3_db_filename(database, "main") : NULL;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    bool fails = fcntl(fd, F_SETLK, &lock) != 0;
    fails &= errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL;
    close(fd);
    return fails;
}

int sqlite_file_error(
    sqlite3 *database, const char *what, const char *path, struct gput_error *error)
{
    int result = sqlite3_errcode(database);
    const char *words = sqlite3_errmsg(database);
    /* The system's reason says more than "unable to open database file". */
    int failure = errno_of(database);
    if (failure)
        return error_set_errno(error, failure, "Cannot %s %s", what, path);
    if (sqlite3_extended_errcode(database) == SQLITE_CONSTRAINT_COMMITHOOK)
        return error_set(error, GPUT_ERROR_IO,
            "Cannot %s %s: another program truncated %s-shm, the index of its log", what, path,
            path);
    return error_set(error, code_of_sqlite(result), "Cannot %s %s: %s", what, path, words);
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

#define READ_HEADER "SELECT count(*) FROM sqlite_master"

/* ---- Files of others ---- */

/* Lets statements read tables alone: a file can have views and triggers, and a view can have rows
 * without end. `inner` is the view or trigger whose SQL asks. */
static int allow(
    void *unused, int action, const char *a, const char *b, const char *schema, const char *inner)
{
    (void)unused;
    (void)a;
    (void)b;
    (void)schema;
    return inner || action == SQLITE_RECURSIVE ? SQLITE_DENY : SQLITE_OK;
}

static int interrupt(void *unused)
{
    (void)unused;
    return 1;
}

/* A statement takes some 5 steps a byte of what it reads at most; pages that refer to each other
 * can have far more rows than the file has bytes. A statement of a large file is not bounded. */
#define STEPS_OF_A_BYTE 40
#define MIN_STEPS 50000000

/* Guards against what others may have put into a file: views, and rows without end. */
static void distrust(sqlite3 *database, const char *path)
{
    struct stat info;
    int64_t bytes = stat(path, &info) == 0 ? info.st_size : 0;
    sqlite3_set_authorizer(database, allow, NULL);
    if (bytes < (INT_MAX - MIN_STEPS) / STEPS_OF_A_BYTE)
        sqlite3_progress_handler(
            database, MIN_STEPS + STEPS_OF_A_BYTE * (int)bytes, interrupt, NULL);
}

/* ---- The index of a log ---- */

/* The log has an index next to the database, which SQLite maps in parts. Where another program
 * truncates it, an access would end this one, which may not be ours. */
#define MAX_INDEX_PARTS 64

/* The index begins with two copies of a header. Where these are not valid, SQLite makes the index
 * anew from the log before it reads or copies that. */
#define INDEX_HEADER_BYTES 96
#define INDEX_HEADER_IS_SET 12

#define MIN_MEMORY_PAGE_BYTES 4096

/* State of a connection with a log: the argument of its hooks. */
struct log_state {
    sqlite3 *database;
    char header[INDEX_HEADER_BYTES]; /* of the index, as it was before the open transaction */
};

/* Guards the parts that are mapped, of a database that has its log open, and gives them; returns
 * how many these are. */
static size_t guard_index(sqlite3 *database, char *parts[MAX_INDEX_PARTS])
{
    sqlite3_file *file = NULL;
    volatile void *part = NULL;
    size_t count = 0;
    if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        !file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap)
        return 0;
    while (count < MAX_INDEX_PARTS &&
           file->pMethods->xShmMap(file, (int)count, LOG_INDEX_BYTES, 0, &part) == SQLITE_OK &&
           part) {
        parts[count++] = (char *)part;
        if (!mapped_guard_has((void *)part))
            mapped_guard_add((void *)part, LOG_INDEX_BYTES, NULL);
    }
    return count;
}

/* Whether the database has its log open. This reads nothing of the file, whose index may be
 * damaged.
 */
static bool has_open_log(sqlite3 *database)
{
    sqlite3_stmt *statement = NULL;
    bool is_log =
        database &&
        sqlite3_prepare_v2(database, "PRAGMA journal_mode", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW &&
        strcmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
    sqlite3_finalize(statement);
    return is_log;
}

/* Whether pages of the index were lost, which private memory has replaced. */
static bool was_cut(char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (mapped_guard_was_cut(parts[i]))
            return true;
    return false;
}

/* Has SQLite make an index anew that has lost pages: a checkpoint by it would leave out what they
 * were of. */
static bool forget_lost_index(char *const *parts, size_t count)
{
    if (!was_cut(parts, count))
        return false;
    memset(parts[0], 0, INDEX_HEADER_BYTES);
    return true;
}

/* Keeps the header of a valid index, for the transaction that begins. */
static void keep_header(struct log_state *state, char *const *parts, size_t count)
{
    if (count > 0 && !was_cut(parts, count))
        memcpy(state->header, parts[0], INDEX_HEADER_BYTES);
}

static int refuse_by_lost_index(void *user);

/* Returns the state of a connection, or NULL. Only the call that sets a hook gives its argument. */
static struct log_state *log_state_of(sqlite3 *database)
{
    struct log_state *state = sqlite3_commit_hook(database, NULL, NULL);
    if (state)
        sqlite3_commit_hook(database, refuse_by_lost_index, state);
    return state;
}

/*
 * Called before each commit; true refuses it. After a page was lost, pages of the database may have
 * been read as they were before the log. Where none was lost until now, what is committed is right,
 * and it will be in the log. Another program may have made the file longer again, with zeroes.
 *
 * Where a commit begins the log again, SQLite compares the header with its own one for 10 s and
 * then fails. So a header that was lost just now is put back, into memory that only this process
 * sees.
 */
static int refuse_by_lost_index(void *user)
{
    struct log_state *state = user;
    char *parts[MAX_INDEX_PARTS];
    size_t count = guard_index(state->database, parts);
    if (was_cut(parts, count))
        return true;
    bool is_empty = count > 0 && ((const volatile char *)parts[0])[INDEX_HEADER_IS_SET] == 0;
    bool is_lost_now = was_cut(parts, count);
    if (is_empty && is_lost_now)
        memcpy(parts[0], state->header, INDEX_HEADER_BYTES);
    return is_empty && !is_lost_now;
}

bool sqlite_file_has_lost_index(sqlite3 *database)
{
    char *parts[MAX_INDEX_PARTS];
    size_t count = has_open_log(database) ? guard_index(database, parts) : 0;
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < LOG_INDEX_BYTES; at += MIN_MEMORY_PAGE_BYTES)
            (void)((const volatile char *)parts[i])[at];
    if (count > 0 && log_state_of(database))
        keep_header(log_state_of(database), parts, count);
    return was_cut(parts, count) && !sqlite_file_has_moved(database);
}

int sqlite_file_close(sqlite3 *database)
{
    char *parts[MAX_INDEX_PARTS];
    if (!database) /* which sqlite3_commit_hook() does not allow */
        return SQLITE_OK;
    size_t count = has_open_log(database) ? guard_index(database, parts) : 0;
    forget_lost_index(parts, count);
    free(sqlite3_commit_hook(database, NULL, NULL));
    int result = sqlite3_close(database);
    for (size_t i = 0; result == SQLITE_OK && i < count; i++)
        mapped_guard_remove(parts[i]);
    return result;
}

/* ---- Opening ---- */

/* Opens the file, and makes SQLite read its header. */
static int try_open(const char *name, int flags, sqlite3 **database)
{
    int result = sqlite3_open_v2(name, database, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_exec(*database, READ_HEADER, NULL, NULL, NULL);
    bool waits = (result & 0xff) == SQLITE_BUSY && !lacks_locks(*database);
    if (result == SQLITE_OK || waits)
        sqlite3_busy_timeout(*database, BUSY_TIMEOUT_MS);
    return waits ? sqlite3_exec(*database, READ_HEADER, NULL, NULL, NULL) : result;
}

/* Returns "file:…?immutable=1", by which SQLite reads only the file, without log or journal. */
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

/* Refuses a file of which a part is still in its log or journal: reading the file alone would miss
 * that. */
static int refuse_left_over(const char *path, struct gput_error *error)
{
    static const char *const endings[] = {"-wal", "-journal"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        CLEANUP_STR struct str name = {0};
        struct stat status;
        str_printf(&name, "%s%s", path, endings[i]);
        if (name.failed)
            return error_memory(error);
        if (stat(name.data, &status) == 0 && status.st_size > 0)
            return error_set(error, GPUT_ERROR_PERMISSION,
                "Cannot read %s: a part of it is still in %s, and merging that needs a writable "
                "folder. Copy both files to a folder of your own and read them there.",
                path, name.data);
    }
    return GPUT_OK;
}

/* Whether opening failed because the file next to it that a log needs, also for reading, cannot be
 * made. Then reading only the file may do. */
static bool lacks_files_next_to_it(sqlite3 *database, int result)
{
    return result == SQLITE_CANTOPEN || (result & 0xff) == SQLITE_READONLY ||
           (database && (result & 0xff) == SQLITE_IOERR &&
               sqlite3_system_errno(database) == ENOSPC);
}

int sqlite_file_open(const char *path, sqlite3 **database, struct gput_error *error)
{
    *database = NULL;
    struct stat info;
    if (access(path, R_OK) != 0)
        return error_set_errno(error, errno, "Cannot open %s", path);
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return error_set(
            error, GPUT_ERROR_FORMAT, "Cannot read %s: it is not a regular file.", path);
    TRY(sqlite_library_load(error));

    /* Recovering a leftover log needs writing; without permission, read-only access may do. */
    int result = try_open(path, SQLITE_OPEN_READWRITE, database);
    if (lacks_files_next_to_it(*database, result)) {
        sqlite3_close(*database);
        result = try_open(path, SQLITE_OPEN_READONLY, database);
    }
    if (lacks_files_next_to_it(*database, result) || (*database && lacks_locks(*database))) {
        sqlite3_close(*database);
        *database = NULL;
        TRY(refuse_left_over(path, error));
        char *uri = immutable_uri(path);
        if (!uri)
            return error_memory(error);
        result = try_open(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, database);
        free(uri);
    }
    if (result == SQLITE_OK) {
        distrust(*database, path);
        return GPUT_OK;
    }
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
    if (result == SQLITE_OK) {
        distrust(*database, path);
        return GPUT_OK;
    }
    sqlite3_close(*database);
    *database = NULL;
    return code;
}

/* Opens a database for writing, which is made if it is missing. */
static int open_to_write(
    const char *path, const char *vfs, sqlite3 **database, struct gput_error *error)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    *database = NULL;
    TRY(sqlite_library_load(error));
    if (sqlite3_open_v2(path, database, flags, vfs) == SQLITE_OK)
        return GPUT_OK;
    int code =
        *database ? sqlite_file_error(*database, "create", path, error) : error_memory(error);
    sqlite3_close(*database);
    *database = NULL;
    return code;
}

/* Makes SQLite lock the file once, by reading its header. */
static bool can_be_locked(sqlite3 *database)
{
    return sqlite3_exec(database, READ_HEADER, NULL, NULL, NULL) == SQLITE_OK ||
           !lacks_locks(database);
}

int sqlite_file_open_alone(const char *path, sqlite3 **database, struct gput_error *error)
{
    TRY(open_to_write(path, NULL, database, error));
    if (can_be_locked(*database))
        return GPUT_OK;
    sqlite3_close(*database);
    return open_to_write(path, "unix-none", database, error);
}

int sqlite_file_open_shared(const char *path, sqlite3 **database, struct gput_error *error)
{
    TRY(open_to_write(path, NULL, database, error));
    if (can_be_locked(*database))
        return GPUT_OK;
    sqlite3_close(*database);
    *database = NULL;
    return error_set(error, GPUT_ERROR_IO,
        "Cannot write %s: its file system has no locks, and SQLite needs them. Name a .csv file, "
        "or one on another file system.",
        path);
}

int sqlite_file_create(
    const char *path, bool is_alone, sqlite3 **database, struct gput_error *error)
{
    TRY(is_alone ? sqlite_file_open_alone(path, database, error)
                 : sqlite_file_open_shared(path, database, error));
    sqlite3_busy_timeout(*database, BUSY_TIMEOUT_MS);
    sqlite_file_use_log(*database);
    return GPUT_OK;
}

/* Whether the disk of a database is nearly full. */
static bool has_little_space(sqlite3 *database, const char *name)
{
    struct statvfs status;
    const char *path = sqlite3_db_filename(database, name);
    return path && statvfs(path, &status) == 0 &&
           (uint64_t)status.f_bavail * status.f_frsize < LITTLE_SPACE_BYTES;
}

/* Called after each commit. An error would be one of the commit. The space is read once in 64
 * pages: the few pages of a transaction do not step over all of the first ones. */
static int checkpoint_when_due(void *unused, sqlite3 *database, const char *name, int pages)
{
    (void)unused;
    char *parts[MAX_INDEX_PARTS];
    if (forget_lost_index(parts, guard_index(database, parts)))
        return SQLITE_OK;
    bool reads_space = pages >= LOG_PAGES_OF_SMALL_DISK && pages % 64 < 4;
    if (pages >= LOG_PAGES || (reads_space && has_little_space(database, name)))
        sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

void sqlite_file_use_log(sqlite3 *database)
{
    sqlite3_set_authorizer(database, NULL, NULL);
    sqlite3_progress_handler(database, 0, NULL, NULL);
    sqlite3_wal_hook(database, checkpoint_when_due, NULL);
    /* Network file systems may not support WAL, and a limit may be too low for its index; the
     * default journal is as safe, only slower. */
    struct rlimit limit;
    bool is_too_low = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < LOG_INDEX_BYTES;
    if (is_too_low ||
        sqlite3_exec(database, "PRAGMA journal_mode=WAL", NULL, NULL, NULL) != SQLITE_OK)
        sqlite3_exec(database, "PRAGMA journal_mode=TRUNCATE", NULL, NULL, NULL);
    else if (has_open_log(database)) {
        char *parts[MAX_INDEX_PARTS];
        struct log_state *state = calloc(1, sizeof *state);
        if (state) {
            state->database = database;
            keep_header(state, parts, guard_index(database, parts));
            sqlite3_commit_hook(database, refuse_by_lost_index, state);
        }
    }
    sqlite3_exec(database, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
}

bool sqlite_file_is_full(sqlite3 *database)
{
    if ((sqlite3_errcode(database) & 0xff) == SQLITE_FULL)
        return true;
    int failure = errno_of(database);
    return failure == ENOSPC || failure == EDQUOT || failure == EFBIG;
}

bool sqlite_file_make_space(sqlite3 *database)
{
    int pages = 0, copied = 0;
    /* the log is truncated when it is used again */
    sqlite3_exec(database, "PRAGMA journal_size_limit=0", NULL, NULL, NULL);
    return sqlite3_wal_checkpoint_v2(
               database, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied) == SQLITE_OK &&
           pages > 0 && copied == pages;
}

/* Returns the number that a pragma gives; 0 when it fails. */
static int64_t read_pragma(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = 0;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

void sqlite_file_set_limit(sqlite3 *database, uint64_t bytes)
{
    char sql[64];
    int64_t page_bytes = read_pragma(database, "PRAGMA page_size");
    uint64_t pages = page_bytes > 0 ? bytes / (uint64_t)page_bytes : 0;
    pages = pages < 1 ? 1 : pages > MAX_PAGES ? MAX_PAGES : pages;
    snprintf(sql, sizeof sql, "PRAGMA max_page_count=%" PRIu64, pages);
    sqlite3_exec(database, sql, NULL, NULL, NULL);
}

bool sqlite_file_is_at_limit(sqlite3 *database)
{
    return read_pragma(database, "PRAGMA page_count") >=
           read_pragma(database, "PRAGMA max_page_count");
}

int sqlite_file_copy(
    sqlite3 *database, const char *target, const char *path, struct gput_error *error)
{
    CLEANUP_STR struct str sql = {0};
    str_append(&sql, "VACUUM INTO '");
    for (; *target; target++) {
        str_append_char(&sql, *target);
        if (*target == '\'')
            str_append_char(&sql, '\'');
    }
    str_append_char(&sql, '\'');
    return sql.failed ? error_memory(error) : sqlite_file_run(database, sql.data, path, error);
}

bool sqlite_file_has_moved(sqlite3 *database)
{
    int moved = 0;
    return sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
           moved;
}

int sqlite_file_finish(sqlite3 *database, const char *path, struct gput_error *error)
{
    char *parts[MAX_INDEX_PARTS];
    size_t count = has_open_log(database) ? guard_index(database, parts) : 0;
    int result = SQLITE_OK, code = GPUT_OK;
    forget_lost_index(parts, count);
    free(sqlite3_commit_hook(database, NULL, NULL)); /* without a log there is no index */
    /* This checkpoints the log and removes it. While a reader has the file open the log stays, and
     * the last one to close the file checkpoints it. A log at the path of a removed file belongs to
     * another database. */
    if (!sqlite_file_has_moved(database))
        result = sqlite3_exec(database, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    if (result != SQLITE_OK && result != SQLITE_BUSY && result != SQLITE_LOCKED)
        code = sqlite_file_error(database, "write", path, error);
    if (sqlite3_close(database) != SQLITE_OK && code == GPUT_OK)
        code = sqlite_file_error(database, "close", path, error);
    for (size_t i = 0; i < count; i++)
        mapped_guard_remove(parts[i]); /* of a log that stays they are mapped until here */
    return code;
}

int sqlite_file_remove(const char *path, struct gput_error *error)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    int code = GPUT_OK;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        CLEANUP_STR struct str name = {0};
        str_printf(&name, "%s%s", path, endings[i]);
        if (name.failed)
            return error_memory(error);
        if (unlink(name.data) != 0 && errno != ENOENT && code == GPUT_OK)
            code = error_set_errno(error, errno, "Cannot remove %s", name.data);
    }
    return code;
}

bool sqlite_file_is_damaged(sqlite3 *database)
{
    sqlite3_stmt *statement = NULL;
    const char *words = NULL;
    int result = sqlite3_prepare_v2(database, "PRAGMA quick_check(1)", -1, &statement, NULL);
    if (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW)
        words = (const char *)sqlite3_column_text(statement, 0);
    bool is_damaged = words ? strcmp(words, "ok") != 0 : (result & 0xff) == SQLITE_CORRUPT;
    sqlite3_finalize(statement);
    return is_damaged;
}

bool sqlite_file_lacks_memory(sqlite3 *database)
{
    return (sqlite3_errcode(database) & 0xff) == SQLITE_NOMEM;
}

int sqlite_file_find_table(
    sqlite3 *database, const char *name, bool *found, struct gput_error *error)
{
    sqlite3_stmt *statement = NULL;
    const char *sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?";
    *found = sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK &&
             sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
             sqlite3_step(statement) == SQLITE_ROW;
    bool lacks_memory = !*found && sqlite_file_lacks_memory(database);
    sqlite3_finalize(statement);
    return lacks_memory ? error_memory(error) : GPUT_OK;
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
