#include "files/tracking/tracking_identity.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/table.h"
#include "base/text.h"
#include "files/tracking/tracking_format.h"
#include "files/tracking/tracking_sidecar.h"
#include "model/results_identity.h"

#include <gputracker/results.h>

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define ROWS_AT_ONCE 512
/* After the identity and the figures. */
#define TABLE_COLUMNS (RESULTS_SESSION_COLUMNS + 1)

/* ---- The table ---- */

static bool is_whole(const struct results_column *column)
{
    bool is_count = column->kind == RESULTS_COUNT_32 || column->kind == RESULTS_COUNT_64;
    return is_count || column->shown == SHOWN_WHOLE || column->shown == SHOWN_RAM;
}

/* Adds the table. A session is known by its start: a later row replaces the one before. */
static int add_table(struct tracking_file *file, const struct results_identity_column *identity,
    size_t count, struct gput_error *error)
{
    struct tracking_column columns[TABLE_COLUMNS];
    if (file->has_identity_table)
        return GPUT_OK;
    for (size_t i = 0; i < count; i++) {
        const struct results_column *column = identity[i].column;
        columns[i] = (struct tracking_column){
            identity[i].name, strcmp(identity[i].name, "start") == 0 ? TRACKING_KEY
                              : column->kind == RESULTS_TEXT         ? TRACKING_TEXT
                              : is_whole(column)                     ? TRACKING_INTEGER
                                                                     : TRACKING_REAL};
    }
    columns[count++] = (struct tracking_column){TRACKING_ROWS_LOST, TRACKING_INTEGER};
    TRY(tracking_file_add_table(
        file, TRACKING_IDENTITY_TABLE, columns, count, &file->identity_table, error));
    file->has_identity_table = true;
    return GPUT_OK;
}

/* Returns a column of the results as a value of the table. */
static struct tracking_value value_of(
    const struct results_column *column, const struct gput_results *results)
{
    const char *text = results_column_text(column, results);
    double number = results_column_number(column, results);
    if (column->kind == RESULTS_TEXT)
        return tracking_text(*text ? text : NULL);
    if (!is_whole(column) || isnan(number))
        return tracking_real(number);
    return tracking_integer((int64_t)fmin(number, 0x1p62));
}

/* Returns how many rows are lost as far as it is known: some may have failed since the results were
 * made. */
static uint64_t rows_lost_of(const struct tracking_file *file, const struct gput_results *results)
{
    uint64_t lost = tracking_file_rows_lost(file);
    return lost > results->tracker.rows_lost ? lost : results->tracker.rows_lost;
}

/* Writes the row of the session, with its figures when it has ended. */
static int write_table(struct tracking_file *file, const struct gput_results *results,
    bool has_ended, struct gput_error *error)
{
    struct results_identity_column identity[RESULTS_SESSION_COLUMNS];
    struct tracking_value values[TABLE_COLUMNS];
    size_t count = results_session_columns(identity);
    TRY(add_table(file, identity, count, error));
    for (size_t i = 0; i < count; i++)
        values[i] = has_ended || !identity[i].is_figure ? value_of(identity[i].column, results)
                                                        : tracking_real(NAN);
    values[count] = tracking_integer((int64_t)rows_lost_of(file, results));
    return tracking_file_write_table_row(
        file, file->identity_table, values, clock_monotonic_ns(), error);
}

/* ---- The file ---- */

/* Writes the file next to a tracking file. Where a disk is full or a limit is reached, at least how
 * the session ended is kept. */
static int write_file(struct tracking_file *file, const struct gput_results *results,
    bool has_ended, struct gput_error *error)
{
    struct stat info;
    const struct gput_static_data *static_data = file->format->is_plain ? &file->static_data : NULL;
    uint64_t rows_lost = rows_lost_of(file, results);
    if (stat(file->path, &info) != 0 || !S_ISREG(info.st_mode))
        return GPUT_OK;
    if (!file->has_identity_file)
        TRY(tracking_sidecar_check(file->path, error));
    if (!has_ended ||
        tracking_sidecar_write(file->path, static_data, results, true, rows_lost, error) != GPUT_OK)
        TRY(tracking_sidecar_write(file->path, static_data, results, false, rows_lost, error));
    file->has_identity_file = true;
    return GPUT_OK;
}

int tracking_identity_write(struct tracking_file *file, const struct gput_results *results,
    bool has_ended, struct gput_error *error)
{
    return tracking_file_has_tables(file) ? write_table(file, results, has_ended, error)
                                          : write_file(file, results, has_ended, error);
}

int gput_results_write_manifest(
    const struct gput_results *results, const char *path, struct gput_error *error)
{
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return GPUT_OK;
    TRY(tracking_sidecar_check(path, error));
    return tracking_sidecar_write(path, NULL, results, true, results->tracker.rows_lost, error);
}

/* ---- Reading ---- */

bool tracking_identity_read(const char *tracking_file, struct gput_results *results)
{
    CLEANUP(doc_destroy_pointer) struct doc *doc = tracking_sidecar_read(tracking_file);
    if (!doc)
        return false;
    results_identity_read(doc, results);
    results->tracker.rows_lost = tracking_sidecar_rows_lost(doc);
    return true;
}

char *tracking_identity_described(const char *path)
{
    size_t length = strlen(path) - strlen(TRACKING_IDENTITY_EXTENSION);
    return text_ends_with(path, TRACKING_IDENTITY_EXTENSION) ? strndup(path, length) : NULL;
}

void tracking_identity_read_table(const struct gput_table *table, struct gput_results *results)
{
    size_t rows = gput_table_row_count(table);
    CLEANUP(doc_destroy_pointer) struct doc *object = rows > 0 ? doc_create_object() : NULL;
    if (!object)
        return;
    for (size_t i = 0; i < gput_table_column_count(table); i++) {
        const char *name = gput_table_column_name(table, i);
        enum gput_column_type type = gput_table_column_type(table, i);
        if (gput_table_is_missing(table, rows - 1, i))
            continue;
        if (type == GPUT_COLUMN_TEXT)
            doc_add_string(object, name, gput_table_text(table, rows - 1, i));
        else if (type == GPUT_COLUMN_INT)
            doc_add_int(object, name, gput_table_int(table, rows - 1, i));
        else
            doc_add_double(object, name, gput_table_double(table, rows - 1, i));
    }
    results_identity_read(object, results);
    results->tracker.rows_lost = tracking_sidecar_rows_lost(object);
}

/* Takes the tables of a file one by one, and reads the one with the identity. */
static int take_table(void *user, const struct gput_tables *tables, const struct gput_table *part,
    struct gput_error *error)
{
    (void)tables;
    (void)error;
    if (strcmp(gput_table_name(part), TRACKING_IDENTITY_TABLE) == 0)
        tracking_identity_read_table(part, user);
    return GPUT_OK;
}

int tracking_identity_of(struct tracking_reader *reader, const char *path,
    struct gput_results *results, struct gput_error *error)
{
    if (!reader->format->has_tables) {
        tracking_identity_read(path, results);
        return GPUT_OK;
    }
    struct gput_tables *building = tables_create(), *tables = NULL;
    if (!building)
        return error_memory(error);
    tables_set_receiver(building, ROWS_AT_ONCE, take_table, results);
    int code = tracking_reader_tables(reader, building, error);
    int finished = tables_finish_building(building, &tables, error);
    gput_tables_destroy(tables);
    return code == GPUT_OK ? finished : code;
}
