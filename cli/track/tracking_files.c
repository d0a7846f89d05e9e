#include "track/tracking_files.h"

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/output_files.h"
#include "track/report.h"

#include <gputracker/results.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The outputs of a session: where the name is in struct tracking, the option of the session that it
 * is, and what the file is called where it would be the report's own. */
static const struct {
    size_t offset;
    const char *setting; /* NULL: the command makes this file itself */
    const char *noun;    /* NULL: it may be the report's own */
} files[OUTPUTS] = {
#define IN(member) offsetof(struct tracking, member)
    [OUTPUT_SAMPLES] = {IN(options.tracking_file), "tracking_file", "the tracking file"},
    [OUTPUT_REPORT] = {IN(output), NULL, NULL},
    [OUTPUT_HTML] = {IN(html_path), NULL, NULL},
    [OUTPUT_POWER] = {IN(options.energy_folder), "energy_folder", "the recording"},
    [OUTPUT_RESULTS] = {IN(options.resource_usage_file), "resource_usage_file",
        "the resource usage file"},
    [OUTPUT_REGIONS] = {IN(regions.path), NULL, NULL},
    [OUTPUT_TRACES] = {IN(torch.path), NULL, NULL},
    [OUTPUT_TEXTFILE] = {IN(options.textfile_folder), "textfile_folder", NULL},
    [OUTPUT_SPOOL] = {IN(spool_root), NULL, NULL},
#undef IN
};

static const char **path_of(struct tracking *tracking, enum output_id id)
{
    return (const char **)((char *)tracking + files[id].offset);
}

static void warn(void *user, const char *text)
{
    struct tracking *tracking = user;
    if (!tracking->disable_logs)
        held_messages_say(&tracking->messages, MESSAGE_WARNING, text);
}

void tracking_files_warn_without(
    struct tracking *tracking, const struct gput_error *reason, const char *what)
{
    char text[MESSAGE_LINE_SIZE];
    snprintf(text, sizeof text, "%.600s (the command runs without %s).", reason->message, what);
    warn(tracking, text);
}

/* What cannot be written where it is named: others may need it, and can have it elsewhere. */
static void drop_unwritable(struct tracking *tracking, enum output_id id, const char *path)
{
    struct gput_error error;
    if (!path || !outputs_are_many(&tracking->outputs) || file_check(path, &error) == GPUT_OK)
        return;
    tracking_files_warn_without(tracking, &error, "it");
    outputs_skip(&tracking->outputs, id);
}

/* Opens the local folder in which files are written first. */
static int begin_spool(struct tracking *tracking, struct gput_error *error)
{
    char text[MESSAGE_LINE_SIZE];
    struct outputs *outputs = &tracking->outputs;
    if (!tracking->spool_root)
        return GPUT_OK;
    int code = spool_begin(&outputs->spool, tracking->spool_root, error);
    if (code != GPUT_OK && code != GPUT_ERROR_STATE && !outputs_are_many(outputs))
        return code;
    if (code != GPUT_OK) {
        snprintf(text, sizeof text, "%.400s Files are written to their places.", error->message);
        warn(tracking, text);
    } else if (!tracking->disable_logs && !tracking->quiet) {
        snprintf(text, sizeof text, "files are written to %s first", outputs->spool.folder);
        held_messages_say(&tracking->messages, MESSAGE_NOTE, text);
    }
    return GPUT_OK;
}

/* One of many ranks runs its command all the same. */
static int check_output(struct tracking *tracking, struct gput_error *error)
{
    int code = tracking->output ? report_check_output(tracking->output, error) : GPUT_OK;
    if (code == GPUT_OK || !outputs_are_many(&tracking->outputs))
        return code;
    warn(tracking, error->message);
    tracking->outputs.list[OUTPUT_REPORT].has_rank = false;
    return GPUT_OK;
}

