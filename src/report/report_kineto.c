#include "report/report_kineto.h"

#include <gputracker/profile.h>

#define MAX_KERNELS 50

static const struct view {
    enum gput_kineto_view view;
    const char *id, *title;
} views[] = {
    {GPUT_KINETO_BREAKDOWN, "trace_breakdown", "What each GPU did"},
    {GPUT_KINETO_KERNELS, "trace_kernels", "Kernels by total time"},
    {GPUT_KINETO_IDLE, "trace_idle", "Why streams were idle"},
};

int report_kineto_add(struct report_session *session, struct gput_error *error)
{
    struct gput_kineto_options options = gput_kineto_options_default();
    options.paths = &session->path;
    options.path_count = 1;
    options.limit = MAX_KERNELS;
    options.temporary_folder = session->payload->spool.folder;
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        struct gput_tables *tables;
        int code = gput_kineto_tables(views[i].view, &options, &tables, error);
        if (code == GPUT_ERROR_MEMORY)
            return code;
        if (code != GPUT_OK)
            return GPUT_OK; /* a trace without GPUs, or of another program */
        report_session_add_table(session, views[i].id, views[i].title, gput_tables_get(tables, 0));
        gput_tables_destroy(tables);
    }
    return GPUT_OK;
}
