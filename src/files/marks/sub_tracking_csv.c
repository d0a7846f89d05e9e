#include "files/marks/sub_tracking_csv.h"

#include "base/csv.h"
#include "files/marks/sub_tracking_columns.h"
#include "files/marks/sub_tracking_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Layouts for the threads that make lines. */
struct csv_line_layouts {
    const struct sub_tracking_csv_layout *from, *to;
};

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

/* Reads the lines of a record again, each as a row. A name may have line ends; but when a damaged
 * quote has joined lines that are rows, these are rows. The bytes of the record must be unchanged.
 */
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

/* Makes a name the reader's last one. False without memory, or with too many names. */
static bool find_name(struct sub_tracking_csv_reader *reader, const struct csv_cell *name)
{
    /* Most stops follow their own start: then the name need not be looked up. */
    if (reader->last_name_text && reader->last_name_length == name->length &&
        memcmp(reader->last_name_text, name->text, name->length) == 0)
        return true;
    uint32_t number = sub_tracking_names_add(reader->base.names, name->text, name->length);
    if (number == SUB_TRACKING_NO_NAME)
        return false;
    reader->last_name = number;
    reader->last_name_text = sub_tracking_names_text(reader->base.names, number);
    reader->last_name_length = sub_tracking_names_length(reader->base.names, number);
    return true;
}

/* Parses a row as sub_tracking_csv_row_parse() does, with the name: without it any field is wrong.
 */
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

/* Parses a record; a copy of one that may have to be read again, since parsing unquotes names in
 * place. */
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
    if (lines_are_rows(reader, record))
        return open_quote_error(reader, record->line, error);
    if (sub_tracking_names_lack(reader->base.names))
        return error_memory(error);
    if (field == SUB_TRACKING_CSV_ROW_TOO_LONG)
        return sub_tracking_invalid(&reader->base, error,
            "line %" PRIu64 " has more fields than the header.", record->line);
    static const char *const expected[] = {"a process id", "the name of a code block",
        "0 (start) or 1 (stop)", "a time in seconds since the epoch"};
    enum sub_tracking_column column = reader->layout.fields[field];
    return sub_tracking_invalid(&reader->base, error, "line %" PRIu64 ": its field %d is not %s.",
        record->line, field + 1,
        column < SUB_TRACKING_REQUIRED_COLUMNS ? expected[column] : "what its column holds");
}

/* Whether other threads have made lines of the rows that come next. */
static bool find_lines(struct sub_tracking_csv_reader *reader)
{
    if (reader->windows && !reader->lines)
        reader->lines = (const struct csv_lines *)file_windows_at(
            reader->windows, csv_reader_place(reader->csv));
    return reader->lines;
}

/* Reads the next rows, up to lines that other threads have made. */
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

/* Opens the file and reads its header. One that a killed writer has just begun has no rows. */
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

/* ---- Lines that are passed on ---- */

/* Whether a name is a block's, rather than lost calls or a label. At a NUL a name would end. */
static bool is_block(struct csv_lines *lines, const struct csv_cell *name)
{
    const struct csv_cell *last = &lines->name;
    struct sub_tracking_lost lost;
    struct sub_tracking_label label;
    if (last->text && last->length == name->length &&
        memcmp(last->text, name->text, name->length) == 0)
        return true;
    if (memchr(name->text, '\0', name->length) ||
        sub_tracking_lost_parse(name->text, name->length, &lost) ||
        sub_tracking_label_parse(name->text, name->length, &label))
        return false;
    lines->name = *name;
    return true;
}

/* Adds the line at `*at` and moves after it. False: it is not a plain one. */
static bool add_line(struct csv_lines *lines, const char **at)
{
    const struct csv_line_layouts *layouts = lines->window.user;
    struct sub_tracking_mark row;
    struct csv_cell name = {0};
    char *line = (char *)*at; /* without quotes it is not changed */
    char *line_end = memchr(line, '\n', (size_t)(lines->window.end - line));
    if (!line_end || memchr(line, '"', (size_t)(line_end - line)))
        return false;
    char *end = line_end > line && line_end[-1] == '\r' ? line_end - 1 : line_end;
    int field = sub_tracking_csv_row_parse(layouts->from, line, end, &row, &name);
    if (field != SUB_TRACKING_CSV_ROW_FINE || !is_block(lines, &name))
        return false;
    sub_tracking_csv_append_row(&lines->text, layouts->to, &row, name.text, name.length);
    lines->rows++;
    *at = line_end + 1;
    return true;
}

/* Makes the lines of a window, from its first line on. */
static void scan(struct file_window *base)
{
    struct csv_lines *lines = (struct csv_lines *)base;
    const char *at = file_window_line(base);
    str_clear(&lines->text);
    lines->rows = 0;
    lines->name = (struct csv_cell){0};
    base->after = at;
    while (base->after && base->after < base->limit && add_line(lines, &base->after))
        ;
    base->first = lines->rows > 0 && !lines->text.failed ? at : NULL;
}

static void finish(struct file_window *base)
{
    str_finish(&((struct csv_lines *)base)->text);
}

static const struct file_window_class csv_line_windows = {sizeof(struct csv_lines), scan, finish};

const struct csv_lines *sub_tracking_csv_take_lines(
    struct sub_tracking_reader *base, const struct sub_tracking_csv_layout *to, unsigned cores)
{
    struct sub_tracking_csv_reader *reader = (struct sub_tracking_csv_reader *)base;
    if (base->methods != &sub_tracking_csv)
        return NULL;
    reader->layouts = (struct csv_line_layouts){&reader->layout, to};
    if (!reader->has_windows)
        file_windows_create(csv_reader_fd(reader->csv), cores, &csv_line_windows, &reader->layouts,
            &reader->windows, NULL);
    reader->has_windows = true;
    const struct csv_lines *lines = find_lines(reader) ? reader->lines : NULL;
    reader->lines = NULL;
    return lines;
}

int sub_tracking_csv_skip_lines(
    struct sub_tracking_reader *base, const struct csv_lines *lines, struct gput_error *error)
{
    struct sub_tracking_csv_reader *reader = (struct sub_tracking_csv_reader *)base;
    base->rows += lines->rows;
    return csv_reader_move(
        reader->csv, file_window_place(&lines->window, lines->window.after), lines->rows, error);
}

const struct sub_tracking_format_methods sub_tracking_csv = {
    .extension = ".csv",
    .reader_bytes = sizeof(struct sub_tracking_csv_reader),
    .open = csv_open,
    .next = csv_next,
    .progress = csv_progress,
    .close = csv_close,
};
