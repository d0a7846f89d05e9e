#include <gputracker/report.h>

#include "analyze/comparison.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/sized.h"
#include "base/str.h"
#include "report/report_cards.h"
#include "report/report_comparison.h"
#include "report/report_html.h"
#include "report/report_loader.h"
#include "report/report_marks.h"
#include "report/report_plan.h"
#include "report/report_processes.h"

#include <gputracker/processes.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* The share of the work that is done when all is read. */
#define READ_SHARE 0.8

void gput_html_report_session_init(struct gput_html_report_session *session, size_t size)
{
    static const struct gput_html_report_session nothing;
    sized_init(session, size, &nothing, sizeof nothing);
}

void gput_html_report_options_init(struct gput_html_report_options *options, size_t size)
{
    static const struct gput_html_report_options usual;
    sized_init(options, size, &usual, sizeof usual);
}

bool gput_html_report_is_built_in(void)
{
    return report_html_is_built_in();
}

const char *gput_html_report_remedy(void)
{
    return REPORT_HTML_REMEDY;
}

/* ---- A session ---- */

static void add_command(struct report_session *session)
{
    struct str line = {0};
    for (const char *const *word = session->known.command; word && *word; word++) {
        str_append(&line, word == session->known.command ? "" : " ");
        str_append(&line, *word);
    }
    if (session->known.command)
        doc_add_string(session->identity, "command", str_text(&line));
    str_finish(&line);
}

static void add_end(struct report_session *session)
{
    const struct gput_report_options *known = &session->known;
    if (known->has_status && WIFEXITED(known->status))
        doc_add_int(session->identity, "exit", WEXITSTATUS(known->status));
    if (known->has_status && WIFSIGNALED(known->status))
        doc_add_int(session->identity, "signal", WTERMSIG(known->status));
    if (session->results)
        doc_add_double(session->identity, "wall_s", session->results->elapsed_seconds);
}

/* Those of a session that has just ended, unless its file has them. */
static int add_processes(struct report_session *session, struct gput_error *error)
{
    struct report_processes processes;
    struct gput_tables *tables;
    if (!session->known.processes || doc_get(session->doc, "process_list"))
        return GPUT_OK;
    TRY(gput_processes_tables(session->known.processes, &tables, error));
    report_processes_init(&processes, session);
    int code = report_processes_add(&processes, gput_tables_find(tables, "processes"), error);
    if (code == GPUT_OK)
        code = report_processes_end(&processes, error);
    report_processes_finish(&processes);
    gput_tables_destroy(tables);
    return code;
}

static int load_session(
    struct report_session *session, const struct report_planned *planned, struct gput_error *error)
{
    report_session_begin(session, planned->loader ? planned->loader->kind : "results");
    if (planned->results && !session->results)
        TRY(report_results_read(session, planned->results, error));
    if (planned->loader)
        TRY(planned->loader->load(session, error));
    TRY(report_marks_add(session, planned->marks, planned->mark_count, error));
    TRY(add_processes(session, error));
    add_command(session);
    add_end(session);
    return report_cards_add(session, error);
}

static int add_session(struct report_payload *payload,
    const struct gput_html_report_options *options, const struct report_plan *plan, size_t index,
    struct gput_comparison *comparison, struct gput_error *error)
{
    const struct report_planned *planned = &plan->sessions[index];
    struct report_session session = {
        .payload = payload,
        .options = options,
        .known = gput_report_options_default(),
        .name = report_plan_name(plan, index),
        .path = planned->path,
        .results = planned->given.results,
        .progress_from = READ_SHARE * (double)index / (double)plan->count,
        .progress_span = READ_SHARE / (double)plan->count,
    };
    int code = sized_read(&session.known, sizeof session.known, planned->given.report, error);
    if (code == GPUT_OK)
        code = load_session(&session, planned, error);
    if (code == GPUT_OK && plan->count > 1)
        code = report_comparison_add(comparison, &session, error);
    report_session_end(&session);
    return code;
}

/* ---- The file ---- */

static void make_title(const struct gput_html_report_options *options,
    const struct report_plan *plan, struct str *title)
{
    for (size_t i = 0; i < plan->count && !options->title; i++) {
        str_append(title, i > 0 ? ", " : "");
        str_append(title, report_plan_name(plan, i));
    }
    str_append(title, options->title ? options->title : " - gpu-tracker");
}

static int add_sessions(struct report_payload *payload,
    const struct gput_html_report_options *options, const struct report_plan *plan,
    struct gput_error *error)
{
    struct gput_comparison *comparison = comparison_create();
    int code = comparison ? GPUT_OK : error_memory(error);
    for (size_t i = 0; code == GPUT_OK && i < plan->count; i++)
        code = add_session(payload, options, plan, i, comparison, error);
    if (code == GPUT_OK)
        code = report_comparison_end(comparison, payload->root, options, error);
    gput_comparison_destroy(comparison);
    return code;
}

static int fill(struct report_payload *payload, const struct gput_html_report_options *options,
    const struct report_plan *plan, const char *title, struct gput_error *error)
{
    struct doc *root = payload->root;
    doc_add_int(root, "format", REPORT_FORMAT);
    doc_add_string(root, "generator", "gpu-tracker " GPUT_VERSION);
    doc_add_double(root, "created", (double)clock_realtime_ns() * 1e-9);
    doc_add_string(root, "title", title);
    doc_add_array(root, "sessions");
    return add_sessions(payload, options, plan, error);
}

static int write_planned(const struct gput_html_report_options *options,
    const struct report_plan *plan, const char *folder, const char *path, struct gput_error *error)
{
    struct report_payload payload;
    struct str title = {0};
    make_title(options, plan, &title);
    int code = report_payload_init(&payload, folder, error);
    if (code == GPUT_OK)
        code = fill(&payload, options, plan, str_text(&title), error);
    if (code == GPUT_OK)
        code = report_html_write(&payload, str_text(&title), options->page, path, error);
    report_payload_finish(&payload);
    str_finish(&title);
    if (code == GPUT_OK && options->progress)
        options->progress(options->user, 1);
    return code;
}

/* Before anything is read: whether it can be written there, and where temporary files go. */
static int check_output(const char *path, char **folder, struct gput_error *error)
{
    bool to_stdout = strcmp(path, REPORT_STDOUT) == 0;
    TRY(to_stdout ? GPUT_OK : file_check(path, error));
    return file_temporary_folder(to_stdout ? "/dev/null" : path, folder, error);
}

int gput_html_report_write(
    const struct gput_html_report_options *given, const char *path, struct gput_error *error)
{
    struct gput_html_report_options options = gput_html_report_options_default();
    struct report_plan plan;
    char *folder;
    TRY(sized_read(&options, sizeof options, given, error));
    TRY(report_html_check(options.page, error));
    TRY(check_output(path, &folder, error));
    int code = report_plan_make(&options, &plan, error);
    if (code == GPUT_OK)
        code = write_planned(&options, &plan, folder, path, error);
    report_plan_finish(&plan);
    free(folder);
    return code;
}
