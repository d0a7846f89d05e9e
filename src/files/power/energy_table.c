#include "files/power/energy_table.h"

#include "files/sqlite_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct energy_table {
    char *path;
    sqlite3 *database;
    sqlite3_stmt *rows;
    int timestamp; /* index of the column; -1: there is none */
    int figures[GPUT_ENERGY_FIGURE_COUNT];
};

void energy_table_close(struct energy_table *table)
{
    if (!table)
        return;
    sqlite3_finalize(table->rows);
    sqlite3_close(table->database);
    free(table->path);
    free(table);
}

static int find_columns(struct energy_table *table, struct gput_error *error)
{
    table->timestamp = -1;
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        table->figures[i] = -1;
    for (int column = 0; column < sqlite3_column_count(table->rows); column++) {
        const char *name = sqlite3_column_name(table->rows, column);
        if (!name)
            return error_memory(error);
        if (strcmp(name, "timestamp") == 0)
            table->timestamp = column;
        for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
            if (strcmp(name, gput_energy_figure_name((enum gput_energy_figure)i)) == 0)
                table->figures[i] = column;
        }
    }
    return GPUT_OK;
}

static int open_rows(struct energy_table *table, bool *found, struct gput_error *error)
{
    TRY(sqlite_file_open(table->path, &table->database, error));
    TRY(sqlite_file_find_table(table->database, "energy_data", found, error));
    if (!*found)
        return GPUT_OK;
    TRY(sqlite_file_prepare(
        table->database, "SELECT * FROM energy_data", table->path, &table->rows, error));
    TRY(find_columns(table, error));
    *found = table->timestamp >= 0;
    return GPUT_OK;
}

int energy_table_open(const char *path, struct energy_table **result, struct gput_error *error)
{
    const char *extension = strrchr(path, '.');
    bool found = false;
    *result = NULL;
    if (!extension || strcmp(extension, ".sqlite") != 0)
        return GPUT_OK;
    struct energy_table *table = calloc(1, sizeof *table);
    if (!table || !(table->path = strdup(path))) {
        free(table);
        return error_memory(error);
    }
    int code = open_rows(table, &found, error);
    if (code == GPUT_OK && found)
        *result = table;
    else
        energy_table_close(table);
    return code;
}

static double value_at(const struct energy_table *table, int column)
{
    return column < 0 || sqlite3_column_type(table->rows, column) == SQLITE_NULL
               ? NAN
               : sqlite3_column_double(table->rows, column);
}

int energy_table_next(
    struct energy_table *table, struct energy_row *row, bool *end, struct gput_error *error)
{
    int result = sqlite3_step(table->rows);
    *end = result == SQLITE_DONE;
    if (*end)
        return GPUT_OK;
    if (result != SQLITE_ROW)
        return sqlite_file_error(table->database, "read", table->path, error);
    row->timestamp = value_at(table, table->timestamp);
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        row->joules[i] = value_at(table, table->figures[i]);
    return GPUT_OK;
}
