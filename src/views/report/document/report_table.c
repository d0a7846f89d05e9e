#include "views/report/document/report_table.h"

/* Describes the columns of a table. */
static void add_columns(struct doc *object, const struct gput_table *table)
{
    struct doc *columns = doc_add_array(object, "columns");
    for (size_t i = 0; i < gput_table_column_count(table); i++) {
        struct doc *column = doc_add_object(columns, NULL);
        const char *unit = gput_table_column_unit(table, i);
        bool is_text = gput_table_column_type(table, i) == GPUT_COLUMN_TEXT;
        doc_add_string(column, "name", gput_table_column_name(table, i));
        doc_add_string(column, "unit", unit ? unit : "");
        doc_add_string(column, "type", is_text ? "text" : "number");
    }
}

/* Adds a cell of a table to its row. */
static void add_cell(struct doc *row, const struct gput_table *table, size_t number, size_t column)
{
    if (gput_table_is_missing(table, number, column))
        doc_add_null(row, NULL);
    else if (gput_table_column_type(table, column) == GPUT_COLUMN_TEXT)
        doc_add_string(row, NULL, gput_table_text(table, number, column));
    else if (gput_table_column_type(table, column) == GPUT_COLUMN_INT)
        doc_add_int(row, NULL, gput_table_int(table, number, column));
    else
        doc_add_double(row, NULL, gput_table_double(table, number, column));
}

void report_table_add(struct doc *list, const char *id, const char *title,
    const struct gput_table *table,
    bool (*is_shown)(const struct gput_table *table, size_t row, const void *user),
    const void *user)
{
    struct doc *object = doc_add_object(list, NULL);
    doc_add_string(object, "id", id);
    doc_add_string(object, "title", title);
    add_columns(object, table);
    struct doc *rows = doc_add_array(object, "rows");
    for (size_t i = 0; i < gput_table_row_count(table); i++) {
        struct doc *row = is_shown && !is_shown(table, i, user) ? NULL : doc_add_array(rows, NULL);
        for (size_t j = 0; row && j < gput_table_column_count(table); j++)
            add_cell(row, table, i, j);
    }
}
