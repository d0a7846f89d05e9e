/*
 * Tracking files as CSV: lines 1 and 2 are the static data, line 3 the header of the rows. The
 * plain form begins with the header; its static data are in the file next to it.
 *
 * Rows are appended by one write, alone or as many as were gathered. What of the last one does not
 * fit on the disk is taken back.
 */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/file_target.h"
#include "base/file_windows.h"
#include "base/number.h"
#include "files/tracking/tracking_csv_table.h"
#include "files/tracking/tracking_format.h"
#include "files/tracking/tracking_identity.h"
#include "files/tracking/tracking_sidecar.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Writing ---- */

#define GATHERED_BYTES 32768

struct csv_writer {
    struct tracking_file base;
    int fd;
    bool is_regular, has_head, was_emptied;
    off_t size;         /* of the file at least, unless somebody else truncated it */
    uint64_t rows_kept; /* in the file */
    size_t length;      /* of rows that were gathered */
    size_t torn;        /* bytes of the first of them that are in the file already */
    struct csv_table *tables[TRACKING_FILE_MAX_TABLES]; /* owned */
    unsigned n_tables;
    char rows[GATHERED_BYTES];
};

/* Makes the head of the file: the static data, unless the form is plain, and the header of the
 * rows. */
static void append_head(const struct csv_writer *writer, struct str *text)
{
    bool is_plain = writer->base.format->is_plain;
    for (size_t i = 0; i < TRACKING_STATIC_COLUMNS && !is_plain; i++)
        str_printf(text, "%s%s", i ? "," : "", tracking_static_columns[i].name);
    str_append(text, is_plain ? "" : "\n");
    for (size_t i = 0; i < TRACKING_STATIC_COLUMNS && !is_plain; i++) {
        struct tracking_value value = tracking_static_value(&writer->base.static_data, i);
        str_append(text, i ? "," : "");
        if (value.kind == TRACKING_TEXT)
            str_append(text, value.text);
        else if (value.kind == TRACKING_INTEGER)
            str_append_int64(text, value.integer);
        else if (!isnan(value.real))
            str_append_double(text, value.real);
    }
    str_append(text, is_plain ? "" : "\n");

    for (size_t i = 0; i < TRACKING_COLUMNS; i++)
        str_printf(text, "%s%s", i ? "," : "", tracking_column_of(tracking_columns[i]).name);
    str_append_char(text, '\n');
}

/* Writes the head to an empty file. */
static int write_head(struct csv_writer *writer, struct gput_error *error)
{
    CLEANUP_STR struct str text = {0};
    append_head(writer, &text);
    if (text.failed)
        return error_memory(error);
    writer->size = (off_t)text.length;
    return file_write_fd(writer->fd, writer->base.path, text.data, text.length, error);
}

/* Begins a file again that somebody emptied: the command, which writes to it as well, or
 * logrotate. Whether it has a head is checked at the end. */
static void begin_again(struct csv_writer *writer)
{
    struct stat status;
    struct gput_error error;
    if (!writer->is_regular || fstat(writer->fd, &status) != 0 || status.st_size >= writer->size)
        return;
    writer->was_emptied |= writer->rows_kept > 0;
    writer->base.rows_lost += writer->rows_kept;
    writer->rows_kept = writer->torn = 0;
    writer->size = status.st_size;
    if (status.st_size == 0)
        write_head(writer, &error);
}

/* Returns whether the file still begins with the head. */
static bool has_its_head(const struct csv_writer *writer)
{
    CLEANUP_STR struct str head = {0};
    append_head(writer, &head);
    CLEANUP_FREE char *text = malloc(head.length + 1);
    CLEANUP_FD int fd = open(writer->base.path, O_RDONLY | O_CLOEXEC);
    return head.failed || !text || fd < 0 ||
           (pread(fd, text, head.length, 0) == (ssize_t)head.length &&
               memcmp(text, head.data, head.length) == 0);
}

/* Writes the head. A pipe, where nothing can be written again, gets it once, when the static data
 * are final. */
