#include "files/marks/sub_tracking_csv.h"

#include "base/csv.h"
#include "base/file.h"
#include "files/marks/sub_tracking_csv_lines.h"
#include "files/marks/sub_tracking_csv_row.h"
#include "files/marks/sub_tracking_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A writer writes its text in blocks of this size. */
#define BUFFER_BYTES ((size_t)256 * 1024)

struct sub_tracking_csv_reader {
    struct sub_tracking_reader base;
    struct csv_reader *csv;
    bool has_cut_header; /* a killed writer left a part of it, or nothing */
    struct sub_tracking_csv_layout layout;
    uint32_t last_name;
    const char *last_name_text; /* NULL at first */
    size_t last_name_length;
    struct file_windows *windows; /* lines that other threads make; NULL: there are none */
    struct csv_line_layouts layouts;
    bool has_windows;              /* or there cannot be any */
    const struct csv_lines *lines; /* those that begin where the reader is; NULL: none */
};

/* ---- The reader ---- */

static int row_error(
    struct sub_tracking_csv_reader *reader, uint64_t line, int field, struct gput_error *error)
{
    static const char *const expected[] = {"a process id", "the name of a code block",
        "0 (start) or 1 (stop)", "a time in seconds since the epoch"};
    if (sub_tracking_names_lack(reader->base.names))
        return error_memory(error);
    if (field == SUB_TRACKING_CSV_ROW_TOO_LONG)
        return sub_tracking_invalid(
            &reader->base, error, "line %" PRIu64 " has more fields than the header.", line);
    enum sub_tracking_column column = reader->layout.fields[field];
    return sub_tracking_invalid(&reader->base, error, "line %" PRIu64 ": its field %d is not %s.",
        line, field + 1,
        column < SUB_TRACKING_REQUIRED_COLUMNS ? expected[column] : "what its column holds");
}

/* A name may have line ends; but when a damaged quote has joined lines that are rows, these are
 * read again. The bytes of the record must be unchanged. */
static bool lines_are_rows(struct sub_tracking_csv_reader *reader, const struct csv_record *record)
{
    return reader->base.salvage.wanted && csv_reader_unread_lines(reader->csv, record);
}

static int open_quote_error(
    struct sub_tracking_csv_reader *reader, uint64_t line, struct gput_error *error)
{
    return sub_tracking_invalid(
        &reader->base, error, "line %" PRIu64 " has a quote that is not closed.", line);
}

/* Most stops follow their own start: then the name need not be looked up. */
static bool same_as_last_name(
    const struct sub_tracking_csv_reader *reader, const char *name, size_t length)
{
    return reader->last_name_text && reader->last_name_length == length &&
           memcmp(reader->last_name_text, name, length) == 0;
}

/* False without memory, or with too many names. */
static bool find_name(struct sub_tracking_csv_reader *reader, const struct csv_cell *name)
{
    if (same_as_last_name(reader, name->text, name->length))
        return true;
    uint32_t number = sub_tracking_names_add(reader->base.names, name->text, name->length);
    if (number == SUB_TRACKING_NO_NAME)
        return false;
    reader->last_name = number;
    reader->last_name_text = sub_tracking_names_text(reader->base.names, number);
    reader->last_name_length = sub_tracking_names_length(reader->base.names, number);
    return true;
}

/* As sub_tracking_csv_row_parse(), with the name: without it any field is wrong. */
static int parse_row(
    struct sub_tracking_csv_reader *reader, char *text, char *end, struct sub_tracking_mark *row)
{
    struct csv_cell name = {0};
    int field = sub_tracking_csv_row_parse(&reader->layout, text, end, row, &name);
    if (field != SUB_TRACKING_CSV_ROW_FINE)
        return field;
    if (!find_name(reader, &name))
        return SUB_TRACKING_NAME;
    row->name = reader->last_name;
    return SUB_TRACKING_CSV_ROW_FINE;
}

