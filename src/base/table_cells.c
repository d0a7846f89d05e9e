#include "base/table_cells.h"

#include <math.h>
#include <string.h>

size_t table_cells_find(const struct gput_table *table, const char *name)
{
    for (size_t i = 0; i < gput_table_column_count(table); i++) {
        if (strcmp(gput_table_column_name(table, i), name) == 0)
            return i;
    }
    return TABLE_NO_COLUMN;
}

double table_cells_number(const struct gput_table *table, size_t row, size_t column)
{
    if (column == TABLE_NO_COLUMN || gput_table_is_missing(table, row, column))
        return NAN;
    if (gput_table_column_type(table, column) == GPUT_COLUMN_INT)
        return (double)gput_table_int(table, row, column);
    if (gput_table_column_type(table, column) == GPUT_COLUMN_DOUBLE)
        return gput_table_double(table, row, column);
    return NAN;
}

const char *table_cells_text(const struct gput_table *table, size_t row, size_t column)
{
    if (column == TABLE_NO_COLUMN || gput_table_is_missing(table, row, column) ||
        gput_table_column_type(table, column) != GPUT_COLUMN_TEXT)
        return "";
    return gput_table_text(table, row, column);
}

double table_cells_number_of(const struct gput_table *table, size_t row, const char *name)
{
    return table_cells_number(table, row, table_cells_find(table, name));
}

const char *table_cells_text_of(const struct gput_table *table, size_t row, const char *name)
{
    return table_cells_text(table, row, table_cells_find(table, name));
}
