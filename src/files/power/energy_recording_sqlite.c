/*
 * power_metrics.sqlite: its table power_metrics has a row for each number, with the columns
 *
 *     date     as in power_metrics.json
 *     segment  0, 1, …; the curve has a gap between two of them
 *     device   "cpu" or "gpu"
 *     name     the metric
 *     key      the process or GPU that the number is of; NULL where the metric is one number
 *     value
 *
 * The rows of a moment are written in one transaction.
 */
#include "base/file_restore.h"
#include "base/file_target.h"
#include "files/power/energy_recording.h"
#include "files/power/energy_recording_format.h"
#include "files/power/recording_date.h"
#include "files/sqlite_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char table_name[] = "power_metrics";

/* ---- writing ---- */

struct sqlite_recording {
    char *path;
    sqlite3 *database;
    sqlite3_stmt *insert;
    int64_t segment;
    bool is_new;
    bool has_rows;
};

static int restore(struct sqlite_recording *file, struct gput_error *error)
{
    char *name;
    TRY(file_restore_name(file->path, &name, error));
    int code = sqlite_file_copy(file->database, name, name, error);
    if (code == GPUT_OK)
        code = file_restore_say(file->path, name, error);
    free(name);
    return code;
}

static int finish(void *opened, struct gput_error *error)
{
    struct sqlite_recording *file = opened;
    sqlite3_finalize(file->insert);
    int code = GPUT_OK;
    if (file->has_rows && file->database && sqlite_file_has_moved(file->database))
        code = restore(file, error);
    int finished = file->database
                       ? sqlite_file_finish(file->database, file->path, code ? NULL : error)
                       : GPUT_OK;
    code = code ? code : finished;
    /* an empty file is removed */
    if (file->is_new && !file->has_rows)
        sqlite_file_remove(file->path, NULL);
    free(file->path);
    free(file);
    return code;
}

/* The number of the next segment. */
static int find_segment(struct sqlite_recording *file, struct gput_error *error)
{
    sqlite3_stmt *statement;
    TRY(sqlite_file_prepare(file->database,
        "SELECT coalesce(max(segment) + 1, 0) FROM power_metrics", file->path, &statement, error));
    int result = sqlite3_step(statement);
    file->segment = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return result == SQLITE_ROW ? GPUT_OK
                                : sqlite_file_error(file->database, "read", file->path, error);
}

