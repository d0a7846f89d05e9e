#include "files/tracking/sqlite_insert.h"

#include "base/str.h"
#include "files/sqlite_file.h"

static const char *type_name(enum tracking_value_kind kind)
{
    if (kind == TRACKING_KEY)
        return "TEXT PRIMARY KEY";
    return kind == TRACKING_TEXT ? "TEXT" : kind == TRACKING_INTEGER ? "INTEGER" : "REAL";
}

/* Has SQLite keep the pages in memory to which rows are appended: a transaction then reads none,
 * and is right also when the index of the log is lost meanwhile. */
static void read_last_row(const struct sqlite_insert *insert)
{
    struct str text = {0};
    str_append(&text, "SELECT max(rowid) FROM ");
    sqlite_file_append_name(&text, insert->name);
    if (!text.failed)
        sqlite3_exec(insert->database, text.data, NULL, NULL, NULL);
    str_finish(&text);
}

int sqlite_insert_prepare(struct sqlite_insert *insert, struct gput_error *error)
{
    struct str text = {0};
    str_append(&text, "INSERT OR REPLACE INTO ");
    sqlite_file_append_name(&text, insert->name);
    for (size_t i = 0; i < insert->columns; i++)
        str_append(&text, i ? ", ?" : " VALUES (?");
    str_append_char(&text, ')');
    int code = text.failed ? error_memory(error)
                           : sqlite_file_prepare(insert->database, text.data, insert->path,
                                 &insert->statement, error);
    str_finish(&text);
    if (code == GPUT_OK)
        read_last_row(insert);
    return code;
}

int sqlite_insert_create_table(
    struct sqlite_insert *insert, const struct tracking_column *columns, struct gput_error *error)
{
    struct str create = {0};
    str_append(&create, "CREATE TABLE ");
    sqlite_file_append_name(&create, insert->name);
    for (size_t i = 0; i < insert->columns; i++) {
        str_append(&create, i ? ", " : " (");
        sqlite_file_append_name(&create, columns[i].name);
        str_printf(&create, " %s", type_name(columns[i].kind));
    }
    str_append_char(&create, ')');
    int code = create.failed ? error_memory(error)
                             : sqlite_file_run(insert->database, create.data, insert->path, error);
    str_finish(&create);
    return code == GPUT_OK ? sqlite_insert_prepare(insert, error) : code;
}

static void bind_value(sqlite3_stmt *statement, int index, struct tracking_value value)
{
    switch (value.kind) {
    case TRACKING_NULL:
        sqlite3_bind_null(statement, index);
        break;
    case TRACKING_INTEGER:
        sqlite3_bind_int64(statement, index, value.integer);
        break;
    case TRACKING_REAL: /* NaN becomes NULL */
        sqlite3_bind_double(statement, index, value.real);
        break;
    case TRACKING_TEXT:
    case TRACKING_KEY:
        sqlite3_bind_text(statement, index, value.text, -1, SQLITE_STATIC);
        break;
    }
}

void sqlite_insert_bind(const struct sqlite_insert *insert, const struct tracking_value *values)
{
    for (size_t i = 0; i < insert->columns; i++)
        bind_value(insert->statement, (int)i + 1, values[i]);
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
