/* The plan of a report as tables. */
#include "base/cleanup.h"
#include "base/sized.h"
#include "base/table.h"
#include "views/report/report_plan.h"

int gput_report_files(
    const struct gput_report_options *given, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_report_options options = gput_report_options_default();
    CLEANUP(report_plan_finish) struct report_plan plan = {0};
    *tables = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    TRY(report_plan_make(&options, &plan, error));

    struct gput_tables *building = tables_create();
    if (!building)
        return error_memory(error);
    struct gput_table *sessions = tables_add(building, "sessions");
    table_add_column(sessions, "session", GPUT_COLUMN_INT);
    table_add_columns_of(sessions, GPUT_COLUMN_TEXT, "path", "kind", "results", "copy_of", NULL);
    struct gput_table *marks = tables_add(building, "marks");
    table_add_column(marks, "session", GPUT_COLUMN_INT);
    table_add_column(marks, "path", GPUT_COLUMN_TEXT);
    struct gput_table *left_out = tables_add(building, "left_out");
    table_add_column(left_out, "path", GPUT_COLUMN_TEXT);
    for (size_t i = 0; i < plan.count; i++) {
        const struct report_planned *session = &plan.sessions[i];
        table_put_int(sessions, (int64_t)i + 1);
        table_put_text(sessions, session->path);
        table_put_text(sessions, session->loader ? session->loader->kind : NULL);
        table_put_text(sessions, session->results);
        table_put_text(sessions, NULL);
        for (size_t j = 0; j < session->n_marks; j++) {
            table_put_int(marks, (int64_t)i + 1);
            table_put_text(marks, session->marks[j]);
        }
    }
    for (size_t i = 0; i < plan.copy_count; i++) {
        const struct report_copy *copy = &plan.copies[i];
        table_put_int(sessions, (int64_t)(plan.count + i) + 1);
        table_put_text(sessions, copy->path);
        table_put_text(sessions, copy->loader->kind);
        table_put_text(sessions, NULL);
        table_put_text(sessions, plan.sessions[copy->session].path);
    }
    for (size_t i = 0; i < plan.left_out_count; i++)
        table_put_text(left_out, plan.left_out[i].path);
    return tables_finish_building(building, tables, error);
}
