#include "files/power/energy_recording.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "files/power/recording_date.h"
#include "files/sqlite_file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Maximum size of the small JSON files. */
#define MAX_JSON_BYTES ((size_t)64 << 20)
/* More than a year of one reading a second. */
#define MAX_WATTMETER_BYTES ((size_t)1 << 30)

/* Writes the path of a file of the folder. */
static int path_of(const struct energy_record *record, const char *file, struct str *path,
    struct gput_error *error)
{
    str_printf(path, "%s/%s", record->folder, file);
    return path->failed ? error_memory(error) : GPUT_OK;
}

/* ---- power_metrics.json: a JSON object a line, {"date": …, "metrics": {"cpu": {…}, "gpu": {…}}}
 * ---- */

struct line_reader {
    struct energy_record *record;
    const char *path;
    uint64_t number; /* number of the line */
    uint32_t segment;
    bool segment_has_lines;
};

/* Ends the segment, if it has lines. */
static void end_segment(struct line_reader *reader)
{
    reader->segment += reader->segment_has_lines;
    reader->segment_has_lines = false;
}

/* Returns a value as a number: itself, or the sum of the numbers inside it; NaN: there is none. */
static double value_of(const struct doc *value)
{
    if (value->kind != DOC_OBJECT && value->kind != DOC_ARRAY)
        return doc_number(value);
    if (value->kind == DOC_OBJECT && value->count == 0)
        return 0; /* the sum is 0 if there are no processes */
    double sum = NAN;
    for (const struct doc *child = value->first; child; child = child->next)
        number_add_known(&sum, doc_number(child));
    return sum;
}

/* Returns the first metric of "cpu" or "gpu". */
static const struct doc *metrics_of(const struct doc *metrics, const char *group)
{
    const struct doc *values = metrics ? doc_get(metrics, group) : NULL;
    return values && values->kind == DOC_OBJECT ? values->first : NULL;
}

/* Adds a parsed line: a moment, or the end of a segment. */
static int add_line(struct line_reader *reader, const struct doc *line, struct gput_error *error)
{
    int64_t time_us;
    if (line->kind == DOC_STRING && strcmp(line->string, ENERGY_RECORDING_SEGMENT_END) == 0) {
        end_segment(reader);
        return GPUT_OK;
    }
    const struct doc *date = line->kind == DOC_OBJECT ? doc_get(line, "date") : NULL;
    if (!date || date->kind != DOC_STRING || !recording_date_parse(date->string, &time_us))
        return error_set(error, GPUT_ERROR_FORMAT, "%s: line %llu has no date.", reader->path,
            (unsigned long long)reader->number);
    /* Add the moment of the line. AIPowerMeter, whose lines have temperatures, too, writes how busy
     * GPUs are in percent; here it is 0 to 1. */
    const struct doc *metrics = doc_get(line, "metrics");
    struct recorded_series *series = &reader->record->series[RECORDED_POWER];
    bool has_percents = metrics && doc_get(metrics, "temperature");
    TRY(recorded_series_add(series, time_us, reader->segment, error));
    reader->segment_has_lines = true;
    for (const struct doc *value = metrics_of(metrics, "cpu"); value; value = value->next)
        TRY(recorded_series_set(series, "cpu", value->key, value_of(value), error));
    for (const struct doc *value = metrics_of(metrics, "gpu"); value; value = value->next) {
        double unit = has_percents && text_ends_with(value->key, "nvidia_use_rate") ? 0.01 : 1;
        if (value->kind != DOC_OBJECT)
            TRY(recorded_series_set_gpu(series, value->key, NULL, unit * value_of(value), error));
        for (const struct doc *gpu = value->first; gpu; gpu = gpu->next) {
            if (value->kind == DOC_OBJECT)
                TRY(recorded_series_set_gpu(
                    series, value->key, gpu->key, unit * value_of(gpu), error));
        }
    }
    return GPUT_OK;
}

/* Reads a line. If it begins like a line but is not JSON, it was truncated: it is the last one, or
 * the recording was continued after a kill. The segment then ends. */
static int read_line(
    struct line_reader *reader, const char *text, size_t length, struct gput_error *error)
{
    static const char segment_end[] = "\"" ENERGY_RECORDING_SEGMENT_END "\"";
    struct doc *line;
    char name[64];
    if (text[strspn(text, " \t\r\n")] == '\0')
        return GPUT_OK;
    snprintf(name, sizeof name, "line %llu", (unsigned long long)reader->number);
    int code = doc_read_python_json(text, length, name, &line, error);
    if (code == GPUT_OK) {
        code = add_line(reader, line, error);
        doc_destroy(line);
        return code;
    }
    if (code != GPUT_ERROR_FORMAT)
        return code;