/* Parses a copy of rows that may have to be read again: parsing unquotes names in place. */
static int parse_record(struct sub_tracking_csv_reader *reader, const struct csv_record *record,
    struct sub_tracking_mark *row, struct gput_error *error)
{
    struct salvage *salvage = &reader->base.salvage;
    size_t length = (size_t)(record->end - record->text);
    bool spans_lines = salvage->wanted && memchr(record->text, '\n', length);
    char *copy = spans_lines ? malloc(length) : NULL;
    if (spans_lines && !copy)
        return error_memory(error);
    char *text = copy ? memcpy(copy, record->text, length) : record->text;
    int field = parse_row(reader, text, text + length, row);
    free(copy);
    if (field == SUB_TRACKING_CSV_ROW_FINE)
        return GPUT_OK;
    return lines_are_rows(reader, record) ? open_quote_error(reader, record->line, error)
                                          : row_error(reader, record->line, field, error);
}

/* Whether other threads have made lines of the rows that come next. */
static bool find_lines(struct sub_tracking_csv_reader *reader)
{
    if (reader->windows && !reader->lines)
        reader->lines = (const struct csv_lines *)file_windows_at(
            reader->windows, csv_reader_place(reader->csv));
    return reader->lines;
}

static int csv_next(struct sub_tracking_reader *base, struct sub_tracking_mark *rows,
    size_t capacity, size_t *count, struct gput_error *error)
{
    struct sub_tracking_csv_reader *reader = (struct sub_tracking_csv_reader *)base;
    while (*count < capacity && !reader->has_cut_header) {
        if (*count > 0 && find_lines(reader))
            break;
        reader->lines = NULL;
        struct csv_record record;
        bool end;
        TRY(csv_reader_next(reader->csv, &record, &end, error));
        if (end)
            return GPUT_OK;
        if (!record.terminated && !base->salvage.wanted &&
            sub_tracking_csv_row_joins(&reader->layout, record.text, record.end))
            return open_quote_error(reader, record.line, error);
        if (!record.terminated && lines_are_rows(reader, &record)) {
            TRY(salvage_row(&base->salvage, open_quote_error(reader, record.line, error), error));
            continue;
        }
        if (!record.terminated) { /* writers end every row with a line end */
            sub_tracking_warn(&reader->base,
                "the last line is truncated (it has no line end) and was skipped; %" PRIu64
                " %s kept.",
                base->rows + *count, base->rows + *count == 1 ? "row was" : "rows were");
            base->lost.at_least = true;
            base->salvage.rows_skipped += base->salvage.rows_skipped > 0;
            return GPUT_OK;
        }
        int code = parse_record(reader, &record, &rows[*count], error);
        if (code == GPUT_OK)
            ++*count;
        else
            TRY(salvage_row(&base->salvage, code, error));
    }
    return GPUT_OK;
}

/* Whether a killed writer left a part of the header. */
static bool is_cut_header(const struct csv_record *header)
{
    static const char columns[] = "process_id,code_block_name,position,";
    size_t length = (size_t)(header->end - header->text);
    return !header->terminated && length < sizeof columns &&
           memcmp(header->text, columns, length) == 0;
}

static int csv_open(struct sub_tracking_reader *base, struct gput_error *error)
{
    struct sub_tracking_csv_reader *reader = (struct sub_tracking_csv_reader *)base;
    TRY(csv_reader_open(base->path, &reader->csv, error));
    struct csv_record header;
    bool end;
    TRY(csv_reader_next(reader->csv, &header, &end, error));
    if (end || is_cut_header(&header)) {
        sub_tracking_warn_of_no_marks(base);
        reader->has_cut_header = true;
        return GPUT_OK;
    }
    unsigned have;
    TRY(sub_tracking_csv_layout_parse(&reader->layout, &header, &have, error));
    for (unsigned i = 0; i < reader->layout.count; i++)
        base->columns |= sub_tracking_column_bit(reader->layout.fields[i]);
    return sub_tracking_require_columns(base, have, error);
}

static void csv_progress(const struct sub_tracking_reader *base, uint64_t *done, uint64_t *total)
{
    csv_reader_progress(((const struct sub_tracking_csv_reader *)base)->csv, done, total);
}

