#include "views/output/pandas_table.h"

#include "base/number.h"
#include "base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECIMALS 8

/* Cells lie row by row; row 0 holds the column names, column 0 the row names. */
struct pandas_table {
    size_t n_rows;
    size_t n_columns;
    char **cells;
    bool failed;
};

struct pandas_table *pandas_table_create(size_t n_rows, size_t n_columns)
{
    struct pandas_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->n_rows = n_rows + 1;
    table->n_columns = n_columns + 1;
    table->cells = calloc(table->n_rows * table->n_columns, sizeof *table->cells);
    if (!table->cells) {
        free(table);
        return NULL;
    }
    return table;
}

void pandas_table_destroy(struct pandas_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->n_rows * table->n_columns; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

static void set(struct pandas_table *table, size_t row, size_t column, const char *cell)
{
    if (!table)
        return;
    char **place = &table->cells[row * table->n_columns + column];
    free(*place);
    *place = strdup(cell);
    table->failed = table->failed || !*place;
}

void pandas_table_set_row_name(struct pandas_table *table, size_t row, const char *name)
{
    set(table, row + 1, 0, name);
}

void pandas_table_set_column_name(struct pandas_table *table, size_t column, const char *name)
{
    set(table, 0, column + 1, name);
}

void pandas_table_set_number_column_name(
    struct pandas_table *table, size_t column, const char *name)
{
    struct str text = {0};
    str_append_char(&text, ' ');
    str_append(&text, name);
    pandas_table_set_column_name(table, column, str_text(&text));
    if (table)
        table->failed = table->failed || text.failed;
    str_finish(&text);
}

void pandas_table_set(struct pandas_table *table, size_t row, size_t column, const char *cell)
{
    set(table, row + 1, column + 1, cell);
}

void pandas_table_set_number(struct pandas_table *table, size_t row, size_t column, double value)
{
    char text[NUMBER_TEXT_SIZE] = "NaN";
    if (!isnan(value))
        number_format_rounded(value, DECIMALS, text);
    pandas_table_set(table, row, column, text);
}

void pandas_table_set_integer(struct pandas_table *table, size_t row, size_t column, double value)
{
    char text[NUMBER_TEXT_SIZE];
    snprintf(text, sizeof text, "% .0f", value);
    pandas_table_set(table, row, column, text);
}

static const char *cell_at(const struct pandas_table *table, size_t row, size_t column)
{
    const char *cell = table->cells[row * table->n_columns + column];
    return cell ? cell : "";
}

static void write_line(
    const struct pandas_table *table, size_t row, const size_t *widths, struct str *text)
{
    for (size_t column = 0; column < table->n_columns; column++) {
        const char *cell = cell_at(table, row, column);
        size_t blanks = widths[column] - utf8_width(cell);
        if (column > 0)
            str_append_repeated(text, ' ', blanks + 1);
        str_append(text, cell);
        if (column == 0)
            str_append_repeated(text, ' ', blanks);
    }
    str_append_char(text, '\n');
}

void pandas_table_write(const struct pandas_table *table, int indent, struct str *text)
{
    size_t *widths = table ? calloc(table->n_columns, sizeof *widths) : NULL;
    if (!widths || table->failed) {
        free(widths);
        text->failed = true;
        return;
    }
    for (size_t row = 0; row < table->n_rows; row++) {
        for (size_t column = 0; column < table->n_columns; column++) {
            size_t width = utf8_width(cell_at(table, row, column));
            widths[column] = width > widths[column] ? width : widths[column];
        }
    }
    for (size_t row = 0; row < table->n_rows; row++) {
        str_append_repeated(text, '\t', (size_t)indent);
        write_line(table, row, widths, text);
    }
    free(widths);
}

void pandas_table_append_title(struct str *text, const char *name)
{
    bool inside = false;
    for (; *name; name++) {
        bool letter = isalpha((unsigned char)*name);
        char byte = *name == '_' ? ' ' : *name;
        if (letter)
            byte = (char)(inside ? tolower(byte) : toupper(byte));
        str_append_char(text, byte);
        inside = letter;
    }
}
