#include "views/report/loaders/report_kineto.h"

#include "analysis/training/pytorch/kineto_ranks.h"
#include "base/text.h"

#include <gputracker/profile.h>

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

static void add_table(
    struct report_session *session, enum gput_kineto_view view, const struct gput_table *table)
{
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        if (views[i].view == view && strcmp(views[i].table, gput_table_name(table)) == 0)
            report_session_add_table(session, views[i].id, views[i].title, table);
    }
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
        add_table(session, (enum gput_kineto_view)view, gput_tables_get(tables, 0));
        gput_tables_destroy(tables);
    }
    return GPUT_OK;
}