/* Others than ranks learn at once that a file is not what is meant. */
static int check_textfile_folder(const struct tracking *tracking, struct gput_error *error)
{
    const char *folder = tracking->options.textfile_folder;
    struct stat info;
    bool is_there = !folder || stat(folder, &info) == 0;
    if (!folder || (is_there && S_ISDIR(info.st_mode)) || outputs_are_many(&tracking->outputs))
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_INVALID,
        "--textfile needs a folder that exists, and each session writes a file of its own there: "
        "%.400s: %.200s.",
        folder, strerror(is_there ? ENOTDIR : errno));
}

/* A recording that is continued keeps its folder, and so does that of 'energy record'. */
static bool is_claimed(
    const struct arguments *arguments, const struct tracking *tracking, enum output_id id)
{
    bool is_kept =
        tracking->options.energy_continue || arguments_have(arguments, OPTION_OUTPUT_FOLDER);
    bool is_shared = id == OUTPUT_TEXTFILE || id == OUTPUT_SPOOL;
    return id != OUTPUT_RESULTS && !is_shared && !(id == OUTPUT_POWER && is_kept);
}

/* `gpu-tracker job results` is to find them there if the tracker is killed. */
static void keep_next_to_files(struct tracking *tracking)
{
    struct gput_session_options *options = &tracking->options;
    const char *path = tracking->output ? tracking->output : options->tracking_file;
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (options->resource_usage_file || !slash || strncmp(path, "/dev/", 5) == 0 ||
        !outputs_are_in_job(&tracking->outputs))
        return;
    tracking->kept = strndup(path, (size_t)(slash - path) + 1);
    if (tracking->kept && access(tracking->kept, W_OK | X_OK) == 0)
        options->resource_usage_file = tracking->kept;
}

/* Whether a tracking file has a name that says its format. The library says the same, without the
 * way out. */
static int check_tracking_file(const char *path, struct gput_error *error)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path, *ending = name ? strrchr(name, '.') : NULL;
    struct stat info;
    static const char known[] = ".csv .sqlite .parquet"; /* or the library says more */
    if (!path || strchr(path, '%') || (ending && choice_find(known, ending) >= 0))
        return GPUT_OK; /* of one with placeholders it is not known here */
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return error_set(error, GPUT_ERROR_INVALID,
            "%.400s is a folder. A tracking file in it: --tf %.400s%ssamples.sqlite", path, path,
            *name ? "/" : "");
    bool is_json = ending && strcmp(ending, ".json") == 0;
    return error_set(error, GPUT_ERROR_INVALID,
        "Invalid file name: \"%.400s\". Valid file extensions are \".csv\" and \".sqlite\". For "
        "example: --tf %.*s.sqlite%s%.400s",
        path, (int)(ending && ending > name ? ending - path : (ptrdiff_t)strlen(path)), path,
        is_json ? "; results as JSON: -o " : "", is_json ? path : "");
}

