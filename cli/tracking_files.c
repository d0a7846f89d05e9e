#include "tracking_files.h"

#include "message.h"
#include "output_files.h"
#include "report.h"

#include <gputracker/file.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAME_TRIES = 100 };

/* Where a name is in struct tracking, the option that gives it, and what the file is called where
 * it would be the report's own. */
static const struct file_option {
    size_t offset;
    enum option_id option;
    const char *noun; /* NULL: it may be */
} file_options[] = {
    {offsetof(struct tracking, options.tracking_file), OPTION_TRACKING_FILE, "the tracking file"},
    {offsetof(struct tracking, output), OPTION_OUTPUT, NULL},
    {offsetof(struct tracking, html_path), OPTION_HTML_REPORT, NULL},
    {offsetof(struct tracking, options.energy_folder), OPTION_ENERGY_FOLDER, "the recording"},
    {offsetof(struct tracking, options.resource_usage_file), OPTION_RESOURCE_USAGE_FILE,
        "the resource usage file"},
};
#define FILE_OPTIONS (sizeof file_options / sizeof *file_options)

/* What a session makes before it tracks, and gives up one by one where that fails: the option that
 * names it, and what names nothing. */
static const struct sink_option {
    size_t offset;
    enum option_id option;
    const char *none;
} sink_options[] = {
    {offsetof(struct gput_session_options, labels), OPTION_LABEL, NULL},
    {offsetof(struct gput_session_options, listen), OPTION_LISTEN, NULL},
    {offsetof(struct gput_session_options, otlp), OPTION_OTLP, NULL},
    {offsetof(struct gput_session_options, remote_write), OPTION_REMOTE_WRITE, NULL},
    {offsetof(struct gput_session_options, textfile_folder), OPTION_TEXTFILE, NULL},
    {offsetof(struct gput_session_options, tracking_file), OPTION_TRACKING_FILE, NULL},
    {offsetof(struct gput_session_options, energy_folder), OPTION_ENERGY_FOLDER, NULL},
    {offsetof(struct gput_session_options, resource_usage_file), OPTION_RESOURCE_USAGE_FILE, ""},
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

static void warn_of_file(
    struct tracking *tracking, const char *format, const char *a, const char *b)
{
    char text[MESSAGE_LINE_SIZE];
    snprintf(text, sizeof text, format, a, b);
    if (!tracking->disable_logs)
        held_messages_say(&tracking->messages, MESSAGE_WARNING, text);
}

void tracking_files_warn_without(
    struct tracking *tracking, const struct gput_error *reason, const char *what)
{
    warn_of_file(tracking, "%.600s (the command runs without %s).", reason->message, what);
}

/* Where a file is in the end that is spooled perhaps. */
static const char *final_place(const struct tracking *tracking, const char *path)
{
    for (size_t i = 0; i < tracking->spool.count; i++) {
        if (path == tracking->spool.local[i])
            return tracking->spool.place[i];
    }
    return path;
}

static void skip(struct tracking *tracking, const char **path, const char *none)
{
    rank_paths_skip(&tracking->ranks, final_place(tracking, *path));
    *path = none;
}

/* A recording whose folder is missing makes it. */
static void drop_recording(struct tracking *tracking, int failure)
{
    const char **path = &tracking->options.energy_folder;
    if (failure == ENOENT)
        return;
    warn_of_file(
        tracking, "%.400s: %.200s (the command runs without it).", *path, strerror(failure));
    skip(tracking, path, NULL);
}

/* What cannot be written where it is named: others may need it, and can have it elsewhere. */
static void drop_unwritable(struct tracking *tracking, const char **path, const char *none)
{
    struct gput_error error;
    if (!*path || !rank_paths_are_many(&tracking->ranks) ||
        gput_file_check(*path, &error) == GPUT_OK)
        return;
    tracking_files_warn_without(tracking, &error, "it");
    skip(tracking, path, none);
}

/* A name that others may take, too, becomes ours. The tracking file is made at once where it is
 * not spooled. */
static int claim(struct tracking *tracking, const char **path, struct gput_error *error)
{
    const struct gput_session_options *options = &tracking->options;
    bool is_samples = path == &options->tracking_file,
         are_many = rank_paths_are_many(&tracking->ranks);
    bool is_continued = path == &options->energy_folder && options->energy_continue;
    bool is_numbered = rank_paths_are_numbered(&tracking->ranks, *path);
    bool is_claimed = is_samples ? tracking->spool.folder != NULL
                                 : is_numbered || rank_paths_take_free_names(&tracking->ranks);
    if (!*path || !(*path)[0] || options->overwrite || is_continued || !is_claimed ||
        path == &options->resource_usage_file)
        return GPUT_OK;
    const char *wanted = strdup(*path);
    int failure = rank_paths_claim(&tracking->ranks, path, path == &options->energy_folder);
    int code = GPUT_OK;
    if (failure == EEXIST && is_samples && !is_numbered &&
        !rank_paths_take_free_names(&tracking->ranks))
        code = fail(error, GPUT_ERROR_EXISTS,
            "File %.400s already exists. --overwrite replaces it.", *path);
    else if (failure && path == &options->energy_folder && are_many)
        drop_recording(tracking, failure);
    else if (failure && (is_samples || (are_many && path != &tracking->output)))
        /* others are refused later, a report is checked */
        warn_of_file(
            tracking, "%.400s: %.200s. It is tried again at the end.", *path, strerror(failure));
    if (failure)
        rank_paths_skip(&tracking->ranks, *path);
    else if (wanted && !is_numbered && strcmp(wanted, *path) != 0)
        warn_of_file(tracking, "%.400s exists: %.400s is written.", wanted, *path);
    free((char *)wanted);
    return code;
}

static int begin_spool(
    const struct arguments *arguments, struct tracking *tracking, struct gput_error *error)
{
    const char *root = arguments_value(arguments, OPTION_SPOOL);
    TRY(rank_paths_expand_shared(&tracking->ranks, &root, error));
    int code = root ? spool_begin(&tracking->spool, root, error) : GPUT_OK;
    if (code == GPUT_OK || (code != GPUT_ERROR_STATE && !rank_paths_are_many(&tracking->ranks)))
        return code;
    warn_of_file(tracking, "%.400s Files are written to their places%s.", error->message, "");
    return GPUT_OK;
}

/* One of many ranks runs its command all the same. */
static int check_output(struct tracking *tracking, const char *path, struct gput_error *error)
{
    int code = path ? report_check_output(path, error) : GPUT_OK;
    if (code == GPUT_OK || !rank_paths_are_many(&tracking->ranks))
        return code;
    warn_of_file(tracking, "%.600s%s", error->message, "");
    rank_paths_skip(&tracking->ranks, final_place(tracking, path));
    return GPUT_OK;
}

/* Others than ranks learn at once that a file is not what is meant. */
static int check_textfile_folder(const struct tracking *tracking, struct gput_error *error)
{
    const char *folder = tracking->options.textfile_folder;
    struct stat info;
    bool is_there = !folder || stat(folder, &info) == 0;
    if (!folder || (is_there && S_ISDIR(info.st_mode)) || rank_paths_are_many(&tracking->ranks))
        return GPUT_OK;
    return fail(error, GPUT_ERROR_INVALID,
        "--textfile needs a folder that exists, and each session writes a file of its own there: "
        "%.400s: %.200s.",
        folder, strerror(is_there ? ENOTDIR : errno));
}

/* What a config file names stays where there is no option. */
static void read_names(const struct arguments *arguments, struct tracking *tracking)
{
    for (size_t i = 0; i < FILE_OPTIONS; i++) {
        const char *name = arguments_value(arguments, file_options[i].option);
        if (name)
            *path_of(tracking, i) = name;
    }
    for (size_t i = 0; i < SINK_OPTIONS; i++) {
        const char *place = arguments_value(arguments, sink_options[i].option);
        if (place && sink_options[i].option != OPTION_LABEL)
            *sink_option_of(&tracking->options, i) = place;
    }
    if (arguments_have(arguments, OPTION_OUTPUT_FOLDER))
        tracking->options.energy_folder = arguments_value(arguments, OPTION_OUTPUT_FOLDER);
}

/* What cannot be written, or would be written over. */
static int check(struct tracking *tracking, struct gput_error *error)
{
    const char *resource_usage = tracking->options.resource_usage_file;
    /* An empty text is that of a variable which is not set. The library takes it for "nowhere". */
    if (resource_usage && !resource_usage[0])
        return fail(error, GPUT_ERROR_INVALID,
            "--resource-usage-file needs the name of a file, and was given an empty one.");
    for (size_t i = 0; i < FILE_OPTIONS; i++) {
        if (file_options[i].noun)
            TRY(output_files_keep(
                tracking->output, *path_of(tracking, i), file_options[i].noun, error));
    }
    drop_unwritable(tracking, &tracking->options.resource_usage_file, "");
    drop_unwritable(tracking, &tracking->options.tracking_file, NULL);
    return check_output(tracking, tracking->output, error);
}

/* `gpu-tracker job results` is to find them there if the tracker is killed. */
static void keep_next_to_files(struct tracking *tracking)
{
    struct gput_session_options *options = &tracking->options;
    const char *path = tracking->output ? tracking->output : options->tracking_file;
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (options->resource_usage_file || !slash || strncmp(path, "/dev/", 5) == 0 ||
        !rank_paths_take_free_names(&tracking->ranks))
        return;
    tracking->kept = strndup(path, (size_t)(slash - path) + 1);
    if (tracking->kept && access(tracking->kept, W_OK | X_OK) == 0)
        options->resource_usage_file = tracking->kept;
}

int tracking_files_name(
    const struct arguments *arguments, struct tracking *tracking, struct gput_error *error)
{
    char text[MESSAGE_LINE_SIZE];
    read_names(arguments, tracking);
    for (size_t i = 0; i < FILE_OPTIONS; i++)
        TRY(rank_paths_expand(&tracking->ranks, path_of(tracking, i), error));
    TRY(rank_paths_find_rank(&tracking->ranks, error));
    TRY(rank_paths_expand_shared(&tracking->ranks, &tracking->options.textfile_folder, error));
    TRY(check_textfile_folder(tracking, error));
    TRY(begin_spool(arguments, tracking, error));
    for (size_t i = 0; i < FILE_OPTIONS; i++)
        TRY(claim(tracking, path_of(tracking, i), error));
    for (size_t i = 0; i < FILE_OPTIONS; i++) {
        const char **path = path_of(tracking, i);
        if (*path || path == &tracking->options.resource_usage_file)
            TRY(spool_add(&tracking->spool, path, error));
    }
    snprintf(text, sizeof text, "files are written to %s first", tracking->spool.folder);
    if (tracking->spool.folder && !tracking->disable_logs && !tracking->quiet)
        held_messages_say(&tracking->messages, MESSAGE_NOTE, text);
    TRY(check(tracking, error));
    keep_next_to_files(tracking);
    return GPUT_OK;
}

const char *tracking_files_place_of_report(const struct tracking *tracking)
{
    const char *place = final_place(tracking, tracking->output);
    return place == tracking->output ? NULL : place;
}

bool tracking_files_deliver(struct tracking *tracking)
{
    return spool_deliver(&tracking->spool, message_warning, NULL);
}

const char *tracking_files_samples(const struct tracking *tracking)
{
    return tracking->html.temporary ? NULL : final_place(tracking, tracking->options.tracking_file);
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
    rank_paths_describe(&tracking->ranks, text, sizeof text);
    if (text[0] && !tracking->disable_logs && !tracking->quiet)
        held_messages_say(&tracking->messages, MESSAGE_NOTE, text);
}

static int create_session(
    const struct tracking *tracking, struct gput_session **session, struct gput_error *error)
{
    int code = gput_session_create(&tracking->options, session, error);
    if (code != GPUT_OK)
        tracking_files_explain(tracking, error->message, sizeof error->message);
    return code;
}

static bool is_taken(int code, const struct gput_session_options *options)
{
    return code == GPUT_ERROR_EXISTS && options->tracking_file &&
           access(options->tracking_file, F_OK) == 0;
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
    skip(tracking, sink_option_of(&tracking->options, i), sink_options[i].none);
    if (is_samples && tracking->html.path)
        skip(tracking, &tracking->html.path, NULL);
}

/* Without the sinks that cannot be opened. Each is tried for itself. */
static int create_with_less(
    struct tracking *tracking, struct gput_session **session, struct gput_error *error)
{
    struct gput_session_options *options = &tracking->options, wanted = *options;
    for (size_t i = 0; i < SINK_OPTIONS; i++)
        *sink_option_of(options, i) = sink_options[i].none;
    TRY(create_session(tracking, session, error));
    for (size_t i = 0; i < SINK_OPTIONS; i++) {
        struct gput_error reason;
        const char *place = *sink_option_of(&wanted, i);
        if (place == sink_options[i].none)
            continue;
        gput_session_destroy(*session);
        *sink_option_of(options, i) = place;
        if (create_session(tracking, session, &reason) == GPUT_OK)
            continue;
        drop_sink_option(tracking, i, &reason);
        TRY(create_session(tracking, session, error));
    }
    return GPUT_OK;
}

int tracking_files_create_session(
    struct tracking *tracking, struct gput_session **session, struct gput_error *error)
{
    struct gput_session_options *options = &tracking->options;
    int code = create_session(tracking, session, error);
    /* Another tracker may take the same name at the same time. */
    for (int tries = 0; tries < MAX_NAME_TRIES && is_taken(code, options); tries++) {
        char text[MESSAGE_LINE_SIZE];
        if (!rank_paths_replace(&tracking->ranks, &options->tracking_file))
            break;
        if (tracking->html.path)
            tracking->html.samples = options->tracking_file;
        code = create_session(tracking, session, error);
        snprintf(text, sizeof text, "The tracking file exists: samples are written to %.400s.",
            options->tracking_file);
        if (code == GPUT_OK && !rank_paths_are_numbered(&tracking->ranks, options->tracking_file))
            held_messages_say(&tracking->messages, MESSAGE_WARNING, text);
    }
    struct gput_error ignored;
    if (code != GPUT_OK && rank_paths_find_rank(&tracking->ranks, &ignored) == GPUT_OK &&
        rank_paths_are_many(&tracking->ranks))
        return create_with_less(tracking, session, error);
    if (code != GPUT_ERROR_EXISTS || !options->tracking_file)
        return code;
    if (error->errno_value == EEXIST)
        fail(error, code, "File %.400s already exists. --overwrite replaces it.",
            options->tracking_file);
    return code;
}
