#include "files/sqlite_tables.h"

#include "base/cleanup.h"
#include "files/sqlite_file.h"

#include <gputracker/units.h>

#include <string.h>

static bool is_called(const char *name, const char *expected)
{
    return strcmp(name, expected) == 0;
}

const char *further_table_unit(
    const char *table, const char *column, const struct gput_static_data *data)
{
    bool is_gpu = is_called(table, "gpu_data"), is_process = is_called(table, "process_data");
    bool is_energy = is_called(table, "energy_data"), is_io = is_called(table, "io_data");
    const char *timestamp = strstr(column, "timestamp");
    if (!is_gpu && !is_process && !is_energy && !is_io)
        return NULL;
    if (timestamp && is_called(timestamp, "timestamp"))
        return "seconds since the epoch";
    if (is_energy)
        return "joules";
    if (is_io)
        return "bytes";
    if (is_process && is_called(column, "peak_ram"))
        return gput_ram_unit_name(data->ram_unit);
    if (is_called(column, "peak_gpu_ram") || is_called(column, "ram_used") ||
        (is_gpu && strstr(column, "_ram")))
        return gput_ram_unit_name(data->gpu_ram_unit);
    return NULL;
}

/* Returns the type of a column by what it is declared to be. */
static enum gput_column_type type_of(const char *declared)
{
    if (declared && sqlite3_stricmp(declared, "INTEGER") == 0)
        return GPUT_COLUMN_INT;
    if (declared && sqlite3_stricmp(declared, "TEXT") == 0)
        return GPUT_COLUMN_TEXT;
    return GPUT_COLUMN_DOUBLE;
}

/* Puts a value into a table. Returns false when it is not of its column's type, or memory ran out.
 */
static bool put_value(struct gput_table *table, sqlite3_stmt *rows, int column)
{
    int type = sqlite3_column_type(rows, column);
    enum gput_column_type wanted = type_of(sqlite3_column_decltype(rows, column));
    bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(rows, column) : NULL;
    if (type == SQLITE_NULL)
        table_put_missing(table);
    else if (wanted == GPUT_COLUMN_TEXT && type == SQLITE_TEXT && text)
        table_put_text(table, text);
    else if (wanted == GPUT_COLUMN_INT && type == SQLITE_INTEGER)
        table_put_int(table, sqlite3_column_int64(rows, column));
    else if (wanted == GPUT_COLUMN_DOUBLE && is_number)
        table_put_double(table, sqlite3_column_double(rows, column));
    else
        return false;
    return true;
}

static void finalize(sqlite3_stmt **statement)
{
    sqlite3_finalize(*statement);
}

/* Reads a table, whatever its columns are. */
static int read_table(sqlite3 *database, const char *path, const char *name,
    const struct gput_static_data *data, struct gput_tables *building, struct gput_error *error)
{
    CLEANUP_STR struct str sql = {0};
    CLEANUP(finalize) sqlite3_stmt *rows = NULL;
    str_append(&sql, "SELECT * FROM ");
    sqlite_file_append_name(&sql, name);
    if (sql.failed)
        return error_memory(error);
    TRY(sqlite_file_prepare(database, sql.data, path, &rows, error));
    struct gput_table *table = tables_add(building, name);
    for (int i = 0; i < sqlite3_column_count(rows); i++) {
        const char *column = sqlite3_column_name(rows, i);
        if (!column)
            return error_memory(error);
        const char *unit = further_table_unit(name, column, data);
        table_add_column(table, column, type_of(sqlite3_column_decltype(rows, i)));
        if (unit)
            table_set_unit(table, unit);
    }
    /* Read the rows of a table. */
    int result, columns = sqlite3_column_count(rows);
    for (unsigned long long row = 1; (result = sqlite3_step(rows)) == SQLITE_ROW; row++) {
        for (int i = 0; i < columns; i++) {
            if (put_value(table, rows, i))
                continue;
            const char *column = sqlite3_column_name(rows, i);
            if (!column || sqlite_file_lacks_memory(database))
                return error_memory(error);
            return error_set(error, GPUT_ERROR_FORMAT,
                "Tracking file %s is invalid: table %s, row %llu: %s is not what its column is "
                "declared to be.",
                path, name, row, column);
        }
        TRY(table_pass_full(table, error));
    }
    return result == SQLITE_DONE ? table_pass_rest(table, error)
                                 : sqlite_file_error(database, "read", path, error);
}

int sqlite_tables_read(sqlite3 *database, const char *path, const struct gput_static_data *data,
    struct gput_tables *building, struct gput_error *error)
{
    static const char names[] =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('data', "
        "'static_data') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid";
    CLEANUP(finalize) sqlite3_stmt *list = NULL;
    int result;
    TRY(sqlite_file_prepare(database, names, path, &list, error));
    while ((result = sqlite3_step(list)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(list, 0);
        if (!name)
            return error_memory(error);
        TRY(read_table(database, path, name, data, building, error));
    }
    return result == SQLITE_DONE ? GPUT_OK : sqlite_file_error(database, "read", path, error);
}