int tracking_files_name(
    const struct arguments *arguments, struct tracking *tracking, struct gput_error *error)
{
    struct outputs *outputs = &tracking->outputs;
    outputs->overwrite = tracking->options.overwrite;
    outputs->is_older_form = tracking->is_older_form;
    outputs->warn = warn;
    outputs->user = tracking;
    /* Take the names that are given for files which the command makes itself. */
    bool has_regions = arguments_have(arguments, OPTION_REGIONS) ||
                       arguments_have(arguments, OPTION_PHASE_TOKEN) ||
                       arguments_have(arguments, OPTION_PHASES);
    tracking->html_path = arguments_value(arguments, OPTION_HTML_REPORT);
    if (has_regions)
        tracking->regions.path = arguments_value(arguments, OPTION_REGION_FILE);
    if (arguments_have(arguments, OPTION_TORCH_TRACE))
        tracking->torch.path = arguments_value(arguments, OPTION_TORCH_TRACE_FILE);
    tracking->spool_root = arguments_value(arguments, OPTION_SPOOL);
    if (!tracking->is_older_form)
        TRY(check_tracking_file(tracking->options.tracking_file, error));
    outputs->list[OUTPUT_RESULTS].path = &tracking->options.resource_usage_file;
    TRY(outputs_find_rank(outputs, error));
    for (enum output_id id = 0; id < OUTPUTS; id++)
        TRY(outputs_name(outputs, id, path_of(tracking, id), error));
    TRY(check_textfile_folder(tracking, error));
    TRY(begin_spool(tracking, error));
    /* Refuse an empty text, which is that of a variable that is not set; the library takes it for
     * "nowhere". Then refuse two names that are one file. */
    const char *resource_usage = tracking->options.resource_usage_file;
    if (resource_usage && !resource_usage[0])
        return error_set(error, GPUT_ERROR_INVALID,
            "--resource-usage-file needs the name of a file, and was given an empty one.");
    for (enum output_id id = 0; id < OUTPUTS; id++) {
        if (files[id].noun)
            TRY(output_files_keep(tracking->output, *path_of(tracking, id), files[id].noun, error));
    }
    for (enum output_id id = 0; id < OUTPUTS; id++) {
        if (is_claimed(arguments, tracking, id))
            TRY(outputs_take(outputs, id, NULL, NULL, error));
    }
    TRY(outputs_spool(outputs, error));
    drop_unwritable(tracking, OUTPUT_RESULTS, tracking->options.resource_usage_file);
    drop_unwritable(tracking, OUTPUT_SAMPLES, tracking->options.tracking_file);
    TRY(check_output(tracking, error));
    keep_next_to_files(tracking);
    return GPUT_OK;
}

const char *tracking_files_place_of_report(const struct tracking *tracking)
{
    const struct output *output = &tracking->outputs.list[OUTPUT_REPORT];
    return output->local ? output->place : NULL;
}

void tracking_files_settle(struct tracking *tracking)
{
    if (!tracking->outputs.spool.folder) {
        outputs_settle(&tracking->outputs, OUTPUT_REPORT);
        outputs_settle(&tracking->outputs, OUTPUT_HTML);
    }
    if (tracking->html.path)
        tracking->html.path = tracking->html_path;
}

/* Finds the file of a session that its manifest is to be next to. False: it wrote none, or a file
 * that says itself whose it is. Those who still use the older command have files that it wrote. */
static bool find_described(const struct tracking *tracking, char *path, size_t size)
{
    const char *folder = tracking->options.energy_folder;
    bool has_tracking_file = tracking->options.tracking_file && !tracking->html.temporary;
    bool has_report = report_is_file(tracking->output);
    if (tracking->is_older_form || has_tracking_file ||
        (has_report && tracking->format == GPUT_FORMAT_JSON))
        return false;
    const char *file = has_report ? tracking->output : tracking->html_path;
    if (!file && !folder)
        return false;
    text_fit(path, size, file ? "%s" : "%s/metadata.json", file ? file : folder);
    return true;
}

void tracking_files_write_manifest(
    const struct tracking *tracking, const struct gput_results *results, int stop_fd)
{
    struct gput_error error;
    char path[PATH_MAX], line[MESSAGE_LINE_SIZE];
    if (!find_described(tracking, path, sizeof path) ||
        gput_results_write_manifest(results, path, &error) == GPUT_OK || tracking->disable_logs)
        return;
    text_fit(
        line, sizeof line, "No file says whose session %.300s is of: %.500s", path, error.message);
    message_warning_until(line, stop_fd);
}

static void warn_at_end(void *user, const char *text)
{
    (void)user;
    message_warning(NULL, text);
}

bool tracking_files_deliver(struct tracking *tracking)
{
    tracking->outputs.warn = warn_at_end;
    return outputs_deliver(&tracking->outputs);
}

const char *tracking_files_samples(const struct tracking *tracking)
{
    return tracking->html.temporary ? NULL : outputs_place(&tracking->outputs, OUTPUT_SAMPLES);
}

