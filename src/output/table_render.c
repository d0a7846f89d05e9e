#include "base/json_string.h"
#include "base/number.h"
#include "base/str.h"
#include "base/table.h"
#include "output/csv_text.h"

#include <math.h>
#include <string.h>

/* Decimals of a number in text; JSON and CSV have all digits. */
#define TEXT_DECIMALS 3
#define WIDEST_COLUMN 256

static void append_int(struct str *text, int64_t value)
{
    if (str_reserve(text, NUMBER_TEXT_SIZE))
        text->length += number_format_int64(value, text->data + text->length);
}

static void append_double(struct str *text, double value, bool exact)
{
    if (!str_reserve(text, NUMBER_TEXT_SIZE))
        return;
    char *at = text->data + text->length;
    text->length +=
        exact ? number_format_double(value, at) : number_format_rounded(value, TEXT_DECIMALS, at);
}

/* Numbers as they are; `missing` in place of what is not there. Texts are left to the caller. */
static void append_number(struct str *text, const struct gput_table *table, size_t row,
    size_t column, bool exact, const char *missing)
{
    if (gput_table_is_missing(table, row, column))
        str_append(text, missing);
    else if (gput_table_column_type(table, column) == GPUT_COLUMN_INT)
        append_int(text, gput_table_int(table, row, column));
    else
        append_double(text, gput_table_double(table, row, column), exact);
}

/* JSON has no infinity. */
static bool has_json_form(const struct gput_table *table, size_t row, size_t column)
{
    return gput_table_column_type(table, column) != GPUT_COLUMN_DOUBLE ||
           isfinite(gput_table_double(table, row, column));
}

static void render_json_row(struct str *text, const struct gput_table *table, size_t row)
{
    for (size_t column = 0; column < gput_table_column_count(table); column++) {
        const char *name = gput_table_column_name(table, column);
        str_append(text, column == 0 ? "{" : ", ");
        json_write_string(name, strlen(name), text);
        str_append(text, ": ");
        const char *value = gput_table_column_type(table, column) == GPUT_COLUMN_TEXT
                                ? gput_table_text(table, row, column)
                                : NULL;
        if (value)
            json_write_string(value, strlen(value), text);
        else if (has_json_form(table, row, column))
            append_number(text, table, row, column, true, "null");
        else
            str_append(text, "null");
    }
    str_append_char(text, '}');
}

static void render_json_table(struct str *text, const struct gput_table *table)
{
    size_t rows = gput_table_row_count(table);
    if (gput_table_is_record(table) && rows == 1) {
        render_json_row(text, table, 0);
        return;
    }
    str_append(text, "[");
    for (size_t row = 0; row < rows; row++) {
        str_append(text, row == 0 ? "\n" : ",\n");
        render_json_row(text, table, row);
    }
    str_append(text, rows > 0 ? "\n]" : "]");
}

static void render_json(struct str *text, const struct gput_tables *tables)
{
    size_t count = gput_tables_count(tables);
    if (count == 1) {
        render_json_table(text, gput_tables_get(tables, 0));
        str_append_char(text, '\n');
        return;
    }
    str_append(text, "{");
    for (size_t i = 0; i < count; i++) {
        const struct gput_table *table = gput_tables_get(tables, i);
        str_append(text, i == 0 ? "\n" : ",\n");
        json_write_string(gput_table_name(table), strlen(gput_table_name(table)), text);
        str_append(text, ": ");
        render_json_table(text, table);
    }
    str_append(text, "\n}\n");
}

static void render_csv(struct str *text, const struct gput_table *table)
{
    size_t columns = gput_table_column_count(table);
    for (size_t column = 0; column < columns; column++) {
        csv_text_append(text, gput_table_column_name(table, column));
        str_append_char(text, column + 1 < columns ? ',' : '\n');
    }
    for (size_t row = 0; row < gput_table_row_count(table); row++)
        for (size_t column = 0; column < columns; column++) {
            if (gput_table_column_type(table, column) != GPUT_COLUMN_TEXT)
                append_number(text, table, row, column, true, "");
            else if (!gput_table_is_missing(table, row, column))
                csv_text_append(text, gput_table_text(table, row, column));
            str_append_char(text, column + 1 < columns ? ',' : '\n');
        }
}

/* Names come from anywhere: what would move a terminal's cursor is shown as "\\x1b". */
static void append_visible(struct str *text, const char *value)
{
    for (; *value; value++) {
        unsigned char byte = (unsigned char)*value;
        if (byte < 0x20 || byte == 0x7f)
            str_printf(text, "\\x%02x", byte);
        else
            str_append_char(text, *value);
    }
}

