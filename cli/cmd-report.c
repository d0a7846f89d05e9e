/* gpu-tracker report: sessions in one HTML file. */
#include "analysis-output.h"
#include "arguments.h"
#include "message.h"

#include <gputracker/report.h>

#include <stdlib.h>

/* What a report is made of; the lists belong to it. */
struct work {
    struct gput_html_report_session *sessions;
    const struct gput_html_report_session **list;
    const char **marks;
    int shown; /* of its progress */
};

static int read_options(const struct arguments *arguments, struct work *work,
    struct gput_html_report_options *options, struct gput_error *error)
{
    const char *mark;
    size_t position = 0;
    work->sessions = calloc((size_t)arguments->n_operands + 1, sizeof *work->sessions);
    work->marks = calloc(arguments->n_uses + 1, sizeof *work->marks);
    work->list = calloc((size_t)arguments->n_operands + 1, sizeof *work->list);
    if (!work->sessions || !work->list || !work->marks)
        return fail(error, GPUT_ERROR_MEMORY, "Out of memory.");
    for (int i = 0; i < arguments->n_operands; i++) {
        work->sessions[i] = gput_html_report_session_default();
        work->sessions[i].path = arguments->operands[i];
        work->list[i] = &work->sessions[i];
    }
    while ((mark = arguments_next(arguments, OPTION_REPORT_MARKS, &position)) != NULL)
        work->marks[options->mark_count++] = mark;
    options->sessions = work->list;
    options->session_count = (size_t)arguments->n_operands;
    options->marks = work->marks;
    options->title = arguments_value(arguments, OPTION_REPORT_TITLE);
    options->page = getenv("GPUT_REPORT_PAGE");
    options->warn = analysis_warn;
    options->progress = analysis_show_progress;
    options->user = &work->shown;
    return GPUT_OK;
}

const char *cmd_report_note(void)
{
    return gput_html_report_is_built_in() ? "" : gput_html_report_remedy();
}

int cmd_report(const struct arguments *arguments)
{
    struct gput_html_report_options options = gput_html_report_options_default();
    struct work work = {0};
    struct gput_error error;
    const char *path = arguments_value(arguments, OPTION_REPORT_OUTPUT);
    int code = read_options(arguments, &work, &options, &error);
    if (code == GPUT_OK)
        code = gput_html_report_write(&options, path ? path : "report.html", &error);
    analysis_end_progress(&work.shown);
    free(work.list);
    free(work.sessions);
    free(work.marks);
    if (code == GPUT_OK)
        return EXIT_SUCCESS;
    message_error(&error);
    return EXIT_FAILURE;
}
