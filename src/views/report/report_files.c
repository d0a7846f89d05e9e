/* The plan of a report as tables. */
#include "base/sized.h"
#include "base/table.h"
#include "views/report/report_copies.h"
#include "views/report/report_plan.h"

#include <stdlib.h>

static struct gput_table *add_sessions(struct gput_tables *building)
{
    struct gput_table *table = tables_add(building, "sessions");
    table_add_column(table, "session", GPUT_COLUMN_INT);
    table_add_columns_of(table, GPUT_COLUMN_TEXT, "path", "kind", "results", "copy_of", NULL);
    return table;
}

static struct gput_table *add_marks(struct gput_tables *building)
{
    struct gput_table *table = tables_add(building, "marks");
    table_add_column(table, "session", GPUT_COLUMN_INT);
    table_add_column(table, "path", GPUT_COLUMN_TEXT);
    return table;
}

static struct gput_table *add_left_out(struct gput_tables *building)
{
    struct gput_table *table = tables_add(building, "left_out");
    table_add_column(table, "path", GPUT_COLUMN_TEXT);
    return table;
}

static void put_plan(
    const struct report_plan *plan, const char *const *originals, struct gput_tables *building)
{
    struct gput_table *sessions = add_sessions(building), *marks = add_marks(building);
    struct gput_table *left_out = add_left_out(building);
    for (size_t i = 0; i < plan->count; i++) {
        const struct report_planned *session = &plan->sessions[i];
        table_put_int(sessions, (int64_t)i + 1);
        table_put_text(sessions, session->path);
        table_put_text(sessions, session->loader ? session->loader->kind : NULL);
        table_put_text(sessions, session->results);
        table_put_text(sessions, originals[i]);
        for (size_t j = 0; j < session->n_marks; j++) {
            table_put_int(marks, (int64_t)i + 1);
            table_put_text(marks, session->marks[j]);
        }
    }
    for (size_t i = 0; i < plan->left_out_count; i++)
        table_put_text(left_out, plan->left_out[i].path);
}

int gput_report_files(
    const struct gput_report_options *given, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_report_options options = gput_report_options_default();
    struct report_plan plan;
    *tables = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    const char **originals = NULL;
    int code = report_plan_make(&options, &plan, error);
    if (code == GPUT_OK)
        code = report_copies_find(&plan, &originals, error);
    struct gput_tables *building = code == GPUT_OK ? tables_create() : NULL;
    if (building)
        put_plan(&plan, originals, building);
    free(originals);
    report_plan_finish(&plan);
    return code == GPUT_OK ? tables_finish_building(building, tables, error) : code;
}
