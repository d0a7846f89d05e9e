#include "files/sqlite_library.h"

#include "base/shared_library.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define PATH "libsqlite3.so.0"

/* Result, name, parameters, arguments. */
#define SQLITE_FUNCTIONS(F)                                                                        \
    F(int, sqlite3_bind_double, (sqlite3_stmt * statement, int index, double value),               \
        (statement, index, value))                                                                 \
    F(int, sqlite3_bind_int, (sqlite3_stmt * statement, int index, int value),                     \
        (statement, index, value))                                                                 \
    F(int, sqlite3_bind_int64, (sqlite3_stmt * statement, int index, sqlite3_int64 value),         \
        (statement, index, value))                                                                 \
    F(int, sqlite3_bind_null, (sqlite3_stmt * statement, int index), (statement, index))           \
    F(int, sqlite3_bind_text,                                                                      \
        (sqlite3_stmt * statement, int index, const char *text, int length,                        \
            void (*destroy)(void *)),                                                              \
        (statement, index, text, length, destroy))                                                 \
    F(int, sqlite3_busy_timeout, (sqlite3 * database, int milliseconds), (database, milliseconds)) \
    F(int, sqlite3_clear_bindings, (sqlite3_stmt * statement), (statement))                        \
    F(int, sqlite3_close, (sqlite3 * database), (database))                                        \
    F(int, sqlite3_column_bytes, (sqlite3_stmt * statement, int column), (statement, column))      \
    F(int, sqlite3_column_count, (sqlite3_stmt * statement), (statement))                          \
    F(const char *, sqlite3_column_decltype, (sqlite3_stmt * statement, int column),               \
        (statement, column))                                                                       \
    F(double, sqlite3_column_double, (sqlite3_stmt * statement, int column), (statement, column))  \
    F(sqlite3_int64, sqlite3_column_int64, (sqlite3_stmt * statement, int column),                 \
        (statement, column))                                                                       \
    F(const char *, sqlite3_column_name, (sqlite3_stmt * statement, int column),                   \
        (statement, column))                                                                       \
    F(const unsigned char *, sqlite3_column_text, (sqlite3_stmt * statement, int column),          \
        (statement, column))                                                                       \
    F(int, sqlite3_column_type, (sqlite3_stmt * statement, int column), (statement, column))       \
    F(sqlite3_value *, sqlite3_column_value, (sqlite3_stmt * statement, int column),               \
        (statement, column))                                                                       \
    F(int, sqlite3_create_function,                                                                \
        (sqlite3 * database, const char *name, int count, int encoding, void *user,                \
            void (*call)(sqlite3_context *, int, sqlite3_value **),                                \
            void (*step)(sqlite3_context *, int, sqlite3_value **),                                \
            void (*finish)(sqlite3_context *)),                                                    \
        (database, name, count, encoding, user, call, step, finish))                               \
    F(void *, sqlite3_commit_hook, (sqlite3 * database, int (*commit)(void *), void *user),        \
        (database, commit, user))                                                                  \
    F(int, sqlite3_changes, (sqlite3 * database), (database))                                      \
    F(const char *, sqlite3_db_filename, (sqlite3 * database, const char *schema),                 \
        (database, schema))                                                                        \
    F(sqlite3 *, sqlite3_db_handle, (sqlite3_stmt * statement), (statement))                       \
    F(int, sqlite3_errcode, (sqlite3 * database), (database))                                      \
    F(const char *, sqlite3_errmsg, (sqlite3 * database), (database))                              \
    F(int, sqlite3_exec,                                                                           \
        (sqlite3 * database, const char *sql, int (*row)(void *, int, char **, char **),           \
            void *user, char **message),                                                           \
        (database, sql, row, user, message))                                                       \
    F(int, sqlite3_extended_errcode, (sqlite3 * database), (database))                             \
    F(int, sqlite3_file_control,                                                                   \
        (sqlite3 * database, const char *schema, int operation, void *argument),                   \
        (database, schema, operation, argument))                                                   \
    F(int, sqlite3_finalize, (sqlite3_stmt * statement), (statement))                              \
    F(int, sqlite3_get_autocommit, (sqlite3 * database), (database))                               \
    F(sqlite3_int64, sqlite3_last_insert_rowid, (sqlite3 * database), (database))                  \
    F(int, sqlite3_open_v2, (const char *path, sqlite3 **database, int flags, const char *vfs),    \
        (path, database, flags, vfs))                                                              \
    F(int, sqlite3_prepare_v2,                                                                     \
        (sqlite3 * database, const char *sql, int length, sqlite3_stmt **statement,                \
            const char **tail),                                                                    \
        (database, sql, length, statement, tail))                                                  \
    F(void, sqlite3_progress_handler,                                                              \
        (sqlite3 * database, int steps, int (*call)(void *), void *user),                          \
        (database, steps, call, user))                                                             \
    F(int, sqlite3_reset, (sqlite3_stmt * statement), (statement))                                 \
    F(int, sqlite3_set_authorizer,                                                                 \
        (sqlite3 * database,                                                                       \
            int (*call)(void *, int, const char *, const char *, const char *, const char *),      \
            void *user),                                                                           \
        (database, call, user))                                                                    \
    F(int, sqlite3_step, (sqlite3_stmt * statement), (statement))                                  \
    F(int, sqlite3_stricmp, (const char *one, const char *other), (one, other))                    \
    F(int, sqlite3_system_errno, (sqlite3 * database), (database))                                 \
    F(int, sqlite3_threadsafe, (void), ())                                                         \
    F(void *, sqlite3_user_data, (sqlite3_context * context), (context))                           \
    F(int, sqlite3_value_bytes, (sqlite3_value * value), (value))                                  \
    F(double, sqlite3_value_double, (sqlite3_value * value), (value))                              \
    F(const unsigned char *, sqlite3_value_text, (sqlite3_value * value), (value))                 \
    F(int, sqlite3_value_type, (sqlite3_value * value), (value))                                   \
    F(int, sqlite3_wal_checkpoint_v2,                                                              \
        (sqlite3 * database, const char *schema, int mode, int *pages, int *copied),               \
        (database, schema, mode, pages, copied))                                                   \
    F(void *, sqlite3_wal_hook,                                                                    \
        (sqlite3 * database, int (*commit)(void *, sqlite3 *, const char *, int), void *user),     \
        (database, commit, user))

