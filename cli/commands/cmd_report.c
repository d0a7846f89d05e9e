/* gpu-tracker report: sessions in one HTML file, or in the formats of other programs. */
#include "base/error.h"
#include "common/environment.h"
#include "common/message.h"
#include "common/screen.h"
#include "common/temporary_folder.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "output/named_sessions.h"
#include "output/output_files.h"
#include "output/pickles.h"
#include "output/tables.h"
#include "track/html_report.h"
#include "track/signals.h"

#include <gputracker/perfetto.h>
#include <gputracker/report.h>
#include <gputracker/timeline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Sessions in Perfetto's viewer: report --perfetto.
 */
#define FILE_NAME "/timeline.json"

/* Merges the sessions and their marks to a timeline at `path`. */
static int merge(
    const struct gput_report_options *sessions, const char *path, struct gput_error *error)
{
    struct gput_timeline_options options = gput_timeline_options_default();
    const char **inputs =
        calloc(sessions->n_sessions + sessions->n_sub_tracking_files + 1, sizeof *inputs);
    if (!inputs)
        return error_memory(error);
    for (size_t i = 0; i < sessions->n_sessions; i++)
        inputs[i] = sessions->sessions[i]->path;
    for (size_t i = 0; i < sessions->n_sub_tracking_files; i++)
        inputs[sessions->n_sessions + i] = sessions->sub_tracking_files[i];
    options.inputs = inputs;
    options.n_inputs = sessions->n_sessions + sessions->n_sub_tracking_files;
    options.output = path;
    options.warn = sessions->warn;
    options.progress = sessions->progress;
    options.user = sessions->user;
    int code = gput_timeline_merge(&options, NULL, error);
    free(inputs);
    return code;
}

/* Where the browser is on another machine, ssh brings the port there. A signal ends waiting for a
 * reader. */
static void say_url(const char *url, const struct signals *signals)
{
    char host[256] = "HOST", line[512];
    int length = snprintf(line, sizeof line, "%s\n", url);
    screen_write(STDOUT_FILENO, line, (size_t)length, signals->fd);
    if (!getenv("SSH_CONNECTION"))
        return;
    gethostname(host, sizeof host - 1);
    length = snprintf(line, sizeof line,
        "For a browser on another machine, there: ssh -L 9001:127.0.0.1:9001 %s\n", host);
    screen_write(STDERR_FILENO, line, (size_t)length, signals->fd);
}

/* Serves the timeline until it was fetched or a signal comes. */
static int serve(const char *path, struct gput_error *error)
{
    struct gput_perfetto *perfetto;
    struct signals signals;
    int code = gput_perfetto_create(path, getenv("GPUT_PERFETTO_ADDRESS"), &perfetto, error);
    if (code != GPUT_OK)
        return code;
    code = signals_catch(&signals, error);
    if (code == GPUT_OK) {
        signals_receive(&signals);
        say_url(gput_perfetto_url(perfetto), &signals);
        code = gput_perfetto_wait(perfetto, signals.fd, error);
        signals_close_stop(signals_release(&signals, NULL));
    }
    gput_perfetto_destroy(perfetto);
    return code;
}

/* Where the timeline goes without -o. */
static int make_temporary(struct temporary_folder *folder, char **path, struct gput_error *error)
{
    TRY(temporary_folder_make(
        folder, environment_path("TMPDIR"), "the timeline of --perfetto without -o", error));
    *path = malloc(strlen(folder->path) + sizeof FILE_NAME);
    if (!*path)
        return error_memory(error);
    sprintf(*path, "%s" FILE_NAME, folder->path);
    return GPUT_OK;
}

/* Merges the sessions and sub-tracking files of the options to a timeline, prints the address to
 * open, and waits until it was fetched or a signal came. Errors: those of gput_timeline_merge() and
 * gput_perfetto_create(). */
static int perfetto_serve(const struct arguments *arguments,
    const struct gput_report_options *options, struct gput_error *error)
{
    struct temporary_folder folder = {0};
    const char *path = arguments_value(arguments, OPTION_REPORT_OUTPUT);
    char *temporary = NULL;
    int code = path ? GPUT_OK : make_temporary(&folder, &temporary, error);
    path = path ? path : temporary;
    if (code == GPUT_OK)
        code = merge(options, path, error);
    if (code == GPUT_OK)
        code = serve(path, error);
    free(temporary);
    temporary_folder_remove(&folder);
    return code;
}

/* What a report is made of; the lists belong to it. */
struct work {
    struct named_sessions sessions;
    struct pickle_copy *copies; /* of each session */
    const char **marks;
    int shown; /* of its progress */
};