    bool begins_as_line = text[0] == '{' || strncmp(text, segment_end, strcspn(text, "\r\n")) == 0;
    bool is_whole = length >= 2 && text[length - 2] == '}';
    if (!begins_as_line)
        return error_set(error, GPUT_ERROR_FORMAT, "%s: line %llu is not JSON.", reader->path,
            (unsigned long long)reader->number);
    energy_record_warn(reader->record, "%.120s: line %llu is %s and was skipped.", reader->path,
        (unsigned long long)reader->number, is_whole ? "not JSON" : "truncated");
    end_segment(reader);
    return GPUT_OK;
}

/* Reads power_metrics.json. `*found` tells whether the file exists, as in the readers below. */
static int read_json(struct energy_record *record, bool *found, struct gput_error *error)
{
    CLEANUP_STR struct str path = {0};
    CLEANUP_FD int fd = -1;
    *found = false;
    TRY(path_of(record, ENERGY_RECORDING_JSON, &path, error));
    int code = file_open_regular(path.data, &fd, error);
    if (code != GPUT_OK)
        return code == GPUT_ERROR_NOT_FOUND ? GPUT_OK : code;
    CLEANUP_FILE FILE *file = fdopen(fd, "r");
    if (!file)
        return error_set_errno(error, errno, "Cannot read %s", path.data);
    STEAL_FD(fd);
    *found = true;

    struct line_reader reader = {.record = record, .path = path.data};
    CLEANUP_FREE char *text = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&text, &capacity, file)) >= 0) {
        reader.number++;
        TRY(read_line(&reader, text, (size_t)length, error));
    }
    /* If memory ran out, ferror() is not set. */
    return feof(file) ? GPUT_OK : error_set_errno(error, errno, "Cannot read %s", path.data);
}

/* ---- power_metrics.sqlite ---- */

/* One row for each metric, and for each GPU of GPU metrics, in order of time. */
static const char sums[] =
    "SELECT segment, date, device, name, CASE device WHEN 'gpu' THEN key END AS gpu, sum(value) "
    "FROM power_metrics GROUP BY segment, date, device, name, gpu "
    "ORDER BY segment, date, min(rowid)";

enum { SEGMENT, DATE, DEVICE, NAME, GPU, VALUE };

struct sums_reader {
    struct recorded_series *series;
    const char *path;
    sqlite3_stmt *rows;
    uint32_t segment;     /* segment in the series */
    int64_t file_segment; /* its number in the file */
    int64_t time_us;
    bool has_moment;
};

static const char *text_at(const struct sums_reader *reader, int column)
{
    const char *text = (const char *)sqlite3_column_text(reader->rows, column);
    return text ? text : "";
}

/* Starts a new moment when the row's date differs from the previous one. */
static int read_date_of_row(struct sums_reader *reader, struct gput_error *error)
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

/* Reads a row: a date and a number of a metric. */
static int read_row(struct sums_reader *reader, struct gput_error *error)
{
    const char *device = text_at(reader, DEVICE), *name = text_at(reader, NAME);
    if (sqlite_file_lacks_memory(sqlite3_db_handle(reader->rows)))
        return error_memory(error);
    double value = sqlite3_column_double(reader->rows, VALUE);
    TRY(read_date_of_row(reader, error));
    if (sqlite3_column_type(reader->rows, VALUE) == SQLITE_NULL)
        return GPUT_OK;
    if (strcmp(device, "gpu") == 0)
        return recorded_series_set_gpu(reader->series, name,
            (const char *)sqlite3_column_text(reader->rows, GPU), value, error);
    if (strcmp(device, "cpu") != 0)
        return GPUT_OK;
    return recorded_series_set(reader->series, "cpu", name, value, error);
}

