#include "files/marks/sub_tracking_csv.h"

#include "base/number.h"

#include <stdlib.h>
#include <string.h>

bool sub_tracking_csv_layout_init(struct sub_tracking_csv_layout *layout, unsigned columns)
{
    layout->fields = calloc(SUB_TRACKING_COLUMN_COUNT, sizeof *layout->fields);
    if (layout->fields)
        layout->count = sub_tracking_columns_of(columns, layout->fields);
    return layout->fields != NULL;
}

void sub_tracking_csv_layout_finish(struct sub_tracking_csv_layout *layout)
{
    free(layout->fields);
    *layout = (struct sub_tracking_csv_layout){0};
}

/*
 * Returns the end of the field that begins at `text`: its comma, or `end`. A field that begins with
 * a quote may have commas between its quotes; elsewhere a quote has no meaning.
 */
static const char *field_end(const char *text, const char *end)
{
    if (text == end || *text != '"') {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        return comma ? comma : end;
    }
    bool quoted = false;
    for (; text < end && (quoted || *text != ','); text++)
        quoted ^= *text == '"';
    return text;
}

int sub_tracking_csv_layout_parse(struct sub_tracking_csv_layout *layout, struct csv_record *header,
    unsigned *have, struct gput_error *error)
{
    size_t count = csv_count_cells(header);
    struct csv_cell *cells = calloc(count, sizeof *cells);
    layout->fields = calloc(count, sizeof *layout->fields);
    if (!cells || !layout->fields) {
        free(cells);
        return error_memory(error);
    }
    layout->count = (unsigned)csv_split(header, cells, count);
    *have = 0;
    for (unsigned i = 0; i < layout->count; i++) {
        struct csv_cell cell = cells[i];
        for (; cell.length > 0 && *cell.text == ' '; cell.length--)
            cell.text++;
        while (cell.length > 0 && cell.text[cell.length - 1] == ' ')
            cell.length--;
        enum sub_tracking_column column = sub_tracking_column_find(cell.text, cell.length);
        if (*have & 1u << column) /* a second column of that name is ignored */
            column = SUB_TRACKING_OTHER_COLUMN;
        layout->fields[i] = column;
        *have |= 1u << column;
    }
    free(cells);
    return GPUT_OK;
}

int sub_tracking_csv_layout_read(
    struct sub_tracking_csv_layout *layout, const char *path, struct gput_error *error)
{
    struct csv_reader *reader;
    TRY(csv_reader_open(path, &reader, error));
    struct csv_record header;
    bool end;
    unsigned have = 0;
    int code = csv_reader_next(reader, &header, &end, error);
    if (code == GPUT_OK && !end)
        code = sub_tracking_csv_layout_parse(layout, &header, &have, error);
    csv_reader_close(reader);
    unsigned required = (1u << SUB_TRACKING_REQUIRED_COLUMNS) - 1;
    if (code == GPUT_OK && (have & required) != required)
        code = error_set(error, GPUT_ERROR_FORMAT,
            "Sub-tracking file %s is invalid: its header must name process_id, code_block_name, "
            "position and timestamp.",
            path);
    return code;
}

unsigned sub_tracking_csv_layout_columns(const struct sub_tracking_csv_layout *layout)
{
    unsigned columns = 0;
    for (unsigned i = 0; i < layout->count; i++)
        columns |= sub_tracking_column_bit(layout->fields[i]);
    return columns;
}

void sub_tracking_csv_append_header(struct str *text, const struct sub_tracking_csv_layout *layout)
{
    for (unsigned i = 0; i < layout->count; i++) {
        if (i > 0)
            str_append_char(text, ',');
        str_append(text, sub_tracking_column_name(layout->fields[i]));
    }
    str_append_char(text, '\n');
}

void sub_tracking_csv_append_row(struct str *text, const struct sub_tracking_csv_layout *layout,
    const struct sub_tracking_mark *row, const char *name, size_t name_length)
{
    for (unsigned i = 0; i < layout->count; i++) {
        if (i > 0)
            str_append_char(text, ',');
        /* Append a field of a row; nothing where it is unknown. */
        switch (layout->fields[i]) {
        case SUB_TRACKING_PROCESS_ID:
            str_append_int64(text, row->process_id);
            break;
        case SUB_TRACKING_NAME:
            csv_append_cell(text, name, name_length);
            break;
        case SUB_TRACKING_POSITION:
            str_append_char(text, (char)('0' + row->position));
            break;
        case SUB_TRACKING_TIMESTAMP:
            if (str_reserve(text, SUB_TRACKING_TIME_TEXT_SIZE))
                text->length += sub_tracking_format_timestamp(row, text->data + text->length);
            break;
        case SUB_TRACKING_OTHER_COLUMN:
            break;
        default: {
            int64_t figure =
                *sub_tracking_column_figure((struct sub_tracking_mark *)row, layout->fields[i]);
            if (figure != SUB_TRACKING_UNKNOWN)
                str_append_int64(text, figure);
        }
        }
    }
    str_append_char(text, '\n');
}