static int put_static_data(struct tracking_file *file, bool are_same, struct gput_error *error)
{
    struct csv_writer *writer = (struct csv_writer *)file;
    bool is_plain = file->format->is_plain;
    if (writer->has_head && (are_same || !writer->is_regular))
        return GPUT_OK;
    if (writer->has_head && !is_plain && ftruncate(writer->fd, 0) != 0)
        return error_set_errno(error, errno, "Cannot write %s", file->path);
    if (!writer->has_head || !is_plain)
        TRY(write_head(writer, error));
    writer->has_head = true;
    return is_plain && writer->is_regular ? tracking_sidecar_write(file->path, &file->static_data,
                                                NULL, false, file->rows_lost, error)
                                          : GPUT_OK;
}

/* Opens the file, locks and empties it. Rows that the reader of a pipe does not read in time are
 * lost: sampling does not wait. */
static int open_new(const char *path, bool overwrite, int *opened, struct gput_error *error)
{
    CLEANUP_FD int fd = -1;
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | (overwrite ? 0 : O_EXCL);
    int code = file_target_open(path, flags, 0666, &fd, error);
    if (code != GPUT_OK)
        return code == GPUT_ERROR_EXISTS ? error_set_exists(error, path) : code;
    TRY(tracking_lock(fd, path, error));
    /* EINVAL: not a regular file */
    if (ftruncate(fd, 0) != 0 && errno != EINVAL)
        return error_set_errno(error, errno, "Cannot write %s", path);
    *opened = STEAL_FD(fd);
    return GPUT_OK;
}

/* Creates a tracking file, and removes it again when its head cannot be written. */
static int create_csv(const struct tracking_format *format, const char *path,
    const struct gput_static_data *static_data, bool overwrite, struct tracking_file **file,
    struct gput_error *error)
{
    CLEANUP_FREE struct csv_writer *writer = calloc(1, sizeof *writer);
    struct stat info;
    if (!writer || !tracking_file_init(&writer->base, format, path, static_data))
        return error_memory(error);
    int code = format->is_plain ? tracking_sidecar_check(path, error) : GPUT_OK;
    if (code == GPUT_OK)
        code = open_new(path, overwrite, &writer->fd, error);
    if (code == GPUT_OK) {
        writer->is_regular = fstat(writer->fd, &info) == 0 && S_ISREG(info.st_mode);
        if (writer->is_regular) {
            csv_table_remove(path, TRACKING_GPU_TABLE); /* of an earlier session */
            code = put_static_data(&writer->base, false, error);
        }
        if (code == GPUT_OK) {
            *file = &STEAL(writer)->base;
            return GPUT_OK;
        }
        close(writer->fd);
        unlink(path);
    }
    free(writer->base.path);
    return code;
}

/* Writes the gathered rows in one piece, as far as possible. What is left waits for the next call
 * if its failure may pass, and is lost otherwise, or where `gives_up` says so. */
