#include "views/report/document/report_table.h"

void report_table_add(struct doc *list, const char *id, const char *title,
    const struct gput_table *table,
    bool (*is_shown)(const struct gput_table *table, size_t row, const void *user),
    const void *user)
{
    size_t n_columns = gput_table_column_count(table);
    struct doc *object = doc_add_object(list, NULL);
    doc_add_string(object, "id", id);
    doc_add_string(object, "title", title);
    struct doc *columns = doc_add_array(object, "columns");
    for (size_t i = 0; i < n_columns; i++) {
        struct doc *column = doc_add_object(columns, NULL);
        const char *unit = gput_table_column_unit(table, i);
        bool is_text = gput_table_column_type(table, i) == GPUT_COLUMN_TEXT;
        doc_add_string(column, "name", gput_table_column_name(table, i));
        doc_add_string(column, "unit", unit ? unit : "");
        doc_add_string(column, "type", is_text ? "text" : "number");
    }
    struct doc *rows = doc_add_array(object, "rows");
    for (size_t i = 0; i < gput_table_row_count(table); i++) {
        struct doc *row = is_shown && !is_shown(table, i, user) ? NULL : doc_add_array(rows, NULL);
        for (size_t j = 0; row && j < n_columns; j++) {
            if (gput_table_is_missing(table, i, j))
                doc_add_null(row, NULL);
            else if (gput_table_column_type(table, j) == GPUT_COLUMN_TEXT)
                doc_add_string(row, NULL, gput_table_text(table, i, j));
            else if (gput_table_column_type(table, j) == GPUT_COLUMN_INT)
                doc_add_int(row, NULL, gput_table_int(table, i, j));
            else
                doc_add_double(row, NULL, gput_table_double(table, i, j));
        }
    }
}