/* Reads power_metrics.sqlite. Its segments follow those of the JSON file in the folder. */
static int read_sqlite(struct energy_record *record, bool *found, struct gput_error *error)
{
    struct recorded_series *series = &record->series[RECORDED_POWER];
    struct sums_reader reader = {.series = series};
    CLEANUP_STR struct str path = {0};
    sqlite3 *database;
    bool has_table = false;
    TRY(path_of(record, ENERGY_RECORDING_SQLITE, &path, error));
    reader.path = path.data;
    if (series->count > 0)
        reader.segment = series->segments[series->count - 1];
    int code = sqlite_file_open(path.data, &database, error);
    *found = code != GPUT_ERROR_NOT_FOUND;
    if (code != GPUT_OK)
        return *found ? code : GPUT_OK;

    code = sqlite_file_find_table(database, "power_metrics", &has_table, error);
    if (code == GPUT_OK && !has_table)
        code = error_set(error, GPUT_ERROR_FORMAT, "%s has no table \"power_metrics\".", path.data);
    if (code == GPUT_OK)
        code = sqlite_file_prepare(database, sums, path.data, &reader.rows, error);
    int result;
    while (code == GPUT_OK && (result = sqlite3_step(reader.rows)) != SQLITE_DONE)
        code = result == SQLITE_ROW ? read_row(&reader, error)
                                    : sqlite_file_error(database, "read", path.data, error);
    sqlite3_finalize(reader.rows);
    sqlite3_close(database);
    return code;
}

/*
 * ---- results_exp.json: results of an experiment by epoch ----
 *
 * Several forms are read:
 *
 *     [{"epoch": 1, "accuracy": 0.8, "end_training_epoch": DATE}, …]
 *     {"1": {"accuracy": 0.8, "end_training_epoch": DATE}, …}
 *     {"accuracy": [0.8, …], "end_training_epoch": [DATE, …]}
 *     {"accuracy": {"dates": [DATE, …], "values": [0.8, …]}, …}
 *
 * A DATE is one as in power_metrics.json, or seconds since the epoch.
 */

static const char date_key[] = "end_training_epoch";

/* Converts seconds since the epoch. Returns false if they are out of range. */
static bool date_of_seconds(double seconds, int64_t *time_us)
{
    if (!(fabs(seconds) < 9e9))
        return false;
    *time_us = recording_date_of_epoch_ns((int64_t)llround(seconds * 1e6) * 1000);
    return true;
}

/* Reads a DATE. Returns false if it is none. */
static bool read_date(const struct doc *value, int64_t *time_us)
{
    if (value && value->kind == DOC_STRING)
        return recording_date_parse(value->string, time_us);
    return value && date_of_seconds(doc_number(value), time_us);
}

/* Adds the row of an epoch. */
static int add_epoch(
    struct recorded_series *series, const struct doc *epoch, struct gput_error *error)
{
    int64_t time_us;
    if (epoch->kind != DOC_OBJECT || !read_date(doc_get(epoch, date_key), &time_us))
        return GPUT_OK;
    TRY(recorded_series_add(series, time_us, 0, error));
    for (const struct doc *value = epoch->first; value; value = value->next) {
        if (strcmp(value->key, date_key) != 0)
            TRY(recorded_series_set(series, "experiment", value->key, doc_number(value), error));
    }
    return GPUT_OK;
}

/* Adds columns that are lists, row by row; rows without a date are skipped. */
static int add_columns(
    struct recorded_series *series, const struct doc *columns, struct gput_error *error)
{
    const struct doc *dates = doc_get(columns, date_key);
    CLEANUP_FREE const struct doc **items = calloc(columns->count, sizeof *items);
    if (!items)
        return error_memory(error);
    size_t i = 0;
    for (const struct doc *column = columns->first; column; column = column->next, i++)
        items[i] = column->kind == DOC_ARRAY && column != dates ? column->first : NULL;

    for (const struct doc *date = dates->first; date; date = date->next) {
        int64_t time_us;
        bool has_date = read_date(date, &time_us);
        if (has_date)
            TRY(recorded_series_add(series, time_us, 0, error));
        i = 0;
        for (const struct doc *column = columns->first; column; column = column->next, i++) {
            if (has_date)
                TRY(recorded_series_set(
                    series, "experiment", column->key, doc_number(items[i]), error));
            items[i] = items[i] ? items[i]->next : NULL;
        }
    }
    return GPUT_OK;
}

