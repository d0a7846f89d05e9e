/* The results as tables, by their columns. */
#include "base/table.h"
#include "model/results_columns.h"

/* Adds the columns of a list, each in its unit. */
static void add_columns(struct gput_table *table, const struct results_list *list)
{
    for (size_t i = 0; i < list->n_columns; i++) {
        const struct gput_results_column *column = &list->columns[i].description;
        table_add_column(table, column->name, column->type);
        if (column->unit)
            table_set_unit(table, column->unit);
    }
}

/* Puts the cell of a column by its type. */
static void put(struct gput_table *table, const struct results_column *column, const void *item)
{
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

/* Adds the table of a list, a row an item. */
static void add_list(
    struct gput_tables *tables, const struct results_list *list, const struct gput_results *results)
{
    bool is_record = !list->add;
    struct gput_table *table =
        is_record ? tables_add_record(tables, list->name) : tables_add(tables, list->name);
    add_columns(table, list);
    for (size_t row = 0; row < list->count(results); row++) {
        for (size_t i = 0; i < list->n_columns; i++)
            put(table, &list->columns[i], list->at(results, row));
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
