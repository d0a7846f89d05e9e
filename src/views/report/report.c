#include <gputracker/report.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/names.h"
#include "base/sized.h"
#include "base/str.h"
#include "views/report/export/report_export.h"
#include "views/report/export/report_html.h"
#include "views/report/report_compose.h"
#include "views/report/report_findings.h"
#include "views/report/report_missing.h"
#include "views/report/report_plan.h"
#include "views/report/report_sessions.h"

#include <stdlib.h>
#include <string.h>

bool gput_report_is_built_in(void)
{
    return report_html_is_built_in();
}

const char *gput_report_remedy(void)
{
    return REPORT_HTML_REMEDY;
}

/* ---- The file ---- */

/* Names in a title; with one more, all are in it. */
#define MAX_NAMED 3

/* Sessions of one name are runs of one thing. */
static void name_sessions(const struct report_plan *plan, struct str *title)
{
    struct names names = {0};
    for (size_t i = 0; i < plan->count; i++)
        title->failed |=
            names_add(&names, plan->sessions[i].name, strlen(plan->sessions[i].name)) == NAMES_NONE;
    uint32_t shown = names.count <= MAX_NAMED + 1 ? names.count : MAX_NAMED;
    for (uint32_t i = 0; i < shown; i++)
        str_printf(title, "%s%s", i > 0 ? ", " : "", names_text(&names, i));
    if (shown < names.count)
        str_printf(title, " and %u others", names.count - shown);
    names_finish(&names);
}

static void make_title(
    const struct gput_report_options *options, const struct report_plan *plan, struct str *title)
{
    if (!options->title)
        name_sessions(plan, title);
    str_append(title, options->title ? options->title : " - gpu-tracker");
}

static int fill(struct report_payload *payload, const struct gput_report_options *options,
    const struct report_plan *plan, const char *title, struct gput_error *error)
{
    struct doc *root = payload->root;
    doc_add_int(root, "format", REPORT_FORMAT);
    doc_add_string(root, "generator", "gpu-tracker " GPUT_VERSION);
    doc_add_double(root, "created", (double)clock_realtime_ns() * 1e-9);
    doc_add_string(root, "title", title);
    struct doc *notes = options->n_notes ? doc_add_array(root, "notes") : NULL;
    for (size_t i = 0; i < options->n_notes; i++)
        doc_add_string(notes, NULL, options->notes[i]);
    doc_add_array(root, "sessions");
    TRY(report_sessions_add(payload, options, plan, false, error));
    TRY(report_findings_add(payload, error));
    /* `gpu-tracker job` has it among its notes. */
    return options->n_notes ? GPUT_OK : report_missing_warn(payload, options, error);
}

static int write_planned(const struct gput_report_options *options, const struct report_plan *plan,
    const char *folder, report_writer *writer, void *user, struct gput_error *error)
{
    struct report_payload payload;
    struct str title = {0};
    make_title(options, plan, &title);
    int code = report_payload_init(&payload, folder, error);
    if (code == GPUT_OK)
        code = fill(&payload, options, plan, str_text(&title), error);
    if (code == GPUT_OK && (title.failed || doc_failed(payload.root)))
        code = error_memory(error);
    if (code == GPUT_OK)
        code = writer(user, &payload, str_text(&title), error);
    report_payload_finish(&payload);
    str_finish(&title);
    if (code == GPUT_OK && options->progress)
        options->progress(options->user, 1);
    return code;
}

int report_compose(const struct gput_report_options *options, const char *folder,
    report_writer *writer, void *user, struct gput_error *error)
{
    struct report_plan plan;
    int code = report_plan_make(options, &plan, error);
    if (code == GPUT_OK)
        code = write_planned(options, &plan, folder, writer, user, error);
    report_plan_finish(&plan);
    return code;
}

/* Before anything is read: whether it can be written there, and where temporary files go. */
static int check_output(const char *path, char **folder, struct gput_error *error)
{
    bool to_stdout = strcmp(path, REPORT_STDOUT) == 0;
    TRY(to_stdout ? GPUT_OK : file_check(path, error));
    return file_temporary_folder(to_stdout ? "/dev/null" : path, folder, error);
}

/* Where the report goes to, and as what. */
struct target {
    const char *path;
    const char *page;               /* of a page; NULL: the one that is built in */
    int stop_fd;                    /* of a page; see the options */
    enum gput_report_format format; /* of an export */
};

static int write_page(
    void *user, const struct report_payload *payload, const char *title, struct gput_error *error)
{
    const struct target *target = user;
    return report_html_write(payload, title, target->page, target->path, target->stop_fd, error);
}

static int write_export(
    void *user, const struct report_payload *payload, const char *title, struct gput_error *error)
{
    const struct target *target = user;
    (void)title;
    return report_export_write(payload, target->format, target->path, error);
}

int gput_report_write(
    const struct gput_report_options *given, const char *path, struct gput_error *error)
{
    struct gput_report_options options = gput_report_options_default();
    char *folder;
    TRY(sized_read(&options, sizeof options, given, error));
    TRY(report_html_check(options.page, error));
    TRY(check_output(path, &folder, error));
    struct target target = {.path = path, .page = options.page, .stop_fd = options.stop_fd};
    int code = report_compose(&options, folder, write_page, &target, error);
    free(folder);
    return code;
}

int gput_report_export(const struct gput_report_options *given, enum gput_report_format format,
    const char *path, struct gput_error *error)
{
    struct gput_report_options options = gput_report_options_default();
    struct target target = {.path = path, .format = format};
    char *folder;
    TRY(sized_read(&options, sizeof options, given, error));
    TRY(report_export_check(format, path, error));
    TRY(check_output(report_export_is_folder(format) ? REPORT_STDOUT : path, &folder, error));
    int code = report_compose(&options, folder, write_export, &target, error);
    free(folder);
    return code;
}
