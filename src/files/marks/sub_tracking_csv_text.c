#include "files/marks/sub_tracking_csv.h"

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

const char *sub_tracking_csv_field_end(const char *text, const char *end)
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

static enum sub_tracking_column column_of_cell(struct csv_cell cell)
{
    while (cell.length > 0 && *cell.text == ' ') {
        cell.text++;
        cell.length--;
    }
    while (cell.length > 0 && cell.text[cell.length - 1] == ' ')
        cell.length--;
    return sub_tracking_column_find(cell.text, cell.length);
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
        enum sub_tracking_column column = column_of_cell(cells[i]);
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

static void append_field(struct str *text, enum sub_tracking_column column,
    const struct sub_tracking_mark *row, const char *name, size_t name_length)
{
    switch (column) {
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
        int64_t figure = *sub_tracking_column_figure((struct sub_tracking_mark *)row, column);
        if (figure != SUB_TRACKING_UNKNOWN)
            str_append_int64(text, figure);
    }
    }
}

void sub_tracking_csv_append_row(struct str *text, const struct sub_tracking_csv_layout *layout,
    const struct sub_tracking_mark *row, const char *name, size_t name_length)
{
    for (unsigned i = 0; i < layout->count; i++) {
        if (i > 0)
            str_append_char(text, ',');
        append_field(text, layout->fields[i], row, name, name_length);
    }
    str_append_char(text, '\n');
}