void tracking_files_explain(const struct tracking *tracking, char *message, size_t size)
{
    const char *const folders[] = {
        tracking->html.folder.path, tracking->regions.temporary.path, tracking->torch.sockets.path};
    size_t length = strlen(message);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        /* A limit is everywhere the same. */
        if (!folders[i] || !strstr(message, folders[i]) || strstr(message, "(ulimit "))
            continue;
        snprintf(message + length, size - length,
            "%s The file is temporary: TMPDIR can name another folder.",
            length > 0 && message[length - 1] == '.' ? "" : ".");
        return;
    }
}

void tracking_files_say(struct tracking *tracking)
{
    char text[MESSAGE_LINE_SIZE];
    outputs_say_names(&tracking->outputs);
    outputs_describe(&tracking->outputs, text, sizeof text);
    if (text[0] && !tracking->disable_logs && !tracking->quiet)
        held_messages_say(&tracking->messages, MESSAGE_NOTE, text);
}

/* What makes a session, for outputs_take(). */
struct creation {
    struct tracking *tracking;
    struct gput_session **session;
};

/* Whether a session failed because its tracking file is there, for which there is another name. */
static bool is_name_taken(const struct gput_session_options *options, int code)
{
    struct stat info;
    return code == GPUT_ERROR_EXISTS && options->tracking_file &&
           lstat(options->tracking_file, &info) == 0;
}

/* GPUT_ERROR_EXISTS: the tracking file is there. */
static int create_session(void *user, struct gput_error *error)
{
    const struct creation *creation = user;
    struct tracking *tracking = creation->tracking;
    if (tracking->html.path && !tracking->html.temporary)
        tracking->html.samples = tracking->options.tracking_file;
    int code = gput_session_create(&tracking->options, creation->session, error);
    if (code != GPUT_OK)
        tracking_files_explain(tracking, error->message, sizeof error->message);
    if (code == GPUT_ERROR_EXISTS && !is_name_taken(&tracking->options, code))
        code = error->code = GPUT_ERROR_STATE;
    return code;
}

bool tracking_files_do_without(void *user, const char *setting, const struct gput_error *reason)
{
    struct tracking *tracking = user;
    struct gput_error explained = *reason, ignored;
    bool is_samples = strcmp(setting, "tracking_file") == 0;
    if (!outputs_are_many(&tracking->outputs) ||
        (is_samples && is_name_taken(&tracking->options, reason->code)))
        return false;
    /* The page that --report makes has its curves of the tracking file. */
    bool has_page = is_samples && tracking->html.path;
    char name[64], what[96];
    snprintf(what, sizeof what, "%s%s",
        is_samples && tracking->html.temporary ? "" : option_name(option_of_setting(setting), name),
        !has_page                  ? is_samples && tracking->html.temporary ? "--log-to" : ""
        : tracking->html.temporary ? "--report"
                                   : " and --report");
    tracking_files_explain(tracking, explained.message, sizeof explained.message);
    tracking_files_warn_without(tracking, &explained, what);
    gput_session_option_set(&tracking->options, setting, NULL, &ignored);
    for (enum output_id id = 0; id < OUTPUTS; id++) {
        if (files[id].setting && strcmp(files[id].setting, setting) == 0)
            outputs_skip(&tracking->outputs, id);
    }
    if (is_samples && tracking->html.temporary)
        tracking->log_to = NULL;
    if (has_page) {
        outputs_skip(&tracking->outputs, OUTPUT_HTML);
        tracking->html.path = NULL;
    }
    return true;
}

int tracking_files_create_session(
    struct tracking *tracking, struct gput_session **session, struct gput_error *error)
{
    struct creation creation = {tracking, session};
    struct outputs *outputs = &tracking->outputs;
    bool is_spooled = outputs->spool.folder != NULL || tracking->html.temporary;
    int code = is_spooled ? create_session(&creation, error)
                          : outputs_take(outputs, OUTPUT_SAMPLES, create_session, &creation, error);
    if (code == GPUT_ERROR_EXISTS && error->errno_value == EEXIST)
        error_set(error, code, "File %.400s already exists. --overwrite replaces it.",
            tracking->options.tracking_file);
    return code;
}
