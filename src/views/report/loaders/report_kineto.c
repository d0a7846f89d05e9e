#include "views/report/loaders/report_kineto.h"

#include "analysis/training/pytorch/kineto_ranks.h"
#include "base/table.h"
#include "base/text.h"
#include "views/report/document/report_payload.h"

#include <gputracker/profile.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_KERNELS 50

/* A view has another table where there is no GPU. */
static const struct view {
    enum gput_kineto_view view;
    const char *table, *id, *title;
} views[] = {
    {GPUT_KINETO_BREAKDOWN, "breakdown", "trace_breakdown", "What each GPU did"},
    {GPUT_KINETO_KERNELS, "kernels", "trace_kernels", "Kernels by total time"},
    {GPUT_KINETO_IDLE, "idle", "trace_idle", "Why streams were idle"},
    {GPUT_KINETO_BREAKDOWN, "threads", "trace_threads", "What each thread did"},
    {GPUT_KINETO_KERNELS, "operators", "trace_operators", "Operators by their own time"},
    {GPUT_KINETO_IDLE, "gaps", "trace_gaps", "Time between operators"},
};

static double cell(const struct gput_table *table, size_t row, const char *column)
{
    size_t found = table_cells_find(table, column);
    return found < gput_table_column_count(table) ? gput_table_double(table, row, found) : NAN;
}

/* Adds a share of the time of a GPU, unless it is 0. */
static void add_share(
    struct doc *shares, const char *cause, const char *label, double us, double all)
{
    if (!(us > 0))
        return;
    struct doc *share = doc_add_object(shares, NULL);
    doc_add_string(share, "cause", cause);
    doc_add_string(share, "label", label);
    doc_add_double(share, "percent", 100 * us / all);
    doc_add_double(share, "seconds", us * 1e-6);
}

/* What is wrong with the file was said when its events were read. */
static void on_warning(void *user, const char *message)
{
    if (text_begins_with(message, KINETO_CATEGORIES_LEFT_OUT))
        report_session_warn(user, message);
}

int report_kineto_add(struct report_session *session, struct gput_error *error)
{
    struct gput_kineto_options options = gput_kineto_options_default();
    options.paths = &session->path;
    options.n_paths = 1;
    options.limit = MAX_KERNELS;
    options.warn = on_warning;
    options.user = session;
    options.temporary_folder = session->payload->spool.folder;
    for (int view = GPUT_KINETO_BREAKDOWN; view <= GPUT_KINETO_IDLE; view++) {
        struct gput_tables *tables;
        int code = gput_kineto_tables((enum gput_kineto_view)view, &options, &tables, error);
        if (code == GPUT_ERROR_MEMORY)
            return code;
        if (code != GPUT_OK)
            return GPUT_OK; /* a trace of another program */
        const struct gput_table *table = gput_tables_get(tables, 0);
        for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
            if ((int)views[i].view == view && strcmp(views[i].table, gput_table_name(table)) == 0)
                report_session_add_table(session, views[i].id, views[i].title, table);
        }

        if (strcmp(gput_table_name(table), "breakdown") == 0) {
            /* Add where the time of each GPU went: what it computed, what else it did while it
             * computed nothing, and the rest. */
            struct doc *list = NULL;
            for (size_t row = 0; row < gput_table_row_count(table); row++) {
                double span = cell(table, row, "span_us");
                double communication = cell(table, row, "communication_us");
                double hidden = cell(table, row, "communication_overlap_%");
                char text[128];
                if (!(span > 0))
                    continue;
                list = list ? list : doc_add_array(session->doc, "time_went");
                struct doc *account = doc_add_object(list, NULL);
                snprintf(text, sizeof text, "GPU %lld",
                    (long long)gput_table_int(table, row, table_cells_find(table, "gpu")));
                doc_add_string(account, "id", "gpu");
                doc_add_string(account, "title", text);
                if (communication > 0 && !isnan(hidden)) {
                    snprintf(text, sizeof text, "%.0f %% of its communication while it computed",
                        hidden);
                    doc_add_string(account, "note", text);
                }
                doc_add_double(account, "seconds", span * 1e-6);
                struct doc *shares = doc_add_array(account, "shares");
                add_share(shares, "computing", "computing", cell(table, row, "compute_us"), span);
                add_share(shares, "communication", "communicating or copying alone",
                    cell(table, row, "non_compute_us"), span);
                add_share(shares, "idle", "idle", cell(table, row, "idle_us"), span);
            }
        }
        gput_tables_destroy(tables);
    }
    return GPUT_OK;
}

int report_kineto_add_difference(
    struct doc *root, const char *const paths[2], const char *folder, struct gput_error *error)
{
    struct gput_kineto_options options = gput_kineto_options_default();
    struct gput_tables *tables;
    options.paths = paths;
    options.n_paths = 2;
    options.limit = MAX_KERNELS;
    options.temporary_folder = folder;
    int code = gput_kineto_tables(GPUT_KINETO_DIFF, &options, &tables, error);
    if (code != GPUT_OK)
        return code == GPUT_ERROR_MEMORY ? code : GPUT_OK;
    if (gput_table_row_count(gput_tables_get(tables, 0)) > 0)
        report_table_add(doc_add_array(root, "comparison"), "diff",
            "What there is more or less of: a is the first, b the second",
            gput_tables_get(tables, 0), NULL, NULL);
    gput_tables_destroy(tables);
    return GPUT_OK;
}
