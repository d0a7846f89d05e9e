/* The results as tables, by their columns. */
#include "base/table.h"
#include "model/results_columns.h"

/* Adds the table of a list, a row an item. */
static void add_list(
    struct gput_tables *tables, const struct results_list *list, const struct gput_results *results)
{
    bool is_record = !list->add;
    struct gput_table *table =
        is_record ? tables_add_record(tables, list->name) : tables_add(tables, list->name);
    /* Add the columns of a list, each in its unit. */
    for (size_t i = 0; i < list->n_columns; i++) {
        const struct gput_results_column *column = &list->columns[i].description;
        table_add_column(table, column->name, column->type);
        if (column->unit)
            table_set_unit(table, column->unit);
    }
    for (size_t row = 0; row < list->count(results); row++) {
        for (size_t i = 0; i < list->n_columns; i++) {
            /* Put the cell of a column by its type. */
            const struct results_column *column = &list->columns[i];
            const void *item = list->at(results, row);
            const char *text;
            switch (column->description.type) {
            case GPUT_COLUMN_INT:
                table_put_int(table, (int64_t)results_column_number(column, item));
                break;
            case GPUT_COLUMN_DOUBLE:
                table_put_double(table, results_column_number(column, item));
                break;
            case GPUT_COLUMN_TEXT:
                text = results_column_text(column, item);
                table_put_text(table, *text ? text : NULL);
                break;
            }
        }
    }
}

int gput_results_tables(
    const struct gput_results *results, struct gput_tables **tables, struct gput_error *error)
{
    size_t count;
    const struct results_list *lists = results_lists(&count);
    struct gput_tables *building = tables_create();
    for (size_t i = 0; i < count; i++)
        add_list(building, &lists[i], results);
    return tables_finish_building(building, tables, error);
}
