#include "base/table.h"

#include "base/array.h"
#include "base/names.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

union cell {
    int64_t integer;
    double number;
    uint32_t text;
};

struct table_column {
    char *name;
    char *unit;    /* NULL: the name says it */
    char *meaning; /* NULL: not described */
    enum gput_column_type type;
    union cell *cells; /* one a row; integers and numbers as contiguous arrays */
    size_t capacity;
};

struct gput_table {
    _Atomic size_t owners;
    struct gput_tables *list; /* while it is being built */
    char *name;
    const struct table_words *words;
    bool record;
    struct table_column *columns;
    size_t column_count;
    size_t row_count;
    size_t next; /* column of the next cell */
    struct names texts;
};

struct gput_tables {
    struct gput_table **tables;
    size_t count;
    const struct table_words *words;
    bool failed;
    table_receiver *receiver; /* NULL: rows stay */
    void *receiver_user;
    size_t received_rows;
};

struct gput_tables *tables_create(void)
{
    return calloc(1, sizeof(struct gput_tables));
}

void tables_set_words(struct gput_tables *tables, const struct table_words *words)
{
    if (tables)
        tables->words = words;
}

const struct table_words *table_words(const struct gput_table *table)
{
    return table->words;
}

struct gput_table *tables_add(struct gput_tables *tables, const char *name)
{
    struct gput_table *table = calloc(1, sizeof *table);
    char *copy = strdup(name);
    if (!table || !copy || !ARRAY_EXTEND(tables->tables, tables->count)) {
        free(table);
        free(copy);
        tables->failed = true;
        return NULL;
    }
    table->owners = 1;
    table->list = tables;
    table->name = copy;
    table->words = tables->words;
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
    char *copy = strdup(name);
    if (copy && ARRAY_EXTEND(table->columns, table->column_count)) {
        table->columns[table->column_count++] = (struct table_column){.name = copy, .type = type};
    } else {
        free(copy);
        table->list->failed = true;
    }
}

void table_add_columns_of(struct gput_table *table, enum gput_column_type type, ...)
{
    va_list names;
    va_start(names, type);
    for (const char *name = va_arg(names, const char *); name; name = va_arg(names, const char *))
        table_add_column(table, name, type);
    va_end(names);
}

/* Replaces a text by a copy of another. */
static void set_text(struct gput_table *table, char **member, const char *text)
{
    free(*member);
    *member = strdup(text);
    table->list->failed |= !*member;
}

void table_set_unit(struct gput_table *table, const char *unit)
{
    if (!table || table->column_count == 0)
        return;
    set_text(table, &table->columns[table->column_count - 1].unit, unit);
}

/* Sets the meaning of the column that was added last. */
static void set_meaning(struct gput_table *table, const char *meaning)
{
    if (!table || table->column_count == 0)
        return;
    set_text(table, &table->columns[table->column_count - 1].meaning, meaning);
}

