#include "base/csv.h"
#include "base/json_string.h"
#include "base/screen.h"
#include "base/str.h"
#include "base/table.h"
#include "views/output/table_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers as they are; `missing` in place of what is not there. Texts are left to the caller. */
static void append_number(struct str *text, const struct gput_table *table, size_t row,
    size_t column, const char *missing)
{
    if (gput_table_is_missing(table, row, column))
        str_append(text, missing);
    else if (gput_table_column_type(table, column) == GPUT_COLUMN_INT)
        str_append_int64(text, gput_table_int(table, row, column));
    else
        str_append_double(text, gput_table_double(table, row, column));
}

struct gput_table_writer {
    enum gput_format format;
    size_t table_count; /* of the list */
    size_t written;     /* of them, so far */
    const struct gput_table *table;
    bool record;
    size_t rows; /* of the table, so far */
    struct table_text layout;
    struct str out;
};

/* ---- JSON: one table, or an object of several ---- */

static void end_json_table(struct gput_table_writer *writer)
{
    if (writer->table && !writer->record)
        str_append(&writer->out, writer->rows > 0 ? "\n]" : "]");
}

/* Ends the last table, and the object of several. */
static void end_json(struct gput_table_writer *writer)
{
    end_json_table(writer);
    if (writer->written == 0)
        str_append_char(&writer->out, '{');
    str_append(&writer->out, writer->table_count == 1 ? "\n" : "\n}\n");
}

/* ---- Every format ---- */

int gput_table_writer_create(enum gput_format format, size_t table_count,
    struct gput_table_writer **writer, struct gput_error *error)
{
    *writer = NULL;
    if (format == GPUT_FORMAT_CSV && table_count != 1)
        return error_set(error, GPUT_ERROR_INVALID,
            "CSV holds one table, and there are %zu: ask for one of them, or for JSON",
            table_count);
    if (format != GPUT_FORMAT_TEXT && format != GPUT_FORMAT_JSON && format != GPUT_FORMAT_CSV)
        return error_set(error, GPUT_ERROR_INVALID, "Tables are text, JSON or CSV");
    *writer = calloc(1, sizeof **writer);
    if (!*writer)
        return error_memory(error);
    (*writer)->format = format;
    (*writer)->table_count = table_count;
    return GPUT_OK;
}

void gput_table_writer_set_width(struct gput_table_writer *writer, unsigned width)
{
    writer->layout.screen = width;
}

/* Writes what is before the rows of a table. */
static void begin_table(struct gput_table_writer *writer, const struct gput_table *table)
{
    const char *name = gput_table_name(table);
    size_t columns = gput_table_column_count(table);
    bool is_record = gput_table_is_record(table) && gput_table_row_count(table) == 1;
    if (writer->format == GPUT_FORMAT_TEXT && writer->table_count > 1) {
        str_append(&writer->out, writer->written > 0 ? "\n" : "");
        table_text_name(table, &writer->out);
        str_append(&writer->out, ":\n");
    } else if (writer->format == GPUT_FORMAT_JSON) {
        end_json_table(writer);
        if (writer->table_count != 1) {
            str_append(&writer->out, writer->written == 0 ? "{\n" : ",\n");
            json_write_string(name, strlen(name), &writer->out);
            str_append(&writer->out, ": ");
        }
        str_append(&writer->out, is_record ? "" : "[");
    } else if (writer->format == GPUT_FORMAT_CSV) {
        for (size_t column = 0; column < columns; column++) {
            csv_append_shown(&writer->out, gput_table_column_name(table, column));
            str_append_char(&writer->out, column + 1 < columns ? ',' : '\n');
        }
    }
    writer->written++;
    writer->table = table;
    writer->record = is_record;
    writer->rows = 0;
}

/* Writes rows of a table, which begins if they are not of the one before. */
static void add_part(struct gput_table_writer *writer, const struct gput_table *part)
{
    bool first = part != writer->table;
    if (first)
        begin_table(writer, part);
    if (writer->format == GPUT_FORMAT_JSON) {
        /* Append the rows of a part. A record is an object, other tables are arrays of these. */
        struct str *text = &writer->out;
        for (size_t row = 0; row < gput_table_row_count(part); row++, writer->rows++) {
            if (!writer->record)
                str_append(text, writer->rows == 0 ? "\n" : ",\n");
            for (size_t column = 0; column < gput_table_column_count(part); column++) {
                const char *name = gput_table_column_name(part, column);
                enum gput_column_type type = gput_table_column_type(part, column);
                const char *value =
                    type == GPUT_COLUMN_TEXT ? gput_table_text(part, row, column) : NULL;
                str_append(text, column == 0 ? "{" : ", ");
                json_write_string(name, strlen(name), text);
                str_append(text, ": ");
                if (value)
                    json_write_string(value, strlen(value), text);
                else if (type == GPUT_COLUMN_DOUBLE &&
                         !isfinite(gput_table_double(part, row, column)))
                    str_append(text, "null"); /* JSON has no infinity */
                else
                    append_number(text, part, row, column, "null");
            }
            str_append_char(text, '}');
        }
    } else if (writer->format == GPUT_FORMAT_CSV) {
        /* Append the rows of a part. */
        size_t columns = gput_table_column_count(part);
        for (size_t row = 0; row < gput_table_row_count(part); row++)
            for (size_t column = 0; column < columns; column++) {
                if (gput_table_column_type(part, column) != GPUT_COLUMN_TEXT)
                    append_number(&writer->out, part, row, column, "");
                else if (!gput_table_is_missing(part, row, column))
                    csv_append_shown(&writer->out, gput_table_text(part, row, column));
                str_append_char(&writer->out, column + 1 < columns ? ',' : '\n');
            }
    } else if (writer->record)
        table_text_add_record(part, &writer->out);
    else
        table_text_add(&writer->layout, part, first, &writer->out);
}

/* Gives what was written to the caller, harmless on a terminal. */
static int give(struct gput_table_writer *writer, const char **text, struct gput_error *error)
{
    if (writer->format == GPUT_FORMAT_TEXT)
        screen_sanitize(&writer->out, 0);
    *text = str_text(&writer->out);
    return writer->out.failed ? error_memory(error) : GPUT_OK;
}

int gput_table_writer_add(struct gput_table_writer *writer, const struct gput_table *part,
    const char **text, struct gput_error *error)
{
    str_clear(&writer->out);
    add_part(writer, part);
    return give(writer, text, error);
}

int gput_table_writer_end(
    struct gput_table_writer *writer, const char **text, struct gput_error *error)
{
    str_clear(&writer->out);
    if (writer->format == GPUT_FORMAT_JSON)
        end_json(writer);
    return give(writer, text, error);
}

void gput_table_writer_destroy(struct gput_table_writer *writer)
{
    if (!writer)
        return;
    str_finish(&writer->out);
    free(writer);
}

int gput_tables_render(const struct gput_tables *tables, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    struct gput_table_writer *writer;
    *bytes = NULL;
    TRY(gput_table_writer_create(format, gput_tables_count(tables), &writer, error));
    for (size_t i = 0; i < gput_tables_count(tables); i++)
        add_part(writer, gput_tables_get(tables, i));
    if (format == GPUT_FORMAT_JSON)
        end_json(writer);
    int code = str_steal_bytes(&writer->out, bytes, length, error);
    gput_table_writer_destroy(writer);
    return code;
}
