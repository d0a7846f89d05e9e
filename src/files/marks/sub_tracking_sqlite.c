#include "files/marks/sub_tracking_format.h"
#include "files/sqlite_file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sqlite_reader {
    struct sub_tracking_reader base;
    sqlite3 *database;
    sqlite3_stmt *select;
    int fields[SUB_TRACKING_COLUMN_COUNT]; /* index of each column in the statement, or -1 */
    int rowid_field;                       /* index of the row's number, or -1 */
    int64_t rowid;                         /* number of the last row; usually 1 or more */
    unsigned skips;                        /* damaged places skipped so far */
    bool at_end;
    uint64_t rows;
    uint64_t rows_total; /* estimated */
};

/* ---- The reader ---- */

/* Returns the number that a statement selects; `otherwise` where it fails. */
static int64_t select_number(sqlite3 *database, const char *sql, int64_t otherwise)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = otherwise;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/* Opens the file. The remaining pages of a truncated file are read. */
static int open_database(struct sqlite_reader *reader, struct gput_error *error)
{
    const char *path = reader->base.path;
    struct salvage *salvage = &reader->base.salvage;
    struct gput_error damage;
    int code = sqlite_file_open(path, &reader->database, &damage);
    if (code == GPUT_OK)
        return GPUT_OK;
    if (code != GPUT_ERROR_FORMAT)
        return error_copy(error, &damage);
    TRY(sqlite_file_salvage(path, &reader->database, error));
    salvage->wanted = true;
    salvage_gap(salvage, &damage);
    return GPUT_OK;
}

/* Selects all rows, and the row's number, by which damage is skipped; a view has none. */
static int prepare_select(struct sqlite_reader *reader, struct gput_error *error)
{
    const char *path = reader->base.path;
    reader->rowid_field = -1;
    if (sqlite3_prepare_v2(reader->database,
            "SELECT *, _rowid_ FROM data WHERE _rowid_ > ?1 ORDER BY _rowid_", -1, &reader->select,
            NULL) == SQLITE_OK) {
        reader->rowid_field = sqlite3_column_count(reader->select) - 1;
        sqlite3_bind_int64(reader->select, 1, INT64_MIN);
        return GPUT_OK;
    }
    sqlite3_finalize(reader->select);
    return sqlite_file_prepare(
        reader->database, "SELECT * FROM data", path, &reader->select, error);
}

/* Opens the database and selects its rows. */
static int sqlite_open(struct sub_tracking_reader *base, struct gput_error *error)
{
    struct sqlite_reader *reader = (struct sqlite_reader *)base;
    TRY(open_database(reader, error));
    sqlite3_busy_timeout(reader->database, 10000);
    int64_t n_tables = select_number(reader->database, "SELECT count(*) FROM sqlite_master", -1);
    if (n_tables != 0 && sqlite_file_lacks_memory(reader->database))
        return error_memory(error);
    reader->at_end = n_tables == 0; /* without any commit */
    if (reader->at_end) {
        sub_tracking_warn_of_no_marks(base);
        return GPUT_OK;
    }
    bool has_data;
    TRY(sqlite_file_find_table(reader->database, "data", &has_data, error));
    if (!has_data)
        return sub_tracking_invalid(base, error, "it has no table \"data\".");
    TRY(prepare_select(reader, error));
    /* Find the columns of the table by their names; the first of each name counts. */
    unsigned have = 0;
    for (unsigned i = 0; i < SUB_TRACKING_COLUMN_COUNT; i++)
        reader->fields[i] = -1;
    int count = sqlite3_column_count(reader->select);
    for (int i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(reader->select, i);
        if (!name)
            return error_memory(error);
        enum sub_tracking_column column = sub_tracking_column_find(name, strlen(name));
        if (column == SUB_TRACKING_OTHER_COLUMN || have & 1u << column)
            continue;
        reader->fields[column] = i;
        have |= 1u << column;
        reader->base.columns |= sub_tracking_column_bit(column);
    }
    TRY(sub_tracking_require_columns(&reader->base, have, error));
    /* For progress only: rows are rarely deleted from such tables. */
    reader->rows_total =
        (uint64_t)select_number(reader->database, "SELECT max(rowid) FROM data", 0);
    return GPUT_OK;
}