/* Reads the sessions, marks and title of the report. */
static int read_options(const struct arguments *arguments, struct work *work,
    struct gput_report_options *options, struct gput_error *error)
{
    const char *mark;
    size_t position = 0;
    work->marks = calloc(arguments->n_uses + 1, sizeof *work->marks);
    work->copies = calloc((size_t)arguments->n_operands + 2, sizeof *work->copies);
    if (!work->marks || !work->copies)
        return error_memory(error);
    TRY(named_sessions_read(&work->sessions, arguments, OPTION_REPORT_OUTPUT, error));
    for (size_t i = 0; i < work->sessions.count; i++) {
        struct gput_report_session *session = &work->sessions.sessions[i];
        TRY(pickle_copy_of_usage(&work->copies[i], &session->path, error));
        session->is_temporary = work->copies[i].path != NULL;
    }
    while ((mark = arguments_next(arguments, OPTION_REPORT_MARKS, &position)) != NULL)
        work->marks[options->n_sub_tracking_files++] = mark;
    options->sessions = work->sessions.list;
    options->n_sessions = work->sessions.count;
    options->sub_tracking_files = work->marks;
    options->title = arguments_value(arguments, OPTION_REPORT_TITLE);
    options->page = environment_path("GPUT_REPORT_PAGE");
    options->warn = analysis_warn;
    options->progress = analysis_show_progress;
    options->user = &work->shown;
    return GPUT_OK;
}

const char *cmd_report_note(void)
{
    return gput_report_is_built_in() ? "" : gput_report_remedy();
}

/* What writes the report, by the words of -f. */
enum writer { PAGE, EXPORT, TABLE_FILES };

static const struct output {
    enum writer writer;
    enum gput_report_format format; /* of EXPORT */
    const char *path;               /* without -o */
} outputs[] = {
    {PAGE, 0, "report.html"},
    {EXPORT, GPUT_REPORT_JSON, "-"},
    {EXPORT, GPUT_REPORT_CSV, "report-csv"},
    {TABLE_FILES, 0, "report-parquet"},
    {TABLE_FILES, 0, "report-arrow"},
    {EXPORT, GPUT_REPORT_SPEEDSCOPE, "-"},
    {EXPORT, GPUT_REPORT_COLLAPSED, "-"},
};

/* `*unnamed` is the file that is written without -o, the caller's; it stays where there is none. */
static int write_report(const struct arguments *arguments,
    const struct gput_report_options *options, char **unnamed, struct gput_error *error)
{
    const char *path = arguments_value(arguments, OPTION_REPORT_OUTPUT);
    const char *word = arguments_value(arguments, OPTION_REPORT_FORMAT);
    char ending[HTML_REPORT_FORMAT_SIZE];
    int choice = 0;
    bool is_by_ending = !word && html_report_format_of_ending(path, ending);
    if (!word)
        TRY(html_report_check_ending(path, error));
    if (is_by_ending && strcmp(ending, "csv") == 0)
        return error_set(error, GPUT_ERROR_INVALID,
            "A report is several tables: as CSV they go to a folder, -f csv -o FOLDER.");
    if (is_by_ending)
        word = ending;
    if (word)
        TRY(choice_read(OPTION_REPORT_FORMAT, word, "format", &choice, error));
    const struct output *output = &outputs[choice];
    if (!path) {
        TRY(output_files_find_free(arguments, output->path, unnamed, error));
        path = *unnamed = *unnamed ? *unnamed : strdup(output->path);
    }
    if (!path)
        return error_memory(error);
    if (output->writer == TABLE_FILES)
        return table_files_execute(options, word, path, error);
    if (output->writer == EXPORT)
        return gput_report_export(options, output->format, path, error);
    return gput_report_write(options, path, error);
}

/* Writes the report, or with --perfetto serves a timeline. */
static int write_or_serve(const struct arguments *arguments,
    const struct gput_report_options *options, char **unnamed, struct gput_error *error)
{
    if (!arguments_have(arguments, OPTION_PERFETTO))
        return write_report(arguments, options, unnamed, error);
    if (arguments_value(arguments, OPTION_REPORT_FORMAT))
        return error_set(
            error, GPUT_ERROR_INVALID, "--perfetto has its own format: use it without -f.");
    return perfetto_serve(arguments, options, error);
}

int cmd_report(const struct arguments *arguments)
{
    struct gput_report_options options = gput_report_options_default();
    struct work work = {0};
    struct gput_error error;
    char *unnamed = NULL;
    int code = read_options(arguments, &work, &options, &error);
    if (code == GPUT_OK)
        code = write_or_serve(arguments, &options, &unnamed, &error);
    analysis_end_progress(&work.shown);
    if (code == GPUT_OK && unnamed)
        output_files_say(unnamed);
    for (size_t i = 0; work.copies && i < work.sessions.count; i++)
        pickle_copy_finish(&work.copies[i]);
    free(work.copies);
    named_sessions_free(&work.sessions);
    free(work.marks);
    free(unnamed);
    return message_exit_status(code, &error, EXIT_FAILURE);
}
