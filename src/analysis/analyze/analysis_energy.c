#include "analysis/analyze/analysis_energy.h"

#include "base/text.h"
#include "files/sqlite_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The table energy_data of a tracking file: joules since the start of the session, at moments in
 * time. */
struct energy_rows {
    const char *path;
    double origin; /* of the clock of the calls */
    sqlite3 *database;
    sqlite3_stmt *rows; /* NULL: there is no such table */
    int timestamp;      /* the index of the column; -1: there is none */
    int figures[GPUT_ENERGY_FIGURE_COUNT];
};

/* Opens the table, which a session without energy does not have. */
static int open_rows(struct energy_rows *table, struct gput_error *error)
{
    bool has_table;
    TRY(sqlite_file_open(table->path, &table->database, error));
    TRY(sqlite_file_find_table(table->database, "energy_data", &has_table, error));
    if (!has_table)
        return GPUT_OK;
    TRY(sqlite_file_prepare(
        table->database, "SELECT * FROM energy_data", table->path, &table->rows, error));
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

static double value_at(const struct energy_rows *table, int column)
{
    return column < 0 || sqlite3_column_type(table->rows, column) == SQLITE_NULL
               ? NAN
               : sqlite3_column_double(table->rows, column);
}

/* Reads the next row, for block_energy_compute(). */
static int next_row(void *user, double *time, double joules[GPUT_ENERGY_FIGURE_COUNT], bool *end,
    struct gput_error *error)
{
    const struct energy_rows *table = user;
    int result = sqlite3_step(table->rows);
    *end = result == SQLITE_DONE;
    if (*end)
        return GPUT_OK;
    if (result != SQLITE_ROW)
        return sqlite_file_error(table->database, "read", table->path, error);
    *time = value_at(table, table->timestamp) - table->origin;
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        joules[i] = value_at(table, table->figures[i]);
    return GPUT_OK;
}

static int compute(struct energy_rows *table, const struct sweep_input *input,
    struct session_energy *session, double (**joules)[GPUT_ENERGY_FIGURE_COUNT],
    struct gput_error *error)
{
    const struct energy_points points = {next_row, table};
    TRY(open_rows(table, error));
    if (!table->rows || table->timestamp < 0)
        return GPUT_OK;
    *joules = calloc(input->n_targets + 1, sizeof **joules);
    if (!*joules)
        return error_memory(error);
    return block_energy_compute(input, &points, session, *joules, error);
}

int analysis_energy_read(const char *tracking_file, double origin, const struct sweep_input *input,
    struct session_energy *session, double (**joules)[GPUT_ENERGY_FIGURE_COUNT],
    struct gput_error *error)
{
    struct energy_rows table = {.path = tracking_file, .origin = origin, .timestamp = -1};
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        table.figures[i] = -1;
    *joules = NULL;
    if (!text_ends_with(tracking_file, ".sqlite"))
        return GPUT_OK;
    int code = compute(&table, input, session, joules, error);
    sqlite3_finalize(table.rows);
    sqlite3_close(table.database);
    if (code != GPUT_OK) {
        free(*joules);
        *joules = NULL;
    }
    return code;
}