/* Reads an integer, also where it is stored as a float. */
static bool whole(sqlite3_stmt *select, int field, int64_t *value)
{
    int type = sqlite3_column_type(select, field);
    if (type == SQLITE_INTEGER) {
        *value = sqlite3_column_int64(select, field);
        return true;
    }
    double number = type == SQLITE_FLOAT ? sqlite3_column_double(select, field) : NAN;
    if (!(fabs(number) < 9e15) || number != trunc(number))
        return false;
    *value = (int64_t)number;
    return true;
}

/* Reads the name of a row's block. False: it has none, or memory ran out. */
static bool read_name(struct sqlite_reader *reader, struct sub_tracking_mark *row)
{
    int field = reader->fields[SUB_TRACKING_NAME];
    const char *name = (const char *)sqlite3_column_text(reader->select, field);
    if (!name)
        return false;
    row->name = sub_tracking_names_add(
        reader->base.names, name, (size_t)sqlite3_column_bytes(reader->select, field));
    return row->name != SUB_TRACKING_NO_NAME;
}

/* Reads the time, a double of seconds. */
static bool read_time(struct sqlite_reader *reader, struct sub_tracking_mark *row)
{
    int field = reader->fields[SUB_TRACKING_TIMESTAMP];
    int type = sqlite3_column_type(reader->select, field);
    row->timestamp = sqlite3_column_double(reader->select, field);
    return (type == SQLITE_FLOAT || type == SQLITE_INTEGER) &&
           sub_tracking_ns_of_seconds(row->timestamp, &row->timestamp_ns);
}

/* Reads the optional columns; each is unknown where it is NULL. */
static bool read_figures(struct sqlite_reader *reader, struct sub_tracking_mark *row)
{
    sub_tracking_mark_clear_figures(row);
    if (!reader->base.columns)
        return true;
    for (unsigned i = SUB_TRACKING_REQUIRED_COLUMNS; i < SUB_TRACKING_COLUMN_COUNT; i++) {
        int field = reader->fields[i];
        if (field >= 0 && sqlite3_column_type(reader->select, field) != SQLITE_NULL &&
            !whole(reader->select, field, sub_tracking_column_figure(row, i)))
            return false;
    }
    /* the start was also read from a double */
    return row->started_ns == SUB_TRACKING_UNKNOWN ||
           sub_tracking_ns_of_seconds(
               sub_tracking_seconds_of_ns(row->started_ns), &row->started_ns);
}

/* Reads a row, or says what is wrong with it. */
static int read_row(
    struct sqlite_reader *reader, struct sub_tracking_mark *row, struct gput_error *error)
{
    int64_t position = -1;
    const char *wrong = NULL;
    if (!whole(reader->select, reader->fields[SUB_TRACKING_PROCESS_ID], &row->process_id))
        wrong = "process_id is not a whole number";
    else if (!read_name(reader, row))
        wrong = "code_block_name is missing";
    else if (!whole(reader->select, reader->fields[SUB_TRACKING_POSITION], &position) ||
             position < SUB_TRACKING_START || position > SUB_TRACKING_STOP)
        wrong = "position is neither 0 (start) nor 1 (stop)";
    else if (!read_time(reader, row))
        wrong = "timestamp is not a time in seconds since the epoch";
    else if (!read_figures(reader, row))
        wrong = "a figure is not a whole number";
    if (wrong &&
        (sub_tracking_names_lack(reader->base.names) || sqlite_file_lacks_memory(reader->database)))
        return error_memory(error);
    if (wrong)
        return sub_tracking_invalid(
            &reader->base, error, "row %" PRIu64 ": its %s.", reader->rows, wrong);
    row->position = (uint8_t)position;
    return GPUT_OK;
}

/* ---- Damage ---- */

/* True where damage is to be skipped. A whole file with other content is refused instead. */
static bool may_skip(struct sqlite_reader *reader, int code)
{
    struct salvage *salvage = &reader->base.salvage;
    if (code == GPUT_ERROR_FORMAT && !salvage->wanted)
        salvage->wanted = sqlite_file_is_damaged(reader->database);
    return code == GPUT_ERROR_FORMAT && salvage->wanted;
}

static void read_after(struct sqlite_reader *reader, int64_t rowid)
{
    sqlite3_reset(reader->select);
    sqlite3_bind_int64(reader->select, 1, rowid);
}

