#include "track/tracking_files.h"

#include "base/error.h"
#include "base/file.h"
#include "common/message.h"
#include "output/output_files.h"
#include "track/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What names a file: its output, where the name is in struct tracking, the option that gives it,
 * and what the file is called where it would be the report's own. */
static const struct file_option {
    enum output_id output;
    size_t offset;
    enum option_id option;
    const char *noun; /* NULL: it may be */
} file_options[] = {
    {OUTPUT_SAMPLES, offsetof(struct tracking, options.tracking_file), OPTION_TRACKING_FILE,
        "the tracking file"},
    {OUTPUT_REPORT, offsetof(struct tracking, output), OPTION_OUTPUT, NULL},
    {OUTPUT_HTML, offsetof(struct tracking, html_path), OPTION_HTML_REPORT, NULL},
    {OUTPUT_POWER, offsetof(struct tracking, options.energy_folder), OPTION_ENERGY_FOLDER,
        "the recording"},
    {OUTPUT_RESULTS, offsetof(struct tracking, options.resource_usage_file),
        OPTION_RESOURCE_USAGE_FILE, "the resource usage file"},
};
#define FILE_OPTIONS (sizeof file_options / sizeof *file_options)

/* What a session makes before it tracks, and gives up one by one where that fails: the option that
 * names it, and what names nothing. */
static const struct sink_option {
    size_t offset;
    enum option_id option;
    const char *none;
    enum output_id output; /* OUTPUTS: none */
} sink_options[] = {
    {offsetof(struct gput_session_options, labels), OPTION_LABEL, NULL, OUTPUTS},
    {offsetof(struct gput_session_options, listen), OPTION_LISTEN, NULL, OUTPUTS},
    {offsetof(struct gput_session_options, otlp), OPTION_OTLP, NULL, OUTPUTS},
    {offsetof(struct gput_session_options, remote_write), OPTION_REMOTE_WRITE, NULL, OUTPUTS},
    {offsetof(struct gput_session_options, textfile_folder), OPTION_TEXTFILE, NULL,
        OUTPUT_TEXTFILE},
    {offsetof(struct gput_session_options, tracking_file), OPTION_TRACKING_FILE, NULL,
        OUTPUT_SAMPLES},
    {offsetof(struct gput_session_options, energy_folder), OPTION_ENERGY_FOLDER, NULL,
        OUTPUT_POWER},
    {offsetof(struct gput_session_options, resource_usage_file), OPTION_RESOURCE_USAGE_FILE, "",
        OUTPUT_RESULTS},
};
#define SINK_OPTIONS (sizeof sink_options / sizeof *sink_options)

static const char **sink_option_of(struct gput_session_options *options, size_t i)
{
    return (const char **)((char *)options + sink_options[i].offset);
}

