#include "files/tracking/sqlite_insert.h"

#include "base/cleanup.h"
#include "files/sqlite_file.h"

int sqlite_insert_prepare(struct sqlite_insert *insert, struct gput_error *error)
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

int sqlite_insert_create_table(
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

void sqlite_insert_bind(const struct sqlite_insert *insert, const struct tracking_value *values)
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

bool sqlite_insert_run(const struct sqlite_insert *insert)
{
    bool done = sqlite3_step(insert->statement) == SQLITE_DONE;
    sqlite3_reset(insert->statement);
    return done;
}

void sqlite_insert_finish(struct sqlite_insert *insert)
{
    sqlite3_finalize(insert->statement);
    insert->statement = NULL;
}