static void append_cell(struct str *text, const struct gput_table *table, size_t row, size_t column)
{
    if (gput_table_column_type(table, column) != GPUT_COLUMN_TEXT ||
        gput_table_is_missing(table, row, column))
        append_number(text, table, row, column, false, "n/a");
    else
        append_visible(text, gput_table_text(table, row, column));
}

/* How many columns of a terminal a text takes, near enough: its characters. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += (*text & 0xc0) != 0x80;
    return width;
}

static size_t column_width(const struct gput_table *table, size_t column, struct str *scratch)
{
    size_t width = width_of(gput_table_column_name(table, column));
    for (size_t row = 0; row < gput_table_row_count(table); row++) {
        str_clear(scratch);
        append_cell(scratch, table, row, column);
        size_t needed = width_of(str_text(scratch));
        width = needed > width ? needed : width;
    }
    return width < WIDEST_COLUMN ? width : WIDEST_COLUMN;
}

/* Numbers stand to the right of their column, texts to the left; nothing trails. */
static void append_aligned(struct str *text, const char *value, size_t width, bool right, bool last)
{
    size_t used = width_of(value), blanks = used < width ? width - used : 0;
    if (right)
        str_append_repeated(text, ' ', blanks);
    str_append(text, value);
    if (!right && !last)
        str_append_repeated(text, ' ', blanks);
    str_append(text, last ? "\n" : "  ");
}

static void render_rows(struct str *text, const struct gput_table *table, const size_t *widths)
{
    struct str cell = {0};
    size_t columns = gput_table_column_count(table);
    for (size_t column = 0; column < columns; column++)
        append_aligned(text, gput_table_column_name(table, column), widths[column],
            gput_table_column_type(table, column) != GPUT_COLUMN_TEXT, column + 1 == columns);
    for (size_t row = 0; row < gput_table_row_count(table); row++)
        for (size_t column = 0; column < columns; column++) {
            str_clear(&cell);
            append_cell(&cell, table, row, column);
            append_aligned(text, str_text(&cell), widths[column],
                gput_table_column_type(table, column) != GPUT_COLUMN_TEXT, column + 1 == columns);
        }
    str_finish(&cell);
}

static void render_record(struct str *text, const struct gput_table *table)
{
    for (size_t column = 0; column < gput_table_column_count(table); column++) {
        str_append(text, gput_table_column_name(table, column));
        str_append(text, ": ");
        append_cell(text, table, 0, column);
        str_append_char(text, '\n');
    }
}

#define MOST_COLUMNS 64

static void render_text_table(struct str *text, const struct gput_table *table)
{
    struct str scratch = {0};
    size_t widths[MOST_COLUMNS] = {0};
    if (gput_table_is_record(table) && gput_table_row_count(table) == 1) {
        render_record(text, table);
        return;
    }
    for (size_t column = 0; column < gput_table_column_count(table) && column < MOST_COLUMNS;
         column++)
        widths[column] = column_width(table, column, &scratch);
    str_finish(&scratch);
    render_rows(text, table, widths);
}

static void render_text(struct str *text, const struct gput_tables *tables)
{
    size_t count = gput_tables_count(tables);
    for (size_t i = 0; i < count; i++) {
        const struct gput_table *table = gput_tables_get(tables, i);
        if (count > 1) {
            str_append(text, i > 0 ? "\n" : "");
            str_append(text, gput_table_name(table));
            str_append(text, ":\n");
        }
        render_text_table(text, table);
    }
}

int gput_tables_render(const struct gput_tables *tables, enum gput_format format, char **text,
    struct gput_error *error)
{
    struct str out = {0};
    *text = NULL;
    if (format == GPUT_CSV && gput_tables_count(tables) != 1)
        return error_set(error, GPUT_ERROR_INVALID,
            "CSV holds one table, and there are %zu: ask for one of them, or for JSON",
            gput_tables_count(tables));
    if (format == GPUT_TEXT)
        render_text(&out, tables);
    else if (format == GPUT_JSON)
        render_json(&out, tables);
    else if (format == GPUT_CSV)
        render_csv(&out, gput_tables_get(tables, 0));
    else
        return error_set(error, GPUT_ERROR_INVALID, "Tables are text, JSON or CSV");
    *text = str_take(&out);
    return *text ? GPUT_OK : error_memory(error);
}
