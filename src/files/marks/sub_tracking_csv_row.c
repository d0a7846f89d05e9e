#include "files/marks/sub_tracking_csv_row.h"

#include "base/number.h"

#include <string.h>

static const char *skip_blanks(const char *text, const char *end)
{
    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    return text;
}

/* The common case of parse_whole(): a few digits and the end of the field. NULL for all others. */
static const char *parse_digits(const char *text, const char *end, int64_t *value)
{
    const char *stop = end - text > 18 ? text + 18 : end;
    int64_t number = 0;
    const char *at = text;
    for (unsigned digit; at < stop && (digit = (unsigned)(*at - '0')) < 10; at++)
        number = number * 10 + digit;
    *value = number;
    return at > text && (at == end || *at == ',') ? at : NULL;
}

/* An integer; also as "12.0", which some tools write. */
static const char *parse_whole(const char *text, const char *end, int64_t *value)
{
    const char *after = parse_digits(text, end, value);
    if (after)
        return after;
    text = number_parse_int64(skip_blanks(text, end), end, value);
    if (text && text < end && *text == '.')
        for (text++; text < end && *text == '0';)
            text++;
    return text ? skip_blanks(text, end) : NULL;
}

/* A quoted one is changed where it stands. */
static char *parse_name(char *text, char *end, struct csv_cell *name)
{
    char *after = (char *)sub_tracking_csv_field_end(text, end);
    struct csv_record rest = {.text = text, .end = after};
    if (text < end && *text == '"')
        csv_split(&rest, name, 1);
    else
        *name = (struct csv_cell){text, (size_t)(after - text)};
    return after;
}

static const char *parse_figure(const char *text, const char *end, enum sub_tracking_column column,
    struct sub_tracking_mark *row)
{
    text = skip_blanks(text, end);
    if (text == end || *text == ',')
        return text; /* empty: unknown */
    return parse_whole(text, end, sub_tracking_column_figure(row, column));
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
        return (char *)sub_tracking_csv_field_end(text, end);
    default:
        return (char *)parse_figure(text, end, column, row);
    }
}

/* Some programs quote every field. */
static char *parse_quoted_number(
    char *text, char *end, enum sub_tracking_column column, struct sub_tracking_mark *row)
{
    char *after = (char *)sub_tracking_csv_field_end(text, end);
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