/* Adds a curve with its own dates, as a segment. */
static int add_curve(struct recorded_series *series, const struct doc *curve, uint32_t segment,
    struct gput_error *error)
{
    const struct doc *dates = doc_get(curve, "dates"), *values = doc_get(curve, "values");
    const struct doc *value = values && values->kind == DOC_ARRAY ? values->first : NULL;
    const struct doc *date = dates && dates->kind == DOC_ARRAY ? dates->first : NULL;
    int64_t time_us;
    for (; date && value; date = date->next, value = value->next) {
        double number = doc_number(value);
        if (!read_date(date, &time_us) || isnan(number))
            continue;
        TRY(recorded_series_add(series, time_us, segment, error));
        TRY(recorded_series_set(series, "experiment", curve->key, number, error));
    }
    return GPUT_OK;
}

/* Reads results in any of the forms. */
static int read_experiment(struct energy_record *record, struct gput_error *error)
{
    struct recorded_series *series = &record->series[RECORDED_EXPERIMENT];
    const struct doc *root = record->experiment;
    bool is_object = root->kind == DOC_OBJECT;
    const struct doc *dates = is_object ? doc_get(root, date_key) : NULL;
    if (dates && dates->kind == DOC_ARRAY)
        return add_columns(series, root, error);
    if (!is_object && root->kind != DOC_ARRAY)
        return GPUT_OK;
    uint32_t segment = 0;
    for (const struct doc *child = root->first; child; child = child->next) {
        if (!is_object || (child->kind == DOC_OBJECT && doc_get(child, date_key)))
            TRY(add_epoch(series, child, error));
        else if (child->kind == DOC_OBJECT)
            TRY(add_curve(series, child, segment++, error));
    }
    return GPUT_OK;
}

/*
 * ---- omegawatt.csv: an external wattmeter ----
 *
 * The second line is the header: #timestamp, #frame_is_ok, readings in watts. Rows whose frame is
 * not ok are skipped, as is a truncated last row.
 */

#define MAX_COLUMNS 64

struct wattmeter_table {
    char *columns[MAX_COLUMNS];
    size_t count;
    size_t time, ok; /* indexes of columns; `count`: missing */
    const char *separators;
};

/* Splits a line in place at any of `separators`, and removes blanks around the cells. */
static size_t split(char *line, const char *separators, char *cells[MAX_COLUMNS])
{
    size_t count = 0;
    bool blanks = strchr(separators, ' ') != NULL;
    for (char *at = line; at && count < MAX_COLUMNS;) {
        char *next = at + strcspn(at, separators);
        bool last = *next == '\0';
        *next = '\0';
        while (isspace((unsigned char)*at))
            at++;
        for (char *end = at + strlen(at); end > at && isspace((unsigned char)end[-1]);)
            *--end = '\0';
        if (*at || !blanks)
            cells[count++] = at;
        at = last ? NULL : next + 1;
    }
    return count;
}

/* Finds the columns, and the character that separates them. */
static void read_header(struct wattmeter_table *table, char *line)
{
    table->separators = strchr(line, ';')    ? ";"
                        : strchr(line, ',')  ? ","
                        : strchr(line, '\t') ? "\t"
                                             : " ";
    table->count = split(line, table->separators, table->columns);
    table->time = table->ok = table->count;
    for (size_t i = table->count; i-- > 0;) {
        table->columns[i] += table->columns[i][0] == '#';
        if (strcmp(table->columns[i], "timestamp") == 0)
            table->time = i;
        if (strcmp(table->columns[i], "frame_is_ok") == 0)
            table->ok = i;
    }
}

static bool parse_number(const char *text, double *number)
{
    const char *end = text + strlen(text);
    return *text && number_parse_double(text, end, number) == end;
}

static bool parse_time(const char *text, int64_t *time_us)
{
    double seconds;
    if (recording_date_parse(text, time_us))
        return true;
    return parse_number(text, &seconds) && date_of_seconds(seconds, time_us);
}

/* Adds a row of readings, unless its frame is not ok. */
static int add_reading(struct recorded_series *series, const struct wattmeter_table *table,
    char *line, struct gput_error *error)
{
    char *cells[MAX_COLUMNS];
    int64_t time_us;
    double number;
    size_t count = split(line, table->separators, cells);
    if (count < table->count || !parse_time(cells[table->time], &time_us))
        return GPUT_OK;
    const char *ok = table->ok < table->count ? cells[table->ok] : "1";
    if (parse_number(ok, &number) ? number == 0 : tolower((unsigned char)*ok) != 't')
        return GPUT_OK;
    TRY(recorded_series_add(series, time_us, 0, error));
    for (size_t i = 0; i < table->count; i++) {
        if (i != table->time && i != table->ok && parse_number(cells[i], &number))
            TRY(recorded_series_set(series, "wattmeter", table->columns[i], number, error));
    }
    return GPUT_OK;
}

