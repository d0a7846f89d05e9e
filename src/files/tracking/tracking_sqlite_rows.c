#include "files/tracking/tracking_sqlite_rows.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/ordered_jobs.h"
#include "base/str.h"
#include "files/sqlite_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Row ids of a range: some 0.2 MB of rows. */
#define RANGE_IDS 1024
/* Row ids of a thread, at least: some 3 ms of work, where opening its connection takes 0.1 to 0.2.
 */
#define MIN_IDS (4 * RANGE_IDS)
/* No row is smaller, so a file that has less for each row id has gaps between them. */
#define MIN_ROW_BYTES 8
#define WAITING_RANGES 2
#define TAKE_ROW "gput_take_row"

/* ---- a row ---- */

/* Reads a cell, also a text that is a number. Returns false where it is none, or not a possible
 * one. */
static bool read_cell(sqlite3_value *cell, int place, double *values)
{
    int type = sqlite3_value_type(cell);
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        values[place] = sqlite3_value_double(cell);
    } else if (type != SQLITE_NULL) {
        const char *text = (const char *)sqlite3_value_text(cell);
        const char *end = text ? text + sqlite3_value_bytes(cell) : NULL;
        if (!text || number_parse_double(text, end, &values[place]) != end)
            return false;
    }
    return tracking_value_is_possible(place, values[place]);
}

int sqlite_columns_read(
    const struct sqlite_columns *columns, sqlite3_stmt *statement, double *values)
{
    for (size_t i = 0; i < TRACKING_VALUES; i++)
        values[i] = NAN;
    for (size_t i = 0; i < columns->count; i++) {
        int column = columns->all[i];
        if (column >= 0 && !read_cell(sqlite3_column_value(statement, (int)i), column, values))
            return (int)i;
    }
    return -1;
}

/* ---- ranges ---- */

struct connection {
    sqlite3 *database;
    sqlite3_stmt *rows;
    const struct sqlite_columns *columns;
    double values[TRACKING_VALUES]; /* of the row at which `rows` is */
    bool is_plain;                  /* they are numbers, with a timestamp */
};

struct sqlite_ranges {
    const struct sqlite_columns *columns;
    struct connection *connections; /* by thread */
    unsigned n_connections;
    struct ordered_jobs *jobs;
    int64_t next_id, last_id;  /* of what is given to threads */
    const struct range *taken; /* whose rows are being given; NULL: none */
    size_t n_given;            /* of these */
    int64_t after;             /* row id after the rows that were given */
    bool have_ended;
};

struct range {
    struct sqlite_ranges *ranges;
    int64_t first, last; /* row ids */
    int64_t after;       /* row id after the rows that were read */
    size_t count;
    struct tracking_row rows[RANGE_IDS];
};

/*
 * A function of SQL over the known columns, in their order: SQLite has already read their values
 * when it calls one. Asking for each after a row was found takes half as long again as finding it.
 */
static void take_row(sqlite3_context *context, int count, sqlite3_value **cells)
{
    struct connection *connection = sqlite3_user_data(context);
    const struct sqlite_columns *columns = connection->columns;
    double *values = connection->values;
    int taken = 0;
    for (size_t i = 0; i < TRACKING_VALUES; i++)
        values[i] = NAN;
    for (size_t i = 0; i < columns->count && taken < count; i++) {
        int column = columns->all[i];
        if (column >= 0 && !read_cell(cells[taken++], column, values))
            return;
    }
    connection->is_plain = !isnan(values[TRACKING_TIMESTAMP]);
}

/* Reads the rows of a range, until the first one that is not plain. A job of ordered_jobs. */
static void read_range(void *job, unsigned thread)
{
    struct range *range = job;
    struct connection *connection = range->ranges->connections + thread;
    sqlite3_stmt *statement = connection->rows;
    int result = SQLITE_DONE;
    range->count = 0;
    range->after = range->first;
    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, range->first);
    sqlite3_bind_int64(statement, 2, range->last);
    while (range->count < RANGE_IDS) {
        connection->is_plain = false;
        result = sqlite3_step(statement);
        if (result != SQLITE_ROW || !connection->is_plain)
            break;
        struct tracking_row *row = range->rows + range->count++;
        memcpy(row->values, connection->values, sizeof row->values);
        row->timestamp = connection->values[TRACKING_TIMESTAMP];
        range->after = sqlite3_column_int64(statement, 1) + 1;
    }
    if (result == SQLITE_DONE)
        range->after = range->last + 1;
    sqlite3_reset(statement);
}

static void finalize(sqlite3_stmt **statement)
{
    sqlite3_finalize(*statement);
}

static void finish_range(void *job)
{
    (void)job;
}

static const struct job_class range_class = {sizeof(struct range), read_range, finish_range};

/* Prepares the statement that gives the known columns to take_row(). Returns false where it cannot:
 * in a file with a column "rowid" row ids cannot be asked for by that name. */
