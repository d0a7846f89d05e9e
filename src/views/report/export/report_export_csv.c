/* Tables of a report as CSV: missing cells are empty, texts quoted where they need it. */
#include "views/report/export/report_export.h"

#include "base/cleanup.h"
#include "base/csv.h"
#include "views/report/export/report_output.h"

#include <math.h>
#include <stdlib.h>

/* Writes a table as CSV: the names of the columns, and all rows. */
static int write_csv(
    struct report_rows *rows, report_receiver *receive, void *user, struct gput_error *error)
{
    CLEANUP(report_output_finish)
    struct report_output output = {.receive = receive, .user = user};
    CLEANUP_FREE struct report_cell *cells = calloc(rows->count + 1, sizeof *cells);
    struct str *text = &output.text;
    bool there = true;
    if (!cells)
        return error_memory(error);
    for (size_t i = 0; i < rows->count; i++) {
        if (i > 0)
            str_append_char(text, ',');
        csv_append_shown(text, rows->columns[i].name);
    }
    str_append_char(text, '\n');
    while (there) {
        TRY(report_rows_next(rows, cells, &there, error));
        for (size_t i = 0; there && i < rows->count; i++) {
            if (i > 0)
                str_append_char(text, ',');
            if (cells[i].text)
                csv_append_shown(text, cells[i].text);
            else if (!isnan(cells[i].number))
                report_append_number(text, cells[i].number, cells[i].decimals);
        }
        str_append(text, there ? "\n" : "");
        TRY(report_output_pass(&output, error));
    }
    return report_output_pass_rest(&output, error);
}

const struct report_table_format report_export_csv = {".csv", write_csv};