static void csv_close(struct sub_tracking_reader *base)
{
    struct sub_tracking_csv_reader *reader = (struct sub_tracking_csv_reader *)base;
    file_windows_destroy(reader->windows);
    csv_reader_close(reader->csv);
    sub_tracking_csv_layout_finish(&reader->layout);
}

/* ---- The writer ---- */

struct sub_tracking_csv_writer {
    struct sub_tracking_writer base;
    int fd;
    struct str text; /* not yet written */
    struct sub_tracking_csv_layout layout;
};

static int flush(struct sub_tracking_csv_writer *writer, struct gput_error *error)
{
    if (writer->text.failed)
        return error_memory(error);
    int code = file_write_fd(
        writer->fd, writer->base.path, str_text(&writer->text), writer->text.length, error);
    str_clear(&writer->text);
    return code;
}

static int csv_create(struct sub_tracking_writer *base, int fd, struct gput_error *error)
{
    struct sub_tracking_csv_writer *writer = (struct sub_tracking_csv_writer *)base;
    writer->fd = fd;
    if (!sub_tracking_csv_layout_init(&writer->layout, base->columns)) {
        close(fd);
        return error_memory(error);
    }
    sub_tracking_csv_append_header(&writer->text, &writer->layout);
    return GPUT_OK;
}

static int csv_add(struct sub_tracking_writer *base, const struct sub_tracking_mark *rows,
    size_t count, const struct sub_tracking_names *names, struct gput_error *error)
{
    struct sub_tracking_csv_writer *writer = (struct sub_tracking_csv_writer *)base;
    for (size_t i = 0; i < count; i++) {
        sub_tracking_csv_append_row(&writer->text, &writer->layout, &rows[i],
            sub_tracking_names_text(names, rows[i].name),
            sub_tracking_names_length(names, rows[i].name));
        if (writer->text.length >= BUFFER_BYTES || writer->text.failed)
            TRY(flush(writer, error));
    }
    return GPUT_OK;
}

/* Writes lines as they are. */
static int write_lines(
    struct sub_tracking_csv_writer *writer, const struct csv_lines *lines, struct gput_error *error)
{
    TRY(flush(writer, error));
    return file_write_fd(
        writer->fd, writer->base.path, lines->text.data, lines->text.length, error);
}

static int csv_pass(struct sub_tracking_reader *from, struct sub_tracking_writer *to,
    unsigned cores, size_t *count, struct gput_error *error)
{
    struct sub_tracking_csv_reader *reader = (struct sub_tracking_csv_reader *)from;
    struct sub_tracking_csv_writer *writer = (struct sub_tracking_csv_writer *)to;
    reader->layouts = (struct csv_line_layouts){&reader->layout, &writer->layout};
    if (!reader->has_windows)
        file_windows_create(csv_reader_fd(reader->csv), cores, &csv_line_windows, &reader->layouts,
            &reader->windows, NULL);
    reader->has_windows = true;
    if (!find_lines(reader))
        return GPUT_OK;
    const struct csv_lines *lines = reader->lines;
    reader->lines = NULL;
    TRY(write_lines(writer, lines, error));
    *count = lines->rows;
    return csv_reader_move(
        reader->csv, file_window_place(&lines->window, lines->window.after), *count, error);
}

static int csv_complete(struct sub_tracking_writer *base, struct gput_error *error)
{
    struct sub_tracking_csv_writer *writer = (struct sub_tracking_csv_writer *)base;
    int code = flush(writer, error);
    if (close(writer->fd) != 0 && code == GPUT_OK)
        code = error_set_errno(error, errno, "Cannot write %s", base->path);
    str_finish(&writer->text);
    sub_tracking_csv_layout_finish(&writer->layout);
    return code;
}

const struct sub_tracking_format_methods sub_tracking_csv = {
    .extension = ".csv",
    .reader_bytes = sizeof(struct sub_tracking_csv_reader),
    .writer_bytes = sizeof(struct sub_tracking_csv_writer),
    .open = csv_open,
    .next = csv_next,
    .progress = csv_progress,
    .close = csv_close,
    .create = csv_create,
    .add = csv_add,
    .pass = csv_pass,
    .complete = csv_complete,
};