static int write_rows(struct csv_writer *writer, bool gives_up, struct gput_error *error)
{
    size_t written = 0;
    int reason = 0;
    if (writer->length > 0)
        begin_again(writer);
    while (written < writer->length && !reason) {
        ssize_t done = write(writer->fd, writer->rows + written, writer->length - written);
        reason = done < 0 && errno != EINTR ? errno : 0;
        written += done > 0 ? (size_t)done : 0;
    }
    for (size_t i = 0; i < written; i++)
        writer->rows_kept += writer->rows[i] == '\n';
    writer->size += (off_t)written;
    const char *last = memrchr(writer->rows, '\n', written);
    writer->torn = last ? (size_t)(writer->rows + written - last - 1) : writer->torn + written;
    writer->length -= written;
    memmove(writer->rows, writer->rows + written, writer->length);
    if (writer->length == 0 || (!gives_up && file_failure_may_pass(reason)))
        return GPUT_OK;
    /* Give up the rows that wait. Of one that is in the file in part, that part is removed again.
     */
    struct stat status;
    for (size_t i = 0; i < writer->length; i++)
        writer->base.rows_lost += writer->rows[i] == '\n';
    if (writer->torn > 0 && fstat(writer->fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size >= (off_t)writer->torn)
        (void)!ftruncate(writer->fd, status.st_size - (off_t)writer->torn);
    writer->size -= (off_t)writer->torn;
    writer->length = writer->torn = 0;
    return error_set_errno(error, reason, "Cannot write %s", writer->base.path);
}

/* Writes the rows of one table that wait, and counts those that are lost. */
static int flush_table(struct csv_writer *writer, unsigned table, struct gput_error *error)
{
    uint64_t lost = csv_table_rows_lost(writer->tables[table]);
    int code = csv_table_flush(writer->tables[table], error);
    writer->base.rows_lost += csv_table_rows_lost(writer->tables[table]) - lost;
    return code;
}

/* Writes the rows that wait. A table that fails does not keep the others from being written. */
static int flush_csv(struct tracking_file *file, struct gput_error *error)
{
    struct csv_writer *writer = (struct csv_writer *)file;
    struct gput_error reason;
    int code = write_rows(writer, false, error);
    for (unsigned i = 0; i < writer->n_tables; i++)
        if (flush_table(writer, i, &reason) != GPUT_OK && code == GPUT_OK)
            code = error_copy(error, &reason);
    return code;
}

/* Makes the file of a further table. What reads a pipe has no use for it. */
static int add_csv_table(struct tracking_file *file, const char *name,
    const struct tracking_column *columns, size_t count, unsigned *table, struct gput_error *error)
{
    struct csv_writer *writer = (struct csv_writer *)file;
    if (!writer->is_regular)
        return error_set(error, GPUT_ERROR_UNSUPPORTED, "%s has no table %s", file->path, name);
    if (writer->n_tables == TRACKING_FILE_MAX_TABLES)
        return error_set(error, GPUT_ERROR_STATE, "%s has too many tables", file->path);
    TRY(csv_table_create(
        file->path, name, columns, count, &writer->tables[writer->n_tables], error));
    *table = writer->n_tables++;
    return GPUT_OK;
}

/* Adds a row to a further table. It waits as those of samples do. */
static int write_csv_table_row(struct tracking_file *file, unsigned table,
    const struct tracking_value *values, int64_t now_ns, struct gput_error *error)
{
    (void)now_ns;
    struct csv_writer *writer = (struct csv_writer *)file;
    uint64_t lost = csv_table_rows_lost(writer->tables[table]);
    int code = csv_table_add(writer->tables[table], values, error);
    file->rows_lost += csv_table_rows_lost(writer->tables[table]) - lost;
    return code == GPUT_OK && !file->gathers_rows ? flush_table(writer, table, error) : code;
}

/* Adds a row. A pipe gets each one at once: a part of many could not be taken back. */
static int write_csv_row(struct tracking_file *file, const struct gput_sample *sample,
    int64_t now_ns, struct gput_error *error)
{
    (void)now_ns;
    struct csv_writer *writer = (struct csv_writer *)file;
    int code = GPUT_OK;
    if (!writer->has_head)
        TRY(put_static_data(file, false, error));
    if (writer->length + TRACKING_COLUMNS * (NUMBER_TEXT_SIZE + 1) > sizeof writer->rows)
        code = write_rows(writer, true, error);
    /* Format a row in the columns of the file, with its line end. An unknown figure is an empty
     * cell. */
    char *text = writer->rows + writer->length;
    char *at = text;
    for (size_t i = 0; i < TRACKING_COLUMNS; i++) {
        int place = tracking_columns[i];
        bool is_time = place == TRACKING_TIMESTAMP;
        double value = is_time ? tracking_timestamp(sample) : sample->values[place];
        if (i > 0)
            *at++ = ',';
        if (!is_time && tracking_column_of(place).kind == TRACKING_INTEGER && fabs(value) < 0x1p53)
            at += number_format_int64((int64_t)value, at);
        else if (!isnan(value))
            at += number_format_double(is_time ? value : value * file->factors[place], at);
    }
    *at++ = '\n';
    writer->length += (size_t)(at - text);
    if (!file->gathers_rows || !writer->is_regular)
        return write_rows(writer, true, error);
    return code;
}

/* Finds out whether the file was moved or removed meanwhile, and restores one that was. */
static int restore_csv(struct tracking_file *file, enum file_fate *fate, struct gput_error *error)
{
    struct csv_writer *writer = (struct csv_writer *)file;
    char *now = NULL;
    for (unsigned i = 0; i < writer->n_tables; i++)
        TRY(csv_table_restore(writer->tables[i], error));
    *fate = file_fate(writer->fd, file->path, &now);
    if (*fate == FILE_MOVED) {
        free(file->path);
        file->path = now;
    }
    if (*fate == FILE_REMOVED)
        return file_restore(&writer->fd, &file->path, error);
    if (*fate != FILE_IN_PLACE || !writer->is_regular)
        return GPUT_OK;
    begin_again(writer);
    if (!has_its_head(writer)) {
        writer->was_emptied |= writer->rows_kept > 0;
        file->rows_lost += writer->rows_kept;
    }
    *fate = writer->was_emptied ? FILE_EMPTIED : FILE_IN_PLACE;
    return GPUT_OK;
}

/* Writes the rows that are left, and closes the file. */
static int finish_csv(struct tracking_file *file, struct gput_error *error)
{
    struct csv_writer *writer = (struct csv_writer *)file;
    int code = GPUT_OK;
    for (int tries = 1; tries <= FILE_TRIES && code == GPUT_OK && writer->length > 0; tries++) {
        code = write_rows(writer, tries == FILE_TRIES, error);
        if (code == GPUT_OK && writer->length > 0)
            file_pause_before_retry();
    }
    struct gput_error reason;
    for (unsigned i = 0; i < writer->n_tables; i++) {
        if (flush_table(writer, i, &reason) != GPUT_OK && code == GPUT_OK)
            code = error_copy(error, &reason);
        csv_table_destroy(writer->tables[i]);
    }
    flock(writer->fd, LOCK_UN); /* explicitly, since a forked child may have it open */
    if (close(writer->fd) != 0 && code == GPUT_OK)
        return error_set_errno(error, errno, "Cannot write %s", file->path);
    return code;
}

/* ---- Reading rows of numbers ---- */

/* The columns of a file, by their order in it. */
struct csv_columns {
    size_t count;
    int *all; /* index of tracking_format.h; -1: unknown */
};

/* Parses a row of plain numbers, without quotes and blanks and with a cell for each column, as
 * nearly all are. Values that it lacks are NaN. Returns false for other rows, which take the slow
 * path. */
static bool parse_plain_row(
    const struct csv_columns *columns, const char *at, const char *end, double *values)
{
    for (size_t i = 0; i < TRACKING_VALUES; i++)
        values[i] = NAN;
    for (size_t i = 0;; at++) {
        int column = columns->all[i];
        if (column < 0) {
            while (at < end && *at != ',' && *at != '"')
                at++;
        } else if (at < end && *at != ',') {
            at = number_parse_double(at, end, &values[column]);
            if (!at || !tracking_value_is_possible(column, values[column]))
                return false;
        }
        i++;
        if (at == end || *at != ',' || i == columns->count)
            return at == end && i == columns->count && !isnan(values[TRACKING_TIMESTAMP]);
    }
}

/* Rows that a thread has parsed; `user` of the windows are the columns. */
struct csv_row_window {
    struct file_window window;
    struct tracking_row *rows;
    size_t count, capacity;
};

/* Adds the plain row at `*at`, which moves over it. Returns false at anything else. */
static bool scan_row(struct csv_row_window *window, const char **at)
{
    double values[TRACKING_VALUES];
    const char *line_end = memchr(*at, '\n', (size_t)(window->window.end - *at));
    if (!line_end)
        return false;
    const char *end = line_end > *at && line_end[-1] == '\r' ? line_end - 1 : line_end;
    if (end == *at || !parse_plain_row(window->window.user, *at, end, values))
        return false;
    struct tracking_row *row = window->rows + window->count++;
    memcpy(row->values, values, sizeof row->values);
    row->timestamp = values[TRACKING_TIMESTAMP];
    *at = line_end + 1;
    return true;
}

/* Parses the plain rows at the beginning of a window, in a thread of its own. */
static void scan(struct file_window *base)
{
    struct csv_row_window *window = (struct csv_row_window *)base;
    const char *at = file_window_line(base);
    window->count = 0;
    base->after = at;
    while (base->after && base->after < base->limit &&
           ARRAY_RESERVE(window->rows, window->count, window->capacity) &&
           scan_row(window, &base->after))
        ;
    base->first = window->count > 0 ? at : NULL;
}

static void finish_window(struct file_window *base)
{
    free(((struct csv_row_window *)base)->rows);
}

static const struct file_window_class csv_row_windows = {
    sizeof(struct csv_row_window), scan, finish_window};

/* ---- Reading ---- */

struct csv_tracking_reader {
    struct tracking_reader base;
    struct csv_reader *csv;
    struct csv_columns columns;
    struct file_windows *windows;        /* what other threads parse; NULL: there are none */
    const struct csv_row_window *passed; /* the one whose rows are being given; NULL: none */
    size_t next_passed;
};

/* Reads a line that the file must have; `what` is there, for the message. */
static int next_line(struct csv_tracking_reader *reader, const char *what,
    struct csv_record *record, struct gput_error *error)
{
    bool end;
    TRY(csv_reader_next(reader->csv, record, &end, error));
    if (end)
        return tracking_reader_invalid(&reader->base, error, "it ends before its %s.", what);
    return GPUT_OK;
}

/* Reads the static data of lines 1 and 2; the first one is given. */
static int read_static_data(
    struct csv_tracking_reader *reader, char *first, size_t length, struct gput_error *error)
{
    enum { MAX_COLUMNS = 256 };
    struct csv_record header = {.text = first, .end = first + length}, values;
    struct csv_cell names[MAX_COLUMNS], cells[MAX_COLUMNS];
    TRY(next_line(reader, "static data", &values, error));
    size_t count = csv_split(&header, names, MAX_COLUMNS);
    if (csv_split(&values, cells, MAX_COLUMNS) != count || count > MAX_COLUMNS)
        return tracking_reader_invalid(&reader->base, error,
            "its first two lines are not the static data (a header and a line of values).");
    for (size_t i = 0; i < count; i++)
        TRY(tracking_reader_add_cell(
            &reader->base, names[i].text, names[i].length, cells[i].text, cells[i].length, error));
    return GPUT_OK;
}

/* Reads the static data of the plain form, which are in the file next to it. */
static int read_sidecar(struct csv_tracking_reader *reader, struct gput_error *error)
{
    CLEANUP(doc_destroy_pointer) struct doc *doc = tracking_sidecar_read(reader->base.path);
    const struct doc *static_data = doc ? doc_get(doc, "static_data") : NULL;
    if (!static_data || static_data->kind != DOC_OBJECT)
        return tracking_reader_invalid(&reader->base, error,
            "it is plain CSV, and %s" TRACKING_IDENTITY_EXTENSION
            ", which has its units, is missing or is not a JSON object. Please keep the two "
            "together.",
            file_base_name(reader->base.path));
    for (const struct doc *value = static_data->first; value; value = value->next) {
        char number[NUMBER_TEXT_SIZE] = "";
        const char *text = value->kind == DOC_STRING ? value->string : number;
        size_t length = strlen(text);
        if (value->kind == DOC_INT)
            length = number_format_int64(value->integer, number);
        else if (value->kind == DOC_DOUBLE)
            length = number_format_double(value->number, number);
        TRY(tracking_reader_add_cell(
            &reader->base, value->key, strlen(value->key), text, length, error));
    }
    return GPUT_OK;
}

/* Finds the columns of the rows by the names in their header, whose record is changed. */
static int read_header(
    struct csv_tracking_reader *reader, struct csv_record *header, struct gput_error *error)
{
    size_t count = csv_count_cells(header);
    CLEANUP_FREE struct csv_cell *names = calloc(count, sizeof *names);
    free(reader->columns.all);
    reader->columns.count = count;
    reader->columns.all = calloc(count, sizeof *reader->columns.all);
    if (!names || !reader->columns.all)
        return error_memory(error);
    memset(reader->base.has, 0, sizeof reader->base.has);
    csv_split(header, names, count);
    for (size_t i = 0; i < count; i++) {
        int column = tracking_column_find(names[i].text, names[i].length);
        reader->columns.all[i] = column;
        if (column >= 0)
            reader->base.has[column] = true;
    }
    return tracking_reader_check_columns(&reader->base, error);
}

/* Opens a tracking file, with its static data in it or next to it. */
static int open_csv(
    const char *path, bool salvage, struct tracking_reader **reader, struct gput_error *error)
{
    struct csv_tracking_reader *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    *reader = &made->base;
    if (!tracking_reader_init(&made->base, &tracking_csv, path, salvage))
        return error_memory(error);
    TRY(csv_reader_open(path, &made->csv, error));
    if (salvage)
        csv_reader_end_at_lines(made->csv);
    /* The plain form begins with the static data and the header of the rows. */
    struct csv_record header;
    struct gput_error no_header;
    TRY(next_line(made, "static data", &header, error));
    /* Splitting the line changes it, and reading on overwrites it. */
    size_t length = (size_t)(header.end - header.text);
    CLEANUP_FREE char *first = malloc(length + 1);
    if (!first)
        return error_memory(error);
    memcpy(first, header.text, length);
    int code = read_header(made, &header, &no_header);
    if (code == GPUT_OK) {
        TRY(read_sidecar(made, error));
        return tracking_reader_parse_static_data(&made->base, error);
    }
    if (code != GPUT_ERROR_FORMAT)
        return error_copy(error, &no_header);
    TRY(read_static_data(made, first, length, error));
    TRY(tracking_reader_parse_static_data(&made->base, error));
    TRY(next_line(made, "header of the rows", &header, error));
    return read_header(made, &header, error);
}

static void close_csv(struct tracking_reader *reader)
{
    struct csv_tracking_reader *csv = (struct csv_tracking_reader *)reader;
    file_windows_destroy(csv->windows);
    csv_reader_close(csv->csv);
    free(csv->columns.all);
}

/* Returns a cell without blanks around it. */
static struct csv_cell trim(struct csv_cell cell)
{
    while (cell.length > 0 && strchr(" \t", cell.text[0]) && cell.text[0])
        cell.text++, cell.length--;
    while (
        cell.length > 0 && strchr(" \t", cell.text[cell.length - 1]) && cell.text[cell.length - 1])
        cell.length--;
    return cell;
}

/* Parses any row: the slow path, for quotes, blanks and error messages. */
static int parse_any_row(struct csv_tracking_reader *reader, struct csv_record *record,
    double *values, struct gput_error *error)
{
    size_t count = reader->columns.count;
    CLEANUP_FREE struct csv_cell *cells = calloc(count, sizeof *cells);
    if (!cells)
        return error_memory(error);
    csv_split(record, cells, count);
    for (size_t i = 0; i < count; i++) {
        int column = reader->columns.all[i];
        struct csv_cell cell = trim(cells[i]);
        if (column < 0)
            continue;
        values[column] = NAN;
        const char *end = cell.text + cell.length;
        if (cell.length && (number_parse_double(cell.text, end, &values[column]) != end ||
                               !tracking_value_is_possible(column, values[column])))
            return tracking_reader_bad_cell(
                &reader->base, "line", record->line, column, cell.text, cell.length, error);
    }
    if (isnan(values[TRACKING_TIMESTAMP]))
        return tracking_reader_invalid(
            &reader->base, error, "line %llu has no timestamp.", (unsigned long long)record->line);
    return GPUT_OK;
}

static int wrong_cells(struct tracking_reader *reader, uint64_t line, size_t cells, size_t columns,
    struct gput_error *error)
{
    return tracking_reader_invalid(reader, error,
        "line %llu has %zu cells where the header has %zu.", (unsigned long long)line, cells,
        columns);
}

/* Ends reading at an incomplete row, or at one without a line end, which all writers write: at the
 * end of the file the row is truncated, elsewhere the file is damaged. */
static int end_with_torn_row(
    struct csv_tracking_reader *reader, const struct csv_record *record, struct gput_error *error)
{
    struct tracking_reader *base = &reader->base;
    uint64_t line = record->line;
    bool terminated = record->terminated;
    size_t cells = csv_count_cells(record);
    const char *line_end = memchr(record->text, '\n', (size_t)(record->end - record->text));
    if (line_end && line_end + 1 < record->end) /* no cell of a row has a line end */
        return tracking_reader_invalid(
            base, error, "line %llu has a quote that is not closed.", (unsigned long long)line);
    struct csv_record next;
    bool end;
    TRY(csv_reader_next(reader->csv, &next, &end, error));
    if (!end)
        return wrong_cells(base, line, cells, reader->columns.count, error);
    str_printf(&base->warning,
        "Tracking file %s: the last line is truncated%s and was skipped; %llu %s kept.", base->path,
        terminated ? "" : " (it has no line end)", (unsigned long long)base->rows,
        base->rows == 1 ? "row was" : "rows were");
    base->salvage.rows_skipped += base->salvage.rows_skipped > 0;
    return base->warning.failed ? error_memory(error) : GPUT_OK;
}

/* Parses a row; `*torn` says whether it is incomplete. */
static int parse_row(struct csv_tracking_reader *reader, struct csv_record *record, double *values,
    bool *torn, struct gput_error *error)
{
    *torn = false;
    if (parse_plain_row(&reader->columns, record->text, record->end, values))
        return GPUT_OK;
    size_t cells = csv_count_cells(record);
    if (cells == reader->columns.count)
        return parse_any_row(reader, record, values, error);
    *torn = !reader->base.salvage.wanted;
    return *torn ? GPUT_OK
                 : wrong_cells(&reader->base, record->line, cells, reader->columns.count, error);
}

/* Has other threads parse what follows; without memory for them this one does. */
static void use_cores(struct tracking_reader *reader, unsigned cores)
{
    struct csv_tracking_reader *csv = (struct csv_tracking_reader *)reader;
    if (cores > 1)
        file_windows_create(
            csv_reader_fd(csv->csv), cores, &csv_row_windows, &csv->columns, &csv->windows, NULL);
}

/* Gives rows that another thread has parsed, where reading has arrived at them. */
static int take_passed(struct csv_tracking_reader *csv, struct tracking_row *rows, size_t capacity,
    size_t *count, struct gput_error *error)
{
    if (!csv->passed && csv->windows) {
        csv->passed = (const struct csv_row_window *)file_windows_at(
            csv->windows, csv_reader_place(csv->csv));
        csv->next_passed = 0;
    }
    const struct csv_row_window *passed = csv->passed;
    if (!passed)
        return GPUT_OK;
    size_t left = passed->count - csv->next_passed, space = capacity - *count;
    size_t given = left < space ? left : space;
    memcpy(rows + *count, passed->rows + csv->next_passed, given * sizeof *rows);
    *count += given;
    csv->next_passed += given;
    csv->base.rows += given;
    if (csv->next_passed < passed->count)
        return GPUT_OK;
    csv->passed = NULL;
    return csv_reader_move(
        csv->csv, file_window_place(&passed->window, passed->window.after), passed->count, error);
}

/* Reads the next rows. */
static int next_csv(struct tracking_reader *reader, struct tracking_row *rows, size_t capacity,
    size_t *count, struct gput_error *error)
{
    struct csv_tracking_reader *csv = (struct csv_tracking_reader *)reader;
    while (*count < capacity) {
        struct csv_record record;
        bool end, torn;
        size_t before = *count;
        TRY(take_passed(csv, rows, capacity, count, error));
        if (csv->passed || *count == capacity)
            break;
        if (*count > before)
            continue; /* the next window may follow at once */
        TRY(csv_reader_next(csv->csv, &record, &end, error));
        if (end)
            break;
        if (!record.terminated)
            return end_with_torn_row(csv, &record, error);
        double values[TRACKING_VALUES];
        int code = parse_row(csv, &record, values, &torn, error);
        TRY(salvage_row(&reader->salvage, code, error));
        if (torn)
            return end_with_torn_row(csv, &record, error);
        if (code != GPUT_OK)
            continue;
        memcpy(rows[*count].values, values, sizeof rows->values);
        rows[*count].timestamp = values[TRACKING_TIMESTAMP];
        *count += 1;
        reader->rows++;
    }
    return GPUT_OK;
}

/* Reads the table of GPUs, which is a file next to this one. */
static int read_csv_tables(
    struct tracking_reader *reader, struct gput_tables *building, struct gput_error *error)
{
    return csv_table_read(reader->path, TRACKING_GPU_TABLE, &reader->static_data, building, error);
}

static void progress_csv(const struct tracking_reader *reader, uint64_t *done, uint64_t *total)
{
    csv_reader_progress(((const struct csv_tracking_reader *)reader)->csv, done, total);
}

#define SHARED_FUNCTIONS                                                                           \
    .put_static_data = put_static_data, .write_row = write_csv_row, .flush = flush_csv,            \
    .add_table = add_csv_table, .write_table_row = write_csv_table_row, .create = create_csv,      \
    .finish = finish_csv, .restore = restore_csv, .open = open_csv, .use_cores = use_cores,        \
    .next = next_csv, .read_tables = read_csv_tables, .progress = progress_csv, .close = close_csv

const struct tracking_format tracking_csv = {.extension = ".csv", SHARED_FUNCTIONS};
const struct tracking_format tracking_plain_csv = {
    .extension = PLAIN_CSV_EXTENSION, .is_plain = true, SHARED_FUNCTIONS};
