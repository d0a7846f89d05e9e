/* Tables of a report as CSV: missing cells are empty, texts quoted where they need it. */
#include "views/report/export/report_export.h"

#include "base/csv.h"
#include "views/report/export/report_output.h"

#include <math.h>
#include <stdlib.h>

/* Writes a row of cells. */
static void append_row(const struct report_cell *cells, size_t count, struct str *text)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            str_append_char(text, ',');
        if (cells[i].text)
            csv_append_shown(text, cells[i].text);
        else if (!isnan(cells[i].number))
            report_append_number(text, cells[i].number, cells[i].decimals);
    }
    str_append_char(text, '\n');
}

/* Writes the names of the columns, and all rows. */
static int write_rows(struct report_rows *rows, struct report_cell *cells,
    struct report_output *output, struct gput_error *error)
{
    bool there = true;

    for (size_t i = 0; i < rows->count; i++) {
        if (i > 0)
            str_append_char(&output->text, ',');
        csv_append_shown(&output->text, rows->columns[i].name);
    }
    str_append_char(&output->text, '\n');

    while (there) {
        TRY(report_rows_next(rows, cells, &there, error));
        if (there)
            append_row(cells, rows->count, &output->text);
        TRY(report_output_pass(output, error));
    }
    return report_output_pass_rest(output, error);
}

/* Writes a table as CSV. */
static int write_csv(
    struct report_rows *rows, report_receiver *receive, void *user, struct gput_error *error)
{
    struct report_output output = {.receive = receive, .user = user};
    struct report_cell *cells = calloc(rows->count + 1, sizeof *cells);
    int code = cells ? write_rows(rows, cells, &output, error) : error_memory(error);
    report_output_finish(&output);
    free(cells);
    return code;
}

const struct report_table_format report_export_csv = {".csv", write_csv};
