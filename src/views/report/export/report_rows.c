#include "views/report/export/report_rows.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void report_rows_init(struct report_rows *rows, const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t length = 0;
    *rows = (struct report_rows){0};
    for (; name[length] && length < sizeof rows->name - 1; length++)
        rows->name[length] = strchr(allowed, name[length]) ? name[length] : '_';
    rows->name[length] = '\0';
}

void report_rows_finish(struct report_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        report_column_reader_finish(&rows->columns[i].reader);
        free((void *)rows->columns[i].list);
        free(rows->columns[i].name);
    }
    free(rows->columns);
    *rows = (struct report_rows){0};
}

/* ---- Columns ---- */

static struct report_row_column *add_column(struct report_rows *rows, const char *name)
{
    if (!ARRAY_RESERVE(rows->columns, rows->count, rows->capacity))
        return NULL;
    char *copy = strdup(name);
    if (!copy)
        return NULL;
    rows->columns[rows->count] =
        (struct report_row_column){.name = copy, .type = GPUT_COLUMN_DOUBLE};
    return &rows->columns[rows->count++];
}

int report_rows_add_numbers(struct report_rows *rows, const struct report_payload *payload,
    const char *name, const char *unit, const struct doc *column, struct gput_error *error)
{
    if (!column)
        return GPUT_OK;
    struct report_row_column *added = add_column(rows, name);
    if (!added)
        return error_memory(error);
    added->unit = unit && unit[0] ? unit : NULL;
    TRY(report_column_reader_init(&added->reader, payload, column, error));
    if (added->reader.count > rows->row_count)
        rows->row_count = added->reader.count;
    return GPUT_OK;
}

int report_rows_add_integers(struct report_rows *rows, const struct report_payload *payload,
    const char *name, const struct doc *column, struct gput_error *error)
{
    size_t count = rows->count;
    TRY(report_rows_add_numbers(rows, payload, name, NULL, column, error));
    if (rows->count > count)
        rows->columns[count].type = GPUT_COLUMN_INT;
    return GPUT_OK;
}

int report_rows_add_texts(struct report_rows *rows, const struct report_payload *payload,
    const char *name, const struct doc *column, const struct doc *list, const char *key,
    struct gput_error *error)
{
    if (!column || !list)
        return GPUT_OK;
    TRY(report_rows_add_numbers(rows, payload, name, NULL, column, error));
    struct report_row_column *added = &rows->columns[rows->count - 1];
    const struct doc **items = malloc((list->count + 1) * sizeof *items);
    if (!items)
        return error_memory(error);
    added->type = GPUT_COLUMN_TEXT;
    added->list = items;
    for (const struct doc *item = list->first; item; item = item->next)
        items[added->list_length++] = key ? doc_get(item, key) : item;
    return GPUT_OK;
}

/* ---- Lists of the document ---- */

int report_rows_of_objects(struct report_rows *rows, const struct doc *items,
    const struct report_member *members, struct gput_error *error)
{
    rows->of_items = true;
    rows->items = items ? items->first : NULL;
    rows->row_count = items ? items->count : 0;
    for (; members->name; members++) {
        struct report_row_column *added = add_column(rows, members->name);
        if (!added)
            return error_memory(error);
        added->unit = members->unit;
        added->type = members->type;
        added->is_member = true;
    }
    return GPUT_OK;
}

int report_rows_of_table(
    struct report_rows *rows, const struct doc *table, struct gput_error *error)
{
    const struct doc *columns = doc_get(table, "columns"), *items = doc_get(table, "rows");
    rows->of_items = true;
    rows->items = items ? items->first : NULL;
    rows->row_count = items ? items->count : 0;
    for (const struct doc *column = columns ? columns->first : NULL; column;
         column = column->next) {
        struct report_row_column *added = add_column(rows, doc_get_string(column, "name"));
        const char *unit = doc_get_string(column, "unit");
        if (!added)
            return error_memory(error);
        added->unit = unit[0] ? unit : NULL;
        if (strcmp(doc_get_string(column, "type"), "number") != 0)
            added->type = GPUT_COLUMN_TEXT;
    }
    return GPUT_OK;
}

/* ---- Rows ---- */

static struct report_cell cell_of(const struct doc *value)
{
    struct report_cell cell = {
        .text = doc_string(value), .number = doc_number(value), .decimals = -1};
    if (value && value->kind == DOC_BOOL)
        cell.number = value->boolean;
    return cell;
}

static void next_item(struct report_rows *rows, struct report_cell *cells)
{
    const struct doc *item = rows->items->first;
    for (size_t i = 0; i < rows->count; i++) {
        const struct report_row_column *column = &rows->columns[i];
        cells[i] = cell_of(column->is_member ? doc_get(rows->items, column->name) : item);
        item = item ? item->next : NULL;
    }
    rows->items = rows->items->next;
}

static int next_numbers(
    struct report_rows *rows, struct report_cell *cells, struct gput_error *error)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct report_row_column *column = &rows->columns[i];
        double number;
        TRY(report_column_reader_next(&column->reader, &number, error));
        cells[i] = (struct report_cell){.number = number, .decimals = column->reader.decimals};
        if (!column->list)
            continue;
        bool is_listed = number >= 0 && number < (double)column->list_length;
        cells[i] = cell_of(is_listed ? column->list[(size_t)number] : NULL);
    }
    return GPUT_OK;
}

int report_rows_next(
    struct report_rows *rows, struct report_cell *cells, bool *there, struct gput_error *error)
{
    *there = rows->of_items ? rows->items != NULL : rows->row < rows->row_count;
    rows->row++;
    if (*there && rows->of_items)
        next_item(rows, cells);
    return *there && !rows->of_items ? next_numbers(rows, cells, error) : GPUT_OK;
}