static bool can_read_after(struct sqlite_reader *reader, int64_t rowid)
{
    read_after(reader, rowid);
    int result = sqlite3_step(reader->select);
    return result == SQLITE_ROW || result == SQLITE_DONE;
}

#define MAX_SKIPPED_ROWS (INT64_C(1) << 40)
/* Maximum number of skips, so that reading a damaged file ends. */
#define MAX_SKIPS 1000

/* Goes to the next row that can be read, or to the end; false: there is none. */
static bool skip_damage(struct sqlite_reader *reader)
{
    int64_t bad = reader->rowid, good = bad;
    if (reader->rowid_field < 0 || bad > INT64_MAX - 2 * MAX_SKIPPED_ROWS ||
        ++reader->skips > MAX_SKIPS)
        return false;
    for (int64_t skipped = 1; good == bad; skipped *= 2) {
        if (skipped > MAX_SKIPPED_ROWS)
            return false;
        if (can_read_after(reader, reader->rowid + skipped))
            good = reader->rowid + skipped;
        else
            bad = good = reader->rowid + skipped;
    }
    while (good - bad > 1) {
        int64_t middle = bad + (good - bad) / 2;
        if (can_read_after(reader, middle))
            good = middle;
        else
            bad = middle;
    }
    reader->rowid = good;
    read_after(reader, good);
    return true;
}

/* Rows are read in the order of their numbers; others are leftovers in a damaged page. */
static int take_number(struct sqlite_reader *reader, struct gput_error *error)
{
    if (reader->rowid_field < 0)
        return GPUT_OK;
    int64_t number = sqlite3_column_int64(reader->select, reader->rowid_field);
    if (number <= reader->rowid && reader->rows > 1)
        return sub_tracking_invalid(&reader->base, error,
            "row %" PRIu64 ": its number is not above the one before it.", reader->rows);
    reader->rowid = number;
    return GPUT_OK;
}

/* Reads the next rows. Damage is skipped, where that is wanted or the file is truncated. */
static int sqlite_next(struct sub_tracking_reader *base, struct sub_tracking_mark *rows,
    size_t capacity, size_t *count, struct gput_error *error)
{
    struct sqlite_reader *reader = (struct sqlite_reader *)base;
    while (*count < capacity && !reader->at_end) {
        int step = sqlite3_step(reader->select);
        if (step == SQLITE_DONE) {
            reader->at_end = true;
            break;
        }
        if (step != SQLITE_ROW) {
            struct gput_error damage;
            int failure = sqlite_file_error(reader->database, "read", base->path, &damage);
            if (!may_skip(reader, failure))
                return error_copy(error, &damage);
            salvage_gap(&base->salvage, &damage);
            reader->at_end = !skip_damage(reader);
            continue;
        }
        reader->rows++;
        struct gput_error wrong;
        int code = take_number(reader, &wrong);
        if (code == GPUT_OK)
            code = read_row(reader, &rows[*count], &wrong);
        if (code != GPUT_OK && !may_skip(reader, code))
            return error_copy(error, &wrong);
        TRY(salvage_row(&base->salvage, code, &wrong));
        *count += code == GPUT_OK;
    }
    return GPUT_OK;
}

/* Estimates how many bytes of the file were read, from the share of its rows. */
static void sqlite_progress(const struct sub_tracking_reader *base, uint64_t *done, uint64_t *total)
{
    const struct sqlite_reader *reader = (const struct sqlite_reader *)base;
    struct stat status;
    *total = stat(base->path, &status) == 0 ? (uint64_t)status.st_size : 0;
    double part = reader->rows_total > 0 ? (double)reader->rows / (double)reader->rows_total : 1.0;
    *done = (uint64_t)((part < 1 ? part : 1) * (double)*total);
}

static void sqlite_close(struct sub_tracking_reader *base)
{
    struct sqlite_reader *reader = (struct sqlite_reader *)base;
    sqlite3_finalize(reader->select);
    sqlite3_close(reader->database);
}

const struct sub_tracking_format_methods sub_tracking_sqlite = {
    .extension = ".sqlite",
    .reader_bytes = sizeof(struct sqlite_reader),
    .open = sqlite_open,
    .next = sqlite_next,
    .progress = sqlite_progress,
    .close = sqlite_close,
};
