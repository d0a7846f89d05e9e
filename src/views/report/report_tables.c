/* The tables of a report for other programs, in parts of bounded size. */
#include <gputracker/report.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/sized.h"
#include "base/table.h"
#include "views/report/export/report_export_tables.h"
#include "views/report/report_compose.h"

#include <math.h>

#define ROWS_AT_ONCE 65536

struct target {
    gput_table_receiver *receive;
    void *user;
};

/* Adds a row of cells to a table. */
static void add_row(
    const struct report_rows *rows, const struct report_cell *cells, struct gput_table *table)
{
    for (size_t i = 0; i < rows->count; i++) {
        double number = cells[i].number;
        bool is_missing = cells[i].text || isnan(number);
        if (rows->columns[i].type == GPUT_COLUMN_DOUBLE)
            table_put_double(table, number);
        else if (rows->columns[i].type != GPUT_COLUMN_INT && is_missing)
            table_put_text(table, cells[i].text);
        else if (rows->columns[i].type != GPUT_COLUMN_INT)
            table_put_text(table, number != 0 ? "1" : "0"); /* a truth among texts */
        else if (fabs(number) < 0x1p63)
            table_put_int(table, (int64_t)number);
        else
            table_put_missing(table);
    }
}

/* Hands on a table of the next rows, as many as fit a part. *there: there may be more. */
static int pass_part(struct report_rows *rows, struct report_cell *cells,
    const struct target *target, bool *there, struct gput_error *error)
{
    CLEANUP(gput_tables_destroy_pointer) struct gput_tables *building = tables_create();
    CLEANUP(gput_tables_destroy_pointer) struct gput_tables *part = NULL;
    struct gput_table *table = building ? tables_add(building, rows->name) : NULL;
    if (!table)
        return error_memory(error);
    for (size_t i = 0; i < rows->count; i++) {
        const struct report_row_column *column = &rows->columns[i];
        table_add_column(table, column->name, column->type);
        if (column->unit)
            table_set_unit(table, column->unit);
    }
    for (size_t i = 0; i < ROWS_AT_ONCE && *there; i++) {
        TRY(report_rows_next(rows, cells, there, error));
        if (*there)
            add_row(rows, cells, table);
    }
    TRY(tables_finish_building(STEAL(building), &part, error));
    if (gput_table_row_count(gput_tables_find(part, rows->name)) == 0)
        return GPUT_OK;
    return target->receive(target->user, STEAL(part), error);
}

/* Hands on a table in parts. */
static int pass_table(void *user, struct report_rows *rows, struct gput_error *error)
{
    CLEANUP_FREE struct report_cell *cells = calloc(rows->count + 1, sizeof *cells);
    bool there = true;
    if (!cells)
        return error_memory(error);
    while (there)
        TRY(pass_part(rows, cells, user, &there, error));
    return GPUT_OK;
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
    CLEANUP_FREE char *folder = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    TRY(file_temporary_folder("/dev/null", &folder, error));
    return report_compose(&options, folder, write_tables, &target, error);
}
