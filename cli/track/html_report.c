#include "track/html_report.h"

#include "base/error.h"
#include "base/file.h"
#include "common/environment.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/output_files.h"

#include <gputracker/report.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILE_NAME "/samples.sqlite"

/* A database has GPUs, energy and processes too. */
int html_report_keep_samples(
    struct html_report *html, struct gput_session_options *options, struct gput_error *error)
{
    TRY(temporary_folder_make(&html->folder, environment_path("TMPDIR"),
        "samples for --report or --log-to without --tf", error));
    html->temporary = malloc(strlen(html->folder.path) + sizeof FILE_NAME);
    if (!html->temporary)
        return error_memory(error);
    sprintf(html->temporary, "%s" FILE_NAME, html->folder.path);
    options->tracking_file = html->temporary;
    return GPUT_OK;
}

/* After the last point of the name; NULL: there is none. */
static const char *ending_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *point = path ? strrchr(slash ? slash : path, '.') : NULL;
    return point ? point + 1 : NULL;
}

bool html_report_format_of_ending(const char *path, char format[HTML_REPORT_FORMAT_SIZE])
{
    const char *ending = ending_of(path);
    if (!ending || strlen(ending) >= HTML_REPORT_FORMAT_SIZE)
        return false;
    for (size_t i = 0; i <= strlen(ending); i++)
        format[i] = (char)tolower((unsigned char)ending[i]);
    return choice_find(option(OPTION_REPORT_FORMAT)->words, format) >= 0;
}

/* ".txt", ".docx": letters alone, unlike "report.2026-11-24" and what mktemp makes, and not those
 * of files that are renamed later. */
static bool is_of_other_kind(const char *ending)
{
    static const char *const fine[] = {"html", "htm", "tmp", "part", "new", "bak", "old"};
    size_t length = strspn(ending, "abcdefghijklmnopqrstuvwxyz");
    if (ending[length] || length == 0 || length > 4)
        return false;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        if (strcmp(ending, fine[i]) == 0)
            return false;
    return choice_find(option(OPTION_REPORT_FORMAT)->words, ending) < 0;
}

int html_report_check_ending(const char *path, struct gput_error *error)
{
    static const struct {
        const char *ending, *kind, *remedy;
    } others[] = {
#define PICTURE "a picture", "'gpu-tracker plot' draws pictures of the samples that --tf keeps"
#define DATABASE "a tracking file", "use .html; a page holds all that it shows"
        {"svg", PICTURE},
        {"png", PICTURE},
        {"pdf", PICTURE},
        {"sqlite", DATABASE},
        {"sqlite3", DATABASE},
        {"db", DATABASE},
    };
    const char *ending = ending_of(path);
    for (size_t i = 0; ending && i < sizeof others / sizeof *others; i++)
        if (strcasecmp(ending, others[i].ending) == 0)
            return error_set(error, GPUT_ERROR_INVALID, "%s has the extension of %s: %s", path,
                others[i].kind, others[i].remedy);
    if (ending && is_of_other_kind(ending))
        return error_set(error, GPUT_ERROR_INVALID,
            "%s: '.%s' is not the extension of a report: use .html (or -f FORMAT of 'gpu-tracker "
            "report', whatever its name)",
            path, ending);
    return GPUT_OK;
}

int html_report_check(const char *path, struct gput_error *error)
{
    char format[HTML_REPORT_FORMAT_SIZE];
    TRY(html_report_check_ending(path, error));
    if (!gput_report_is_built_in() && !environment_path("GPUT_REPORT_PAGE"))
        return error_set(error, GPUT_ERROR_UNSUPPORTED, "%s", gput_report_remedy());
    if (html_report_format_of_ending(path, format) && strcmp(format, "html") != 0)
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "--report writes an HTML page, and %s has the extension of another format: use .html "
            "(-f %s of 'gpu-tracker report' is for samples that --tf keeps)",
            path, format);
    return GPUT_OK;
}

int html_report_begin(struct html_report *html, const char *path, bool is_tried_at_end,
    struct gput_session_options *options, struct gput_error *error)
{
    *html = (struct html_report){.path = path};
    if (!path)
        return GPUT_OK;
    bool is_checked = !is_tried_at_end && strcmp(path, "-") != 0;
    int code = is_checked ? file_check(path, error) : GPUT_OK;
    if (code == GPUT_OK)
        code = output_files_keep_of(
            "--report", path, options->tracking_file, "the tracking file", error);
    if (code == GPUT_OK)
        code = html_report_check(path, error);
    if (code == GPUT_OK && !options->tracking_file)
        code = html_report_keep_samples(html, options, error);
    if (code != GPUT_OK)
        return code;
    html->samples = options->tracking_file;
    options->processes = true;
    return GPUT_OK;
}

static void warn(void *user, const char *text)
{
    const struct report *report = user;
    message_warning_until(text, report->stop_fd);
}

int html_report_write(const struct html_report *html, const struct report *report,
    struct gput_session *session, const struct gput_results *results, struct gput_error *error)
{
    char name[256];
    const char *pattern = environment_path("GPUT_BLOCKS_FILE");
    struct gput_processes *processes = NULL;
    struct gput_results_render_options known = gput_results_render_options_default();
    struct gput_report_session shown = gput_report_session_default();
    const struct gput_report_session *const sessions[] = {&shown};
    struct gput_report_options options = gput_report_options_default();
    struct gput_error ignored; /* a report without processes is one */
    if (!html->path)
        return GPUT_OK;
    /* Make the title: "train.py --epochs 3", without the folders of arguments, or "sleep, pid 4711"
     * after attaching. */
    const char *const *command = report->file_command;
    const char *program = gput_results_text(results, "identity.command");
    size_t used = 0;
    name[0] = '\0';
    if (!command && program && program[0])
        snprintf(name, sizeof name, "%s, pid %.0f", program,
            gput_results_number(results, "identity.pid"));
    for (; command && *command && used < sizeof name; command++) {
        const char *slash = strrchr(*command, '/');
        used += (size_t)snprintf(
            name + used, sizeof name - used, "%s%s", used ? " " : "", slash ? slash + 1 : *command);
    }
    gput_session_processes(session, &processes, &ignored);
    known.processes = processes;
    known.command = report->file_command;
    known.has_status = report->has_status;
    known.status = report->status;
    shown.path = html->samples;
    shown.name = name[0] ? name : NULL;
    shown.results = results;
    shown.report = &known;
    shown.is_temporary = html->temporary != NULL;
    shown.blocks_pattern = pattern ? pattern : "%p.csv";
    options.sessions = sessions;
    options.n_sessions = 1;
    options.sub_tracking_files = &report->region_marks;
    options.n_sub_tracking_files = report->region_marks != NULL;
    options.page = environment_path("GPUT_REPORT_PAGE");
    options.warn = warn;
    options.user = (void *)report;
    options.stop_fd = report->stop_fd;
    int code = gput_report_write(&options, html->path, error);
    gput_processes_destroy(processes);
    return code;
}

void html_report_finish(struct html_report *html)
{
    temporary_folder_remove(&html->folder);
    free(html->temporary);
    *html = (struct html_report){0};
}
