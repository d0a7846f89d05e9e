/* The tables of a report for other programs, in parts of bounded size. */
#include <gputracker/report.h>

#include "base/file.h"
#include "base/sized.h"
#include "base/table.h"
#include "views/report/export/report_export_tables.h"
#include "views/report/report_compose.h"

#include <math.h>
#include <stdlib.h>

#define ROWS_AT_ONCE 65536

struct target {
    gput_table_receiver *receive;
    void *user;
};

static void add_columns(const struct report_rows *rows, struct gput_table *table)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct report_row_column *column = &rows->columns[i];
        table_add_column(table, column->name, column->type);
        if (column->unit)
            table_set_unit(table, column->unit);
    }
}

static void put_integer(struct gput_table *table, double number)
{
    if (fabs(number) < 0x1p63)
        table_put_int(table, (int64_t)number);
    else
        table_put_missing(table);
}

static void add_row(
    const struct report_rows *rows, const struct report_cell *cells, struct gput_table *table)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->columns[i].type == GPUT_COLUMN_INT)
            put_integer(table, cells[i].number);
        else if (rows->columns[i].type == GPUT_COLUMN_DOUBLE)
            table_put_double(table, cells[i].number);
        else if (cells[i].text || isnan(cells[i].number))
            table_put_text(table, cells[i].text);
        else
            table_put_text(table, cells[i].number != 0 ? "1" : "0"); /* a truth among texts */
    }
}

/* Adds rows until there are enough; *there: there may be more. */
static int fill(struct report_rows *rows, struct report_cell *cells, struct gput_table *table,
    bool *there, struct gput_error *error)
{
    add_columns(rows, table);
    for (size_t i = 0; i < ROWS_AT_ONCE; i++) {
        TRY(report_rows_next(rows, cells, there, error));
        if (!*there)
            return GPUT_OK;
        add_row(rows, cells, table);
    }
    return GPUT_OK;
}

static int pass_part(struct report_rows *rows, struct report_cell *cells,
    const struct target *target, bool *there, struct gput_error *error)
{
    struct gput_tables *building = tables_create(), *part;
    struct gput_table *table = building ? tables_add(building, rows->name) : NULL;
    int code = table ? fill(rows, cells, table, there, error) : error_memory(error);
    if (code != GPUT_OK) {
        gput_tables_destroy(building);
        return code;
    }
    TRY(tables_finish_building(building, &part, error));
    if (gput_table_row_count(gput_tables_find(part, rows->name)) > 0)
        return target->receive(target->user, part, error);
    gput_tables_destroy(part);
    return GPUT_OK;
}

static int pass_table(void *user, struct report_rows *rows, struct gput_error *error)
{
    struct report_cell *cells = calloc(rows->count + 1, sizeof *cells);
    bool there = true;
    int code = cells ? GPUT_OK : error_memory(error);
    while (code == GPUT_OK && there)
        code = pass_part(rows, cells, user, &there, error);
    free(cells);
    return code;
}

static int write_tables(
    void *user, const struct report_payload *payload, const char *title, struct gput_error *error)
{
    (void)title;
    return report_export_tables(payload, pass_table, user, error);
}

int gput_report_tables(const struct gput_report_options *given, gput_table_receiver *receive,
    void *user, struct gput_error *error)
{
    struct gput_report_options options = gput_report_options_default();
    struct target target = {receive, user};
    char *folder;
    TRY(sized_read(&options, sizeof options, given, error));
    TRY(file_temporary_folder("/dev/null", &folder, error));
    int code = report_compose(&options, folder, write_tables, &target, error);
    free(folder);
    return code;
}