/* Its other arguments depend on the option: of those that are used, an int and where to write one.
 */
typedef int db_config(sqlite3 *database, int option, ...);

/* As the dynamic linker's table of a library that is linked: the process has one. */
static struct {
#define MEMBER(type, name, parameters, arguments) __typeof__(name) *name;
    SQLITE_FUNCTIONS(MEMBER)
#undef MEMBER
    db_config *sqlite3_db_config;
} loaded;
static bool is_loaded;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

/* While it is not loaded no database is open: closing nothing does nothing. */
#define FUNCTION(type, name, parameters, arguments)                                                \
    type name parameters                                                                           \
    {                                                                                              \
        return loaded.name ? loaded.name arguments : (type)0;                                      \
    }
SQLITE_FUNCTIONS(FUNCTION)
#undef FUNCTION

int sqlite3_db_config(sqlite3 *database, int option, ...)
{
    va_list arguments;
    va_start(arguments, option);
    int value = va_arg(arguments, int), *result = va_arg(arguments, int *);
    va_end(arguments);
    return loaded.sqlite3_db_config ? loaded.sqlite3_db_config(database, option, value, result)
                                    : SQLITE_ERROR;
}

/* Loads SQLite's library. */
static int load(struct gput_error *error)
{
#define SYMBOL(type, name, parameters, arguments) {#name, &loaded.name},
    const struct shared_symbol symbols[] = {
        SQLITE_FUNCTIONS(SYMBOL){"sqlite3_db_config", &loaded.sqlite3_db_config}, {NULL, NULL}};
#undef SYMBOL
    if (!shared_library_can_load())
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "SQLite files need its library, which this statically linked program cannot load; CSV "
            "needs nothing. Or build gpu-tracker with -Dbundled=true.");
    const char *missing = shared_library_load(PATH, symbols);
    if (missing)
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "SQLite files need its library (Debian: apt-get install libsqlite3-0); CSV needs "
            "nothing. %s",
            missing);
    is_loaded = true;
    return GPUT_OK;
}

int sqlite_library_load(struct gput_error *error)
{
    pthread_mutex_lock(&loading);
    int code = is_loaded ? GPUT_OK : load(error);
    pthread_mutex_unlock(&loading);
    return code;
}