static const char **path_of(struct tracking *tracking, size_t i)
{
    return (const char **)((char *)tracking + file_options[i].offset);
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

static int begin_spool(
    const struct arguments *arguments, struct tracking *tracking, struct gput_error *error)
{
    char text[MESSAGE_LINE_SIZE];
    struct outputs *outputs = &tracking->outputs;
    tracking->spool_root = arguments_value(arguments, OPTION_SPOOL);
    TRY(outputs_name(outputs, OUTPUT_SPOOL, &tracking->spool_root, error));
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

/* Names that are one file. An empty text is that of a variable which is not set; the library takes
 * it for "nowhere". */
static int check_names(struct tracking *tracking, struct gput_error *error)
{
    const char *resource_usage = tracking->options.resource_usage_file;
    if (resource_usage && !resource_usage[0])
        return error_set(error, GPUT_ERROR_INVALID,
            "--resource-usage-file needs the name of a file, and was given an empty one.");
    for (size_t i = 0; i < FILE_OPTIONS; i++) {
        if (file_options[i].noun)
            TRY(output_files_keep(
                tracking->output, *path_of(tracking, i), file_options[i].noun, error));
    }
    return GPUT_OK;
}

/* A recording that is continued keeps its folder, and so does that of 'energy record'. */
static bool is_claimed(
    const struct arguments *arguments, const struct tracking *tracking, enum output_id id)
{
    bool is_kept =
        tracking->options.energy_continue || arguments_have(arguments, OPTION_OUTPUT_FOLDER);
    return id != OUTPUT_RESULTS && !(id == OUTPUT_POWER && is_kept);
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

/* Names the files of regions and traces whose names are given, so that they are claimed together
 * with the others. */
static int name_recordings(
    const struct arguments *arguments, struct tracking *tracking, struct gput_error *error)
{
    struct outputs *outputs = &tracking->outputs;
    bool has_regions = arguments_have(arguments, OPTION_REGIONS) ||
                       arguments_have(arguments, OPTION_PHASE_TOKEN) ||
                       arguments_have(arguments, OPTION_PHASES);
    if (has_regions)
        tracking->regions.path = arguments_value(arguments, OPTION_REGION_FILE);
    if (arguments_have(arguments, OPTION_TORCH_TRACE))
        tracking->torch.path = arguments_value(arguments, OPTION_TORCH_TRACE_FILE);
    TRY(outputs_name(outputs, OUTPUT_REGIONS, &tracking->regions.path, error));
    return outputs_name(outputs, OUTPUT_TRACES, &tracking->torch.path, error);
}

int tracking_files_name(
    const struct arguments *arguments, struct tracking *tracking, struct gput_error *error)
{
    struct outputs *outputs = &tracking->outputs;
    outputs->overwrite = tracking->options.overwrite;
    outputs->is_older_form = tracking->is_older_form;
    outputs->warn = warn;
    outputs->user = tracking;
    tracking->html_path = arguments_value(arguments, OPTION_HTML_REPORT);
    outputs->list[OUTPUT_RESULTS].path = &tracking->options.resource_usage_file;
    for (size_t i = 0; i < FILE_OPTIONS; i++)
        TRY(outputs_name(outputs, file_options[i].output, path_of(tracking, i), error));
    TRY(name_recordings(arguments, tracking, error));
    TRY(outputs_find_rank(outputs, error));
    TRY(outputs_name(outputs, OUTPUT_TEXTFILE, &tracking->options.textfile_folder, error));
    TRY(check_textfile_folder(tracking, error));
    TRY(begin_spool(arguments, tracking, error));
    TRY(check_names(tracking, error));
    for (size_t i = 0; i < FILE_OPTIONS; i++) {
        if (is_claimed(arguments, tracking, file_options[i].output))
            TRY(outputs_take(outputs, file_options[i].output, NULL, NULL, error));
    }
    TRY(outputs_take(outputs, OUTPUT_REGIONS, NULL, NULL, error));
    TRY(outputs_take(outputs, OUTPUT_TRACES, NULL, NULL, error));
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

/* GPUT_ERROR_EXISTS: the tracking file is there. */
static int create_session(void *user, struct gput_error *error)
{
    const struct creation *creation = user;
    struct tracking *tracking = creation->tracking;
    struct stat info;
    if (tracking->html.path && !tracking->html.temporary)
        tracking->html.samples = tracking->options.tracking_file;
    int code = gput_session_create(&tracking->options, creation->session, error);
    if (code != GPUT_OK)
        tracking_files_explain(tracking, error->message, sizeof error->message);
    if (code == GPUT_ERROR_EXISTS &&
        (!tracking->options.tracking_file || lstat(tracking->options.tracking_file, &info) != 0))
        code = error->code = GPUT_ERROR_STATE;
    return code;
}

/* A report has its curves of the tracking file. */
static void drop_sink_option(struct tracking *tracking, size_t i, const struct gput_error *reason)
{
    bool is_samples = sink_options[i].option == OPTION_TRACKING_FILE;
    char name[64], both[96];
    option_name(option(sink_options[i].option), name);
    snprintf(both, sizeof both, "%s%s", is_samples && tracking->html.temporary ? "" : name,
        !is_samples || !tracking->html.path ? ""
        : tracking->html.temporary          ? "--report"
                                            : " and --report");
    tracking_files_warn_without(tracking, reason, both);
    *sink_option_of(&tracking->options, i) = sink_options[i].none;
    if (sink_options[i].output < OUTPUTS)
        outputs_skip(&tracking->outputs, sink_options[i].output);
    if (is_samples && tracking->html.path) {
        outputs_skip(&tracking->outputs, OUTPUT_HTML);
        tracking->html.path = NULL;
    }
}

/* Without the sinks that cannot be opened. Each is tried for itself. */
static int create_with_less(const struct creation *creation, struct gput_error *error)
{
    struct tracking *tracking = creation->tracking;
    struct gput_session_options *options = &tracking->options, wanted = *options;
    for (size_t i = 0; i < SINK_OPTIONS; i++)
        *sink_option_of(options, i) = sink_options[i].none;
    TRY(create_session((void *)creation, error));
    for (size_t i = 0; i < SINK_OPTIONS; i++) {
        struct gput_error reason;
        const char *place = *sink_option_of(&wanted, i);
        if (place == sink_options[i].none)
            continue;
        gput_session_destroy(*creation->session);
        *sink_option_of(options, i) = place;
        if (create_session((void *)creation, &reason) == GPUT_OK)
            continue;
        drop_sink_option(tracking, i, &reason);
        TRY(create_session((void *)creation, error));
    }
    return GPUT_OK;
}

int tracking_files_create_session(
    struct tracking *tracking, struct gput_session **session, struct gput_error *error)
{
    struct creation creation = {tracking, session};
    struct outputs *outputs = &tracking->outputs;
    bool is_spooled = outputs->spool.folder != NULL || tracking->html.temporary;
    int code = is_spooled ? create_session(&creation, error)
                          : outputs_take(outputs, OUTPUT_SAMPLES, create_session, &creation, error);
    if (code != GPUT_OK && outputs_are_many(outputs))
        return create_with_less(&creation, error);
    if (code == GPUT_ERROR_EXISTS && error->errno_value == EEXIST)
        error_set(error, code, "File %.400s already exists. --overwrite replaces it.",
            tracking->options.tracking_file);
    return code;
}