/* ---- Parsing rows ---- */

/* Returns the first byte that is no blank. */
static const char *skip_blanks(const char *text, const char *end)
{
    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    return text;
}

/* Parses an integer; also as "12.0", which some tools write. */
static const char *parse_whole(const char *text, const char *end, int64_t *value)
{
    /* The common case is a few digits and the end of the field. */
    const char *stop = end - text > 18 ? text + 18 : end;
    int64_t number = 0;
    const char *at = text;
    for (unsigned digit; at < stop && (digit = (unsigned)(*at - '0')) < 10; at++)
        number = number * 10 + digit;
    *value = number;
    if (at > text && (at == end || *at == ','))
        return at;
    text = number_parse_int64(skip_blanks(text, end), end, value);
    if (text && text < end && *text == '.')
        for (text++; text < end && *text == '0';)
            text++;
    return text ? skip_blanks(text, end) : NULL;
}

/* Parses a name. A quoted one is changed where it stands. */
static char *parse_name(char *text, char *end, struct csv_cell *name)
{
    char *after = (char *)field_end(text, end);
    struct csv_record rest = {.text = text, .end = after};
    if (text < end && *text == '"')
        csv_split(&rest, name, 1);
    else
        *name = (struct csv_cell){text, (size_t)(after - text)};
    return after;
}

/* Parses a field; returns its end, or NULL when it is invalid for its column. */
static char *parse_field(char *text, char *end, enum sub_tracking_column column,
    struct sub_tracking_mark *row, struct csv_cell *name)
{
    int64_t position;
    const char *after;
    switch (column) {
    case SUB_TRACKING_PROCESS_ID:
        return (char *)parse_whole(text, end, &row->process_id);
    case SUB_TRACKING_NAME:
        return parse_name(text, end, name);
    case SUB_TRACKING_POSITION:
        after = parse_whole(text, end, &position);
        if (!after || position < SUB_TRACKING_START || position > SUB_TRACKING_STOP)
            return NULL;
        row->position = (uint8_t)position;
        return (char *)after;
    case SUB_TRACKING_TIMESTAMP:
        after = sub_tracking_parse_timestamp(
            skip_blanks(text, end), end, &row->timestamp, &row->timestamp_ns);
        return after ? (char *)skip_blanks(after, end) : NULL;
    case SUB_TRACKING_OTHER_COLUMN:
        return (char *)field_end(text, end);
    default:
        text = (char *)skip_blanks(text, end);
        if (text == end || *text == ',')
            return text; /* empty: unknown */
        return (char *)parse_whole(text, end, sub_tracking_column_figure(row, column));
    }
}

/* Parses a number in quotes: some programs quote every field. */
static char *parse_quoted_number(
    char *text, char *end, enum sub_tracking_column column, struct sub_tracking_mark *row)
{
    char *after = (char *)field_end(text, end);
    if (after - text < 2 || after[-1] != '"')
        return NULL;
    char *quote = after - 1;
    return parse_field(text + 1, quote, column, row, NULL) == quote ? after : NULL;
}

int sub_tracking_csv_row_parse(const struct sub_tracking_csv_layout *layout, char *text, char *end,
    struct sub_tracking_mark *row, struct csv_cell *name)
{
    sub_tracking_mark_clear_figures(row);
    for (unsigned i = 0; i < layout->count; i++) {
        if (i > 0 && (text == end || *text++ != ','))
            return (int)i;
        enum sub_tracking_column column = layout->fields[i];
        bool is_number = column != SUB_TRACKING_NAME && column != SUB_TRACKING_OTHER_COLUMN;
        text = is_number && text < end && *text == '"' ? parse_quoted_number(text, end, column, row)
                                                       : parse_field(text, end, column, row, name);
        if (!text || (text < end && *text != ','))
            return (int)i;
    }
    return text == end ? SUB_TRACKING_CSV_ROW_FINE : SUB_TRACKING_CSV_ROW_TOO_LONG;
}

bool sub_tracking_csv_row_joins(
    const struct sub_tracking_csv_layout *layout, const char *text, const char *end)
{
    struct sub_tracking_mark row;
    struct csv_cell name;
    char line[4096];
    const char *at = memchr(text, '\n', (size_t)(end - text));
    const char *line_end = at ? memchr(at + 1, '\n', (size_t)(end - at - 1)) : NULL;
    size_t length = at ? (size_t)((line_end ? line_end : end) - at - 1) : 0;
    if (length == 0 || length > sizeof line)
        return false;
    memcpy(line, at + 1, length);
    length -= line[length - 1] == '\r';
    return sub_tracking_csv_row_parse(layout, line, line + length, &row, &name) ==
           SUB_TRACKING_CSV_ROW_FINE;
}
