#include "trace/table.h"

#include "base/str.h"
#include "trace/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct column {
    char *name;
    enum gput_column_type type;
};

union cell {
    int64_t integer;
    double number;
    uint32_t text;
};

struct gput_table {
    struct gput_tables *list;
    char *name;
    bool record;
    struct column *columns;
    size_t column_count;
    union cell *cells; /* row by row */
    size_t cell_count;
    size_t cell_capacity;
    struct names texts;
};

struct gput_tables {
    struct gput_table **tables;
    size_t count;
    bool failed;
};

struct gput_tables *tables_create(void)
{
    return calloc(1, sizeof(struct gput_tables));
}

struct gput_table *tables_add(struct gput_tables *tables, const char *name)
{
    struct gput_table *table = calloc(1, sizeof *table);
    struct gput_table **larger =
        realloc(tables->tables, (tables->count + 1) * sizeof *tables->tables);
    if (larger)
        tables->tables = larger;
    char *copy = strdup(name);
    if (!table || !larger || !copy) {
        free(table);
        free(copy);
        tables->failed = true;
        return NULL;
    }
    table->list = tables;
    table->name = copy;
    return tables->tables[tables->count++] = table;
}

struct gput_table *tables_add_record(struct gput_tables *tables, const char *name)
{
    struct gput_table *table = tables_add(tables, name);
    if (table)
        table->record = true;
    return table;
}

void table_add_column(struct gput_table *table, const char *name, enum gput_column_type type)
{
    if (!table)
        return;
    struct column *columns = realloc(table->columns, (table->column_count + 1) * sizeof *columns);
    if (columns)
        table->columns = columns;
    char *copy = columns ? strdup(name) : NULL;
    if (copy)
        columns[table->column_count++] = (struct column){copy, type};
    else
        table->list->failed = true;
}

static void put(struct gput_table *table, union cell cell)
{
    if (table->cell_count == table->cell_capacity) {
        size_t capacity = table->cell_capacity ? table->cell_capacity * 2 : 64;
        union cell *cells = realloc(table->cells, capacity * sizeof *cells);
        if (!cells) {
            table->list->failed = true;
            return;
        }
        table->cells = cells;
        table->cell_capacity = capacity;
    }
    table->cells[table->cell_count++] = cell;
}

void table_put_int(struct gput_table *table, int64_t value)
{
    if (table)
        put(table, (union cell){.integer = value});
}

void table_put_double(struct gput_table *table, double value)
{
    if (table)
        put(table, (union cell){.number = value});
}

void table_put_text(struct gput_table *table, const char *value)
{
    if (!table)
        return;
    uint32_t text = value ? names_add(&table->texts, value, strlen(value)) : NAMES_NONE;
    if (value && text == NAMES_NONE)
        table->list->failed = true;
    put(table, (union cell){.text = text});
}

void table_put_missing(struct gput_table *table)
{
    if (!table || table->column_count == 0)
        return;
    switch (table->columns[table->cell_count % table->column_count].type) {
    case GPUT_COLUMN_INT:
        table_put_int(table, INT64_MIN);
        break;
    case GPUT_COLUMN_DOUBLE:
        table_put_double(table, NAN);
        break;
    default:
        table_put_text(table, NULL);
    }
}

int tables_finish_building(
    struct gput_tables *building, struct gput_tables **tables, struct gput_error *error)
{
    if (!building || building->failed) {
        gput_tables_destroy(building);
        return error_memory(error);
    }
    *tables = building;
    return GPUT_OK;
}

size_t gput_tables_count(const struct gput_tables *tables)
{
    return tables->count;
}

const struct gput_table *gput_tables_get(const struct gput_tables *tables, size_t number)
{
    return number < tables->count ? tables->tables[number] : NULL;
}

const struct gput_table *gput_tables_find(const struct gput_tables *tables, const char *name)
{
    for (size_t i = 0; i < tables->count; i++)
        if (strcmp(tables->tables[i]->name, name) == 0)
            return tables->tables[i];
    return NULL;
}

static void table_destroy(struct gput_table *table)
{
    for (size_t column = 0; column < table->column_count; column++)
        free(table->columns[column].name);
    free(table->columns);
    free(table->cells);
    free(table->name);
    names_finish(&table->texts);
    free(table);
}

int gput_tables_keep(struct gput_tables *tables, const char *name, struct gput_error *error)
{
    if (!gput_tables_find(tables, name)) {
        struct str list = {0};
        for (size_t i = 0; i < tables->count; i++)
            str_printf(&list, "%s%s", i > 0 ? ", " : "", tables->tables[i]->name);
        int code = error_set(error, GPUT_ERROR_NOT_FOUND, "There is no table \"%s\". There are: %s",
            name, str_text(&list));
        str_finish(&list);
        return code;
    }
    size_t kept = 0;
    for (size_t i = 0; i < tables->count; i++) {
        if (kept == 0 && strcmp(tables->tables[i]->name, name) == 0)
            tables->tables[kept++] = tables->tables[i];
        else
            table_destroy(tables->tables[i]);
    }
    tables->count = kept;
    return GPUT_OK;
}

void gput_tables_destroy(struct gput_tables *tables)
{
    if (!tables)
        return;
    for (size_t i = 0; i < tables->count; i++)
        table_destroy(tables->tables[i]);
    free(tables->tables);
    free(tables);
}

const char *gput_table_name(const struct gput_table *table)
{
    return table->name;
}

bool gput_table_is_record(const struct gput_table *table)
{
    return table->record;
}

size_t gput_table_row_count(const struct gput_table *table)
{
    return table->column_count ? table->cell_count / table->column_count : 0;
}

size_t gput_table_column_count(const struct gput_table *table)
{
    return table->column_count;
}

const char *gput_table_column_name(const struct gput_table *table, size_t column)
{
    return table->columns[column].name;
}

enum gput_column_type gput_table_column_type(const struct gput_table *table, size_t column)
{
    return table->columns[column].type;
}

static union cell cell_at(const struct gput_table *table, size_t row, size_t column)
{
    return table->cells[row * table->column_count + column];
}

bool gput_table_is_missing(const struct gput_table *table, size_t row, size_t column)
{
    switch (table->columns[column].type) {
    case GPUT_COLUMN_INT:
        return gput_table_int(table, row, column) == INT64_MIN;
    case GPUT_COLUMN_DOUBLE:
        return isnan(gput_table_double(table, row, column));
    default:
        return !gput_table_text(table, row, column);
    }
}

int64_t gput_table_int(const struct gput_table *table, size_t row, size_t column)
{
    return cell_at(table, row, column).integer;
}

double gput_table_double(const struct gput_table *table, size_t row, size_t column)
{
    return cell_at(table, row, column).number;
}

const char *gput_table_text(const struct gput_table *table, size_t row, size_t column)
{
    uint32_t text = cell_at(table, row, column).text;
    return text == NAMES_NONE ? NULL : names_text(&table->texts, text);
}