static bool prepare_rows(struct connection *connection, const char *path)
{
    const struct sqlite_columns *columns = connection->columns;
    CLEANUP(finalize) sqlite3_stmt *all = NULL;
    CLEANUP_STR struct str sql = {0};
    if (sqlite_file_prepare(connection->database, "SELECT * FROM data", path, &all, NULL) !=
            GPUT_OK ||
        (size_t)sqlite3_column_count(all) != columns->count)
        return false;
    str_append(&sql, "SELECT " TAKE_ROW "(");
    for (size_t i = 0, taken = 0; i < columns->count; i++) {
        const char *name = sqlite3_column_name(all, (int)i);
        if (!name || sqlite3_stricmp(name, "rowid") == 0)
            return false;
        if (columns->all[i] < 0)
            continue;
        str_append(&sql, taken++ ? "," : "");
        sqlite_file_append_name(&sql, name);
    }
    str_append(&sql, "), rowid FROM data WHERE rowid BETWEEN ? AND ? ORDER BY rowid");
    return !sql.failed && sqlite_file_prepare(connection->database, sql.data, path,
                              &connection->rows, NULL) == GPUT_OK;
}

/* Opens a connection for each thread, with the function that takes rows. */
static bool open_connections(struct sqlite_ranges *ranges, const char *path, unsigned cores)
{
    /* Each page is read once: a large cache is of no use. */
    const char *begin = "PRAGMA cache_size = -256; BEGIN";
    ranges->connections = calloc(cores, sizeof *ranges->connections);
    if (!ranges->connections)
        return false;
    while (ranges->n_connections < cores) {
        struct connection *connection = ranges->connections + ranges->n_connections++;
        connection->columns = ranges->columns;
        if (sqlite_file_open(path, &connection->database, NULL) != GPUT_OK ||
            sqlite3_exec(connection->database, begin, NULL, NULL, NULL) != SQLITE_OK ||
            sqlite3_create_function(connection->database, TAKE_ROW, -1,
                SQLITE_UTF8 | SQLITE_DIRECTONLY, connection, take_row, NULL, NULL) != SQLITE_OK ||
            !prepare_rows(connection, path))
            return false;
    }
    return true;
}

struct sqlite_ranges *sqlite_ranges_create(
    const char *path, const struct sqlite_columns *columns, int64_t last, unsigned cores)
{
    struct stat info;
    if (last / MIN_IDS < cores)
        cores = last > 0 ? (unsigned)(last / MIN_IDS) : 0;
    if (cores < 1 || stat(path, &info) != 0 || info.st_size / MIN_ROW_BYTES < last ||
        (cores > 1 && !sqlite3_threadsafe()))
        return NULL;
    struct sqlite_ranges *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->columns = columns;
    made->last_id = last;
    made->next_id = INT64_MIN;
    if (open_connections(made, path, cores) &&
        ordered_jobs_create(cores, WAITING_RANGES, &range_class, &made->jobs, NULL) == GPUT_OK)
        return made;
    sqlite_ranges_destroy(made);
    return NULL;
}

size_t sqlite_ranges_take(
    struct sqlite_ranges *ranges, struct tracking_row *rows, size_t capacity, int64_t *next)
{
    size_t count = 0;
    while (count < capacity) {
        if (!ranges->taken) {
            /* Give ranges to threads as long as there is space. The first one begins at the lowest
             * row id that there can be. */
            struct range *range;
            while (
                ranges->next_id <= ranges->last_id && (range = ordered_jobs_space(ranges->jobs))) {
                int64_t first = ranges->next_id > 0 ? ranges->next_id : 1;
                bool is_last = ranges->last_id - first < RANGE_IDS;
                range->ranges = ranges;
                range->first = ranges->next_id;
                range->last = is_last ? ranges->last_id : first + RANGE_IDS - 1;
                ranges->next_id = range->last + 1;
                ordered_jobs_give(ranges->jobs);
            }
            ranges->taken = ranges->have_ended ? NULL : ordered_jobs_take(ranges->jobs);
            ranges->n_given = 0;
        }
        const struct range *range = ranges->taken;
        if (!range)
            break;
        size_t left = range->count - ranges->n_given, space = capacity - count;
        size_t given = left < space ? left : space;
        memcpy(rows + count, range->rows + ranges->n_given, given * sizeof *rows);
        count += given;
        ranges->n_given += given;
        if (ranges->n_given == range->count) {
            ranges->after = range->after;
            ranges->have_ended = range->after <= range->last;
            ranges->taken = NULL;
            ordered_jobs_release(ranges->jobs);
        }
    }
    *next = ranges->after;
    return count;
}

void sqlite_ranges_destroy(struct sqlite_ranges *ranges)
{
    if (!ranges)
        return;
    ordered_jobs_destroy(ranges->jobs);
    for (unsigned i = 0; i < ranges->n_connections; i++) {
        sqlite3_finalize(ranges->connections[i].rows);
        sqlite3_close(ranges->connections[i].database);
    }
    free(ranges->connections);
    free(ranges);
}