/* Puts a cell into the next column of the current row. */
static void put(struct gput_table *table, union cell cell)
{
    if (table->column_count == 0) /* without memory for one */
        return;
    struct table_column *column = &table->columns[table->next];
    if (!ARRAY_RESERVE(column->cells, table->row_count, column->capacity)) {
        table->list->failed = true;
        return;
    }
    column->cells[table->row_count] = cell;
    if (++table->next == table->column_count) {
        table->next = 0;
        table->row_count++;
    }
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

void table_put_str(struct gput_table *table, const struct str *value)
{
    if (table && value->failed)
        table->list->failed = true;
    table_put_text(table, str_text(value));
}

void table_put_missing(struct gput_table *table)
{
    if (!table || table->column_count == 0)
        return;
    switch (table->columns[table->next].type) {
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

void table_put_known(struct gput_table *table, int64_t value)
{
    if (value < 0)
        table_put_missing(table);
    else
        table_put_int(table, value);
}

void table_add_columns(struct gput_table *table, const char *prefix, const char *unit,
    const struct column *columns, size_t count)
{
    for (const struct column *column = columns; column < columns + count; column++) {
        char name[96];
        snprintf(name, sizeof name, "%s%s", prefix, column->name);
        table_add_column(table, name, column->type);
        if (unit || column->unit)
            table_set_unit(table, unit ? unit : column->unit);
        if (column->meaning)
            set_meaning(table, column->meaning);
    }
}

void table_put_columns(
    struct gput_table *table, const struct column *columns, size_t count, const void *item)
{
    for (const struct column *column = columns; column < columns + count; column++) {
        double number = column->type == GPUT_COLUMN_TEXT ? 0 : column_number(column, item);
        if (column->type == GPUT_COLUMN_TEXT)
            table_put_text(table, column_text(column, item));
        else if (isnan(number))
            table_put_missing(table);
        else if (column->type == GPUT_COLUMN_INT)
            table_put_int(table, (int64_t)number);
        else
            table_put_double(table, number);
    }
}

void tables_set_receiver(
    struct gput_tables *tables, size_t rows, table_receiver *receiver, void *user)
{
    tables->receiver = receiver;
    tables->receiver_user = user;
    tables->received_rows = rows;
}

int table_pass_full(struct gput_table *table, struct gput_error *error)
{
    bool is_full = table && table->list && table->row_count >= table->list->received_rows;
    return is_full ? table_pass_rest(table, error) : GPUT_OK;
}

int table_pass_rest(struct gput_table *table, struct gput_error *error)
{
    struct gput_tables *list = table ? table->list : NULL;
    if (!list || !list->receiver)
        return GPUT_OK;
    if (list->failed)
        return error_memory(error);
    TRY(list->receiver(list->receiver_user, list, table, error));
    table->row_count = 0;
    names_finish(&table->texts);
    return GPUT_OK;
}

int table_take_rows(struct gput_table *table, struct gput_tables **part, struct gput_error *error)
{
    struct gput_tables *list = table && !table->list->failed ? tables_create() : NULL;
    struct gput_table *copy = list ? tables_add(list, table->name) : NULL;
    for (size_t i = 0; copy && i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        table_add_column(copy, column->name, column->type);
        if (column->unit)
            table_set_unit(copy, column->unit);
        if (column->meaning)
            set_meaning(copy, column->meaning);
    }

    TRY(tables_finish_building(list, part, error));
    for (size_t i = 0; i < table->column_count; i++) {
        struct table_column *from = &table->columns[i], *to = &copy->columns[i];
        to->cells = from->cells;
        to->capacity = from->capacity;
        from->cells = NULL;
        from->capacity = 0;
    }
    copy->words = table->words;
    copy->row_count = table->row_count;
    copy->texts = table->texts;
    table->row_count = 0;
    table->texts = (struct names){0};
    return GPUT_OK;
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

const struct gput_table *gput_table_retain(const struct gput_table *table)
{
    ((struct gput_table *)table)->owners++;
    return table;
}

void gput_table_release(const struct gput_table *released)
{
    struct gput_table *table = (struct gput_table *)released;
    if (!table || --table->owners > 0)
        return;
    for (size_t column = 0; column < table->column_count; column++) {
        free(table->columns[column].name);
        free(table->columns[column].unit);
        free(table->columns[column].meaning);
        free(table->columns[column].cells);
    }
    free(table->columns);
    free(table->name);
    names_finish(&table->texts);
    free(table);
}

int gput_tables_not_found(
    const struct gput_tables *tables, const char *name, struct gput_error *error)
{
    struct str list = {0};
    for (size_t i = 0; i < tables->count; i++)
        str_printf(&list, "%s%s", i > 0 ? ", " : "", tables->tables[i]->name);
    char question[NEAREST_QUESTION_SIZE];
    int code = error_set(error, GPUT_ERROR_NOT_FOUND, "There is no table \"%s\"%s There are: %s",
        name, nearest_question(str_text(&list), name, question), str_text(&list));
    str_finish(&list);
    return code;
}

int gput_tables_select(struct gput_tables *tables, const char *name, struct gput_error *error)
{
    if (!gput_tables_find(tables, name))
        return gput_tables_not_found(tables, name, error);
    size_t kept = 0;
    for (size_t i = 0; i < tables->count; i++) {
        if (kept == 0 && strcmp(tables->tables[i]->name, name) == 0)
            tables->tables[kept++] = tables->tables[i];
        else
            gput_table_release(tables->tables[i]);
    }
    tables->count = kept;
    return GPUT_OK;
}

void gput_tables_destroy(struct gput_tables *tables)
{
    if (!tables)
        return;
    for (size_t i = 0; i < tables->count; i++)
        gput_table_release(tables->tables[i]);
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
    return table->row_count;
}

size_t gput_table_column_count(const struct gput_table *table)
{
    return table->column_count;
}

/* Returns a column; NULL: there is none. */
static const struct table_column *column_at(const struct gput_table *table, size_t column)
{
    return column < table->column_count ? &table->columns[column] : NULL;
}

const char *gput_table_column_name(const struct gput_table *table, size_t column)
{
    const struct table_column *at = column_at(table, column);
    return at ? at->name : NULL;
}

enum gput_column_type gput_table_column_type(const struct gput_table *table, size_t column)
{
    const struct table_column *at = column_at(table, column);
    return at ? at->type : GPUT_COLUMN_TEXT;
}

/* Name suffixes that say the unit. */
static const struct {
    const char *suffix, *unit;
} suffixes[] = {
    {"_%", "percent"},
    {"_percent", "percent"},
    {"_ns", "nanoseconds"},
    {"_us", "microseconds"},
    {"_ms", "milliseconds"},
    {"_seconds", "seconds"},
    {"_bytes", "bytes"},
    {"_joules", "joules"},
    {"_watts", "watts"},
};

const char *gput_table_column_unit(const struct gput_table *table, size_t column)
{
    const struct table_column *at = column_at(table, column);
    if (!at || at->unit)
        return at ? at->unit : NULL;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (text_ends_with(at->name, suffixes[i].suffix))
            return suffixes[i].unit;
    }
    return NULL;
}

const char *gput_table_column_meaning(const struct gput_table *table, size_t column)
{
    const struct table_column *at = column_at(table, column);
    return at ? at->meaning : NULL;
}

const int64_t *gput_table_ints(const struct gput_table *table, size_t column)
{
    const struct table_column *at = column_at(table, column);
    return at && at->cells ? &at->cells->integer : NULL;
}

const double *gput_table_doubles(const struct gput_table *table, size_t column)
{
    const struct table_column *at = column_at(table, column);
    return at && at->cells ? &at->cells->number : NULL;
}

/* Returns a cell; NULL: there is none. */
static const union cell *cell_at(const struct gput_table *table, size_t row, size_t column)
{
    const struct table_column *at = column_at(table, column);
    return at && row < table->row_count ? &at->cells[row] : NULL;
}

bool gput_table_is_missing(const struct gput_table *table, size_t row, size_t column)
{
    switch (gput_table_column_type(table, column)) {
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
    const union cell *cell = cell_at(table, row, column);
    return cell ? cell->integer : INT64_MIN;
}

double gput_table_double(const struct gput_table *table, size_t row, size_t column)
{
    const union cell *cell = cell_at(table, row, column);
    return cell ? cell->number : NAN;
}

const char *gput_table_text(const struct gput_table *table, size_t row, size_t column)
{
    const union cell *cell = cell_at(table, row, column);
    return !cell || cell->text == NAMES_NONE ? NULL : names_text(&table->texts, cell->text);
}

/* ---- Cells by name ---- */

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