static int open_database(struct sqlite_recording *file, struct gput_error *error)
{
    char *target; /* SQLite would follow any link */
    TRY(file_target(file->path, &target, error));
    int code = sqlite_file_create(target, true, &file->database, error);
    free(target);
    if (code != GPUT_OK)
        return code;
    TRY(sqlite_file_run(file->database,
        "CREATE TABLE IF NOT EXISTS power_metrics (date TEXT NOT NULL, segment INTEGER NOT NULL, "
        "device TEXT NOT NULL, name TEXT NOT NULL, key TEXT, value REAL)",
        file->path, error));
    TRY(find_segment(file, error));
    return sqlite_file_prepare(file->database,
        "INSERT INTO power_metrics (date, segment, device, name, key, value) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        file->path, &file->insert, error);
}

static int open_sqlite(const char *path, bool continues, void **opened, struct gput_error *error)
{
    struct sqlite_recording *file = calloc(1, sizeof *file);
    (void)continues; /* the writer has checked that there is no other one */
    if (!file || !(file->path = strdup(path))) {
        free(file);
        return error_memory(error);
    }
    file->is_new = access(path, F_OK) != 0;
    int code = open_database(file, error);
    if (code == GPUT_OK)
        *opened = file;
    else
        finish(file, NULL);
    return code;
}

static int insert(struct sqlite_recording *file, const char *name, const char *key,
    const struct doc *value, struct gput_error *error)
{
    double number = doc_number(value);
    if (isnan(number))
        return GPUT_OK; /* missing values have no row */
    sqlite3_bind_text(file->insert, 4, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(file->insert, 5, key, -1, SQLITE_STATIC); /* NULL binds NULL */
    sqlite3_bind_double(file->insert, 6, number);
    int result = sqlite3_step(file->insert);
    sqlite3_reset(file->insert);
    return result == SQLITE_DONE ? GPUT_OK
                                 : sqlite_file_error(file->database, "write", file->path, error);
}

static int insert_device(
    struct sqlite_recording *file, const struct doc *device, struct gput_error *error)
{
    sqlite3_bind_text(file->insert, 3, device->key, -1, SQLITE_STATIC);
    for (const struct doc *metric = device->first; metric; metric = metric->next) {
        if (metric->kind != DOC_OBJECT)
            TRY(insert(file, metric->key, NULL, metric, error));
        for (const struct doc *part = metric->first; part; part = part->next)
            TRY(insert(file, metric->key, part->key, part, error));
    }
    return GPUT_OK;
}

static int insert_moment(struct sqlite_recording *file, const char *date, const struct doc *metrics,
    struct gput_error *error)
{
    sqlite3_bind_text(file->insert, 1, date, -1, SQLITE_STATIC);
    sqlite3_bind_int64(file->insert, 2, file->segment);
    for (const struct doc *device = metrics->first; device; device = device->next)
        TRY(insert_device(file, device, error));
    return sqlite_file_run(file->database, "COMMIT", file->path, error);
}

/* `*is_full`: it failed for lack of space. */
static int try_add(struct sqlite_recording *file, const char *date, const struct doc *metrics,
    bool *is_full, struct gput_error *error)
{
    *is_full = false;
    TRY(sqlite_file_run(file->database, "BEGIN IMMEDIATE", file->path, error));
    int code = insert_moment(file, date, metrics, error);
    *is_full = code != GPUT_OK && sqlite_file_is_full(file->database);
    sqlite3_clear_bindings(file->insert);
    if (code != GPUT_OK)
        sqlite_file_run(file->database, "ROLLBACK", file->path, NULL);
    return code;
}

/* Opens it again where another program truncated the index of the log. */
static int check_index(struct sqlite_recording *file, struct gput_error *error)
{
    int64_t segment = file->segment;
    if (file->insert && !sqlite_file_has_lost_index(file->database))
        return GPUT_OK;
    sqlite3_finalize(file->insert);
    sqlite_file_close(file->database);
    file->insert = NULL;
    file->database = NULL;
    int code = open_database(file, error);
    file->segment = segment;
    return code;
}

static int add(void *opened, const char *date, const struct doc *metrics, struct gput_error *error)
{
    struct sqlite_recording *file = opened;
    bool is_full;
    TRY(check_index(file, error));
    int code = try_add(file, date, metrics, &is_full, error);
    if (is_full && sqlite_file_make_space(file->database))
        code = try_add(file, date, metrics, &is_full, error);
    file->has_rows |= code == GPUT_OK;
    return code;
}

static int end_segment(void *opened, struct gput_error *error)
{
    struct sqlite_recording *file = opened;
    (void)error;
    file->segment++;
    return GPUT_OK;
}

const struct energy_recording_format energy_recording_sqlite = {
    "power_metrics.sqlite", open_sqlite, add, end_segment, finish};

/* ---- reading ---- */

/* A row for each metric, of GPUs for each GPU, in the order of time. */
static const char sums[] =
    "SELECT segment, date, device, name, CASE device WHEN 'gpu' THEN key END AS gpu, sum(value) "
    "FROM power_metrics GROUP BY segment, date, device, name, gpu "
    "ORDER BY segment, date, min(rowid)";

enum { SEGMENT, DATE, DEVICE, NAME, GPU, VALUE };

struct sums_reader {
    struct recorded_series *series;
    const char *path;
    sqlite3_stmt *rows;
    uint32_t segment;     /* of the series */
    int64_t file_segment; /* the number in the file */
    int64_t time_us;
    bool has_moment;
};

static const char *text_at(const struct sums_reader *reader, int column)
{
    const char *text = (const char *)sqlite3_column_text(reader->rows, column);
    return text ? text : "";
}

/* Starts a new moment when the row's date differs from the previous one. */
static int read_moment_row(struct sums_reader *reader, struct gput_error *error)
{
    int64_t time_us, segment = sqlite3_column_int64(reader->rows, SEGMENT);
    if (!recording_date_parse(text_at(reader, DATE), &time_us))
        return error_set(error, GPUT_ERROR_FORMAT, "%s: \"%.60s\" is not a date.", reader->path,
            text_at(reader, DATE));
    bool is_same_segment = reader->has_moment && segment == reader->file_segment;
    if (is_same_segment && time_us == reader->time_us)
        return GPUT_OK;
    if (!is_same_segment && reader->series->count > 0)
        reader->segment++;
    reader->has_moment = true;
    reader->file_segment = segment;
    reader->time_us = time_us;
    return recorded_series_add(reader->series, time_us, reader->segment, error);
}

static int read_row(struct sums_reader *reader, struct gput_error *error)
{
    const char *device = text_at(reader, DEVICE), *name = text_at(reader, NAME);
    if (sqlite_file_lacks_memory(sqlite3_db_handle(reader->rows)))
        return error_memory(error);
    double value = sqlite3_column_double(reader->rows, VALUE);
    TRY(read_moment_row(reader, error));
    if (sqlite3_column_type(reader->rows, VALUE) == SQLITE_NULL)
        return GPUT_OK;
    if (strcmp(device, "gpu") == 0)
        return energy_recording_add_gpu(reader->series, name,
            (const char *)sqlite3_column_text(reader->rows, GPU), value, error);
    if (strcmp(device, "cpu") != 0)
        return GPUT_OK;
    return recorded_series_set(reader->series, "cpu", name, NULL, value, error);
}

static int read_rows(struct sums_reader *reader, sqlite3 *database, struct gput_error *error)
{
    int result;
    while ((result = sqlite3_step(reader->rows)) == SQLITE_ROW)
        TRY(read_row(reader, error));
    return result == SQLITE_DONE ? GPUT_OK
                                 : sqlite_file_error(database, "read", reader->path, error);
}

static int read_database(
    struct energy_record *record, const char *path, sqlite3 *database, struct gput_error *error)
{
    struct recorded_series *series = &record->series[RECORDED_POWER];
    struct sums_reader reader = {.series = series, .path = path};
    /* after what was recorded in the other format */
    if (series->count > 0)
        reader.segment = series->segments[series->count - 1];
    bool has_table;
    TRY(sqlite_file_find_table(database, table_name, &has_table, error));
    if (!has_table)
        return error_set(error, GPUT_ERROR_FORMAT, "%s has no table \"%s\".", path, table_name);
    TRY(sqlite_file_prepare(database, sums, path, &reader.rows, error));
    int code = read_rows(&reader, database, error);
    sqlite3_finalize(reader.rows);
    return code;
}

int energy_recording_read_sqlite(
    struct energy_record *record, bool *found, struct gput_error *error)
{
    struct str path = {0};
    sqlite3 *database;
    str_printf(&path, "%s/%s", record->folder, energy_recording_sqlite.file_name);
    if (path.failed)
        return error_memory(error);
    int code = sqlite_file_open(path.data, &database, error);
    *found = code != GPUT_ERROR_NOT_FOUND;
    if (code == GPUT_OK) {
        code = read_database(record, path.data, database, error);
        sqlite3_close(database);
    }
    str_finish(&path);
    return *found ? code : GPUT_OK;
}