/* Reads the wattmeter's file, if the folder has one. */
static int read_wattmeter(struct energy_record *record, bool *found, struct gput_error *error)
{
    CLEANUP_STR struct str path = {0}, content = {0};
    TRY(path_of(record, "omegawatt.csv", &path, error));
    int code = file_read_regular(path.data, MAX_WATTMETER_BYTES, &content, error);
    *found = code == GPUT_OK;
    if (code != GPUT_OK)
        return code == GPUT_ERROR_NOT_FOUND ? GPUT_OK : code;

    struct wattmeter_table table = {.count = 0};
    char *line = content.length > 0 ? content.data : NULL;
    for (unsigned number = 1; line; number++) {
        char *end = strchr(line, '\n');
        if (!end && number > 2) { /* a truncated last row */
            if (*line)
                energy_record_warn(record,
                    "%.120s/omegawatt.csv: the last line is truncated and was skipped.",
                    record->folder);
            return GPUT_OK;
        }
        if (end)
            *end = '\0';
        if (number == 2) {
            read_header(&table, line);
            if (table.time == table.count)
                return error_set(error, GPUT_ERROR_FORMAT,
                    "%s/omegawatt.csv: its second line is not a header with a timestamp.",
                    record->folder);
        } else if (number > 2) {
            TRY(add_reading(&record->series[RECORDED_WATTMETER], &table, line, error));
        }
        line = end ? end + 1 : NULL;
    }
    return GPUT_OK;
}

/* ---- The folder ---- */

/* Reads a small file of one JSON value. `*doc` stays NULL when there is none; errors except running
 * out of memory become warnings. */
static int read_doc(
    struct energy_record *record, const char *file, struct doc **doc, struct gput_error *error)
{
    CLEANUP_STR struct str path = {0}, content = {0};
    struct gput_error reason;
    TRY(path_of(record, file, &path, error));
    int code = file_read_regular(path.data, MAX_JSON_BYTES, &content, &reason);
    if (code == GPUT_ERROR_NOT_FOUND)
        return GPUT_OK;
    if (code == GPUT_OK)
        code = doc_read_python_json(content.data, content.length, path.data, doc, &reason);
    if (code == GPUT_ERROR_MEMORY)
        return error_copy(error, &reason);
    if (code != GPUT_OK)
        energy_record_warn(record, "%.200s", reason.message);
    return GPUT_OK;
}

/* Reads all files of the folder. */
static int read_folder(struct energy_record *record, struct gput_error *error)
{
    bool has_json, has_sqlite, has_wattmeter;
    struct stat status;
    if (stat(record->folder, &status) != 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "There is no folder %s.", record->folder);
    if (!S_ISDIR(status.st_mode))
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "%s is a file: name the folder of a recording of power.", record->folder);
    TRY(read_json(record, &has_json, error));
    TRY(read_sqlite(record, &has_sqlite, error));
    TRY(read_wattmeter(record, &has_wattmeter, error));
    if (!has_json && !has_sqlite && !has_wattmeter)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "There is no recording of power in %s: no power_metrics.json or .sqlite, and no "
            "omegawatt.csv.",
            record->folder);
    TRY(read_doc(record, "metadata.json", &record->metadata, error));
    TRY(read_doc(record, "model_summary.json", &record->model, error));
    TRY(read_doc(record, "results_exp.json", &record->experiment, error));
    return record->experiment ? read_experiment(record, error) : GPUT_OK;
}

int energy_recording_read(
    const char *folder, struct energy_record **result, struct gput_error *error)
{
    *result = NULL;
    struct energy_record *record = energy_record_create(folder);
    if (!record)
        return error_memory(error);
    int code = read_folder(record, error);
    if (code != GPUT_OK) {
        energy_record_destroy(record);
        return code;
    }
    size_t n_implausible = 0;
    for (int i = 0; i < RECORDED_SERIES; i++)
        n_implausible += record->series[i].n_implausible;
    if (n_implausible > 0)
        energy_record_warn(record,
            "%.120s: %zu power%s below 0 W or above 100 kW %s not plausible, and left out.", folder,
            n_implausible, n_implausible == 1 ? "" : "s", n_implausible == 1 ? "is" : "are");
    energy_record_end_warnings(record);
    *result = record;
    return GPUT_OK;
}
