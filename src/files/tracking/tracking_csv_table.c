#include "files/tracking/tracking_csv_table.h"

#include "base/cleanup.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/file_target.h"
#include "base/number.h"
#include "base/str.h"
#include "files/sqlite_tables.h"
#include "model/card.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More bytes do not wait. */
#define MAX_WAITING_BYTES 32768

/* Every table begins with the time of its rows, ours and no other file with such a name. */
static const char first_column[] = "timestamp,";

struct csv_table {
    char *path; /* owned */
    int fd;
    size_t n_columns;
    struct str waiting; /* rows that are not in the file yet */
    uint64_t n_rows_waiting, n_rows_lost;
};

/* Returns the path of a table, which is the caller's; NULL without memory. */
static char *path_of(const char *tracking_file, const char *name)
{
    struct str path = {0};
    str_printf(&path, "%s.%s", tracking_file, name);
    return str_steal(&path);
}

/* Returns whether there is nothing at the path that is not ours: no file, an empty one, or a table.
 */
static bool is_free_or_table(const char *path)
{
    char text[sizeof first_column] = "";
    struct stat info;
    if (lstat(path, &info) != 0)
        return errno == ENOENT;
    CLEANUP_FD int fd =
        S_ISREG(info.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    return length == 0 || (length > 0 && strcmp(text, first_column) == 0);
}

/* Opens the file, and empties one of an earlier session. */
static int open_table(struct csv_table *table, struct gput_error *error)
{
    if (!is_free_or_table(table->path))
        return error_set(error, GPUT_ERROR_EXISTS,
            "File %s already exists and is not a table of a tracking file. Please move it away, "
            "or give the tracking file another name",
            table->path);
    return file_target_open(
        table->path, O_WRONLY | O_CREAT | O_APPEND | O_TRUNC, 0666, &table->fd, error);
}

int csv_table_create(const char *tracking_file, const char *name,
    const struct tracking_column *columns, size_t count, struct csv_table **table,
    struct gput_error *error)
{
    struct csv_table *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    *made = (struct csv_table){.path = path_of(tracking_file, name), .fd = -1, .n_columns = count};
    for (size_t i = 0; i < count; i++)
        str_printf(&made->waiting, "%s%s", i ? "," : "", columns[i].name);
    str_append_char(&made->waiting, '\n');
    int code = made->path ? open_table(made, error) : error_memory(error);
    if (code == GPUT_OK)
        code = csv_table_flush(made, error);
    if (code == GPUT_OK) {
        *table = made;
        return GPUT_OK;
    }
    if (made->fd >= 0)
        unlink(made->path);
    csv_table_destroy(made);
    return code;
}

/* Appends a value as a cell. One that is missing is an empty cell. */
static void append_value(struct str *text, const struct tracking_value *value)
{
    if (value->kind == TRACKING_REAL)
        csv_append_number(text, value->real);
    else if (value->kind == TRACKING_INTEGER)
        str_append_int64(text, value->integer);
    else if (value->kind != TRACKING_NULL && value->text)
        csv_append_cell(text, value->text, strlen(value->text));
}

int csv_table_add(
    struct csv_table *table, const struct tracking_value *values, struct gput_error *error)
{
    for (size_t i = 0; i < table->n_columns; i++) {
        if (i > 0)
            str_append_char(&table->waiting, ',');
        append_value(&table->waiting, &values[i]);
    }
    str_append_char(&table->waiting, '\n');
    table->n_rows_waiting++;
    return table->waiting.length > MAX_WAITING_BYTES || table->waiting.failed
               ? csv_table_flush(table, error)
               : GPUT_OK;
}

int csv_table_flush(struct csv_table *table, struct gput_error *error)
{
    struct stat info;
    int code = GPUT_OK;
    bool is_known = fstat(table->fd, &info) == 0;
    if (table->waiting.failed)
        code = error_memory(error);
    else if (table->waiting.length > 0)
        code = file_write_fd(
            table->fd, table->path, table->waiting.data, table->waiting.length, error);
    if (code != GPUT_OK) {
        table->n_rows_lost += table->n_rows_waiting;
        if (is_known) /* takes back what of them is in the file */
            (void)!ftruncate(table->fd, info.st_size);
    }
    table->n_rows_waiting = 0;
    str_restart(&table->waiting);
    return code;
}

uint64_t csv_table_rows_lost(const struct csv_table *table)
{
    return table->n_rows_lost;
}

int csv_table_restore(struct csv_table *table, struct gput_error *error)
{
    CLEANUP_FREE char *now = NULL;
    return file_fate(table->fd, table->path, &now) == FILE_REMOVED
               ? file_restore(&table->fd, &table->path, error)
               : GPUT_OK;
}

void csv_table_destroy(struct csv_table *table)
{
    if (!table)
        return;
    if (table->fd >= 0)
        close(table->fd);
    str_finish(&table->waiting);
    free(table->path);
    free(table);
}

void csv_table_remove(const char *tracking_file, const char *name)
{
    CLEANUP_FREE char *path = path_of(tracking_file, name);
    if (path && is_free_or_table(path))
        unlink(path);
}

/* ---- Reading ---- */

/* The most columns that are read. */
#define MAX_COLUMNS 256

/* Returns whether the cells of a column are texts: the name of a GPU, and figures of cards that are
 * words. */
static bool is_text_column(const char *name)
{
    bool is_text = strcmp(name, "uuid") == 0;
    for (int i = 0; i < CARD_FIGURE_COUNT; i++)
        is_text |=
            card_figure_is_text((enum card_figure)i) && strcmp(name, card_figures[i].name) == 0;
    return is_text;
}

/* Adds the columns that the header names. Returns how many there are; 0: too many, or no memory. */
static size_t add_columns(struct gput_table *table, const char *name, struct csv_record *header,
    const struct gput_static_data *static_data, bool are_texts[MAX_COLUMNS])
{
    struct csv_cell names[MAX_COLUMNS];
    CLEANUP_STR struct str column = {0};
    size_t count = csv_split(header, names, MAX_COLUMNS);
    for (size_t i = 0; i < count && count <= MAX_COLUMNS; i++) {
        str_clear(&column);
        str_append_bytes(&column, names[i].text, names[i].length);
        if (column.failed)
            return 0;
        are_texts[i] = is_text_column(str_text(&column));
        table_add_column(
            table, str_text(&column), are_texts[i] ? GPUT_COLUMN_TEXT : GPUT_COLUMN_DOUBLE);
        const char *unit = further_table_unit(name, str_text(&column), static_data);
        if (unit)
            table_set_unit(table, unit);
    }
    return count <= MAX_COLUMNS ? count : 0;
}

/* Puts a cell into a table. Returns false where it is not a number and has to be. */
static bool put_cell(struct gput_table *table, const struct csv_cell *cell, bool is_text)
{
    double value = NAN;
    if (is_text && cell->length > 0) {
        CLEANUP_STR struct str text = {0};
        str_append_bytes(&text, cell->text, cell->length);
        table_put_str(table, &text);
        return true;
    }
    const char *end = cell->text + cell->length;
    if (cell->length > 0 && number_parse_double(cell->text, end, &value) != end)
        return false;
    if (isnan(value))
        table_put_missing(table);
    else
        table_put_double(table, value);
    return true;
}

/* Adds the rows after the header, up to one that is not complete. */
static int read_rows(struct csv_reader *reader, const char *path, struct gput_table *table,
    const bool *are_texts, size_t n_columns, struct gput_error *error)
{
    struct csv_cell cells[MAX_COLUMNS];
    struct csv_record record;
    bool is_end;
    for (;;) {
        TRY(csv_reader_next(reader, &record, &is_end, error));
        if (is_end || !record.terminated)
            return table_pass_rest(table, error);
        bool is_valid = csv_split(&record, cells, MAX_COLUMNS) == n_columns;
        for (size_t i = 0; i < n_columns && is_valid; i++)
            is_valid = put_cell(table, &cells[i], are_texts[i]);
        if (!is_valid)
            return error_set(error, GPUT_ERROR_FORMAT,
                "Tracking file %s is invalid: line %llu is not a row of its columns.", path,
                (unsigned long long)record.line);
        TRY(table_pass_full(table, error));
    }
}

int csv_table_read(const char *tracking_file, const char *name,
    const struct gput_static_data *static_data, struct gput_tables *building,
    struct gput_error *error)
{
    CLEANUP_FREE char *path = path_of(tracking_file, name);
    struct csv_reader *reader = NULL;
    struct csv_record header;
    bool are_texts[MAX_COLUMNS], is_end;
    if (!path)
        return error_memory(error);
    if (access(path, F_OK) != 0 || !is_free_or_table(path))
        return error_set(error, GPUT_ERROR_INVALID,
            "%s has no further tables; a tracking file that ends in .sqlite has", tracking_file);
    TRY(csv_reader_open(path, &reader, error));
    int code = csv_reader_next(reader, &header, &is_end, error);
    if (code == GPUT_OK && !is_end && header.terminated) {
        struct gput_table *table = tables_add(building, name);
        size_t n_columns = add_columns(table, name, &header, static_data, are_texts);
        code = n_columns > 0 ? read_rows(reader, path, table, are_texts, n_columns, error)
                             : error_set(error, GPUT_ERROR_FORMAT,
                                   "Tracking file %s is invalid: it has too many columns.", path);
    }
    csv_reader_close(reader);
    return code;
}
