#include "track/tracking.h"

#include "base/cleanup.h"
#include "base/command_name.h"
#include "base/error.h"
#include "base/number.h"
#include "base/str.h"
#include "common/environment.h"
#include "common/message.h"
#include "common/screen.h"
#include "options/arguments.h"
#include "output/pickles.h"
#include "track/log_to.h"
#include "track/report.h"
#include "track/tracking_files.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gputracker/history.h>

/* Finds out whether sessions are kept: --no-history, then GPUT_HISTORY, --history or the config
 * file, then what `gpu-tracker history on` set. Freed by kept_history_finish(). Errors:
 * GPUT_ERROR_MEMORY. */
static int kept_history_begin(
    struct kept_history *history, const struct arguments *arguments, struct gput_error *error);

static void kept_history_finish(struct kept_history *history);

/* Between samples, so that a view is drawn twice a second. */
#define LIVE_SECONDS 0.5

/* A whole number from 1 to INT_MAX; false when the text is not one. */
static bool read_count(const char *text, int *count)
{
    int64_t value;
    if (text[0] < '0' || text[0] > '9' || !number_read_int64(text, &value) || value < 1 ||
        value > INT_MAX)
        return false;
    *count = (int)value;
    return true;
}

int tracking_read_pid(const struct arguments *arguments, pid_t *pid, struct gput_error *error)
{
    if (arguments->n_operands == 0 || read_count(arguments->operands[0], pid))
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_INVALID,
        "\"%s\" is not a process ID. It is a whole number, as ps or pgrep show it. %s",
        arguments->operands[0], arguments->command->instead);
}

bool tracking_read_number(const char *text, double min, double *seconds)
{
    double value;
    if (!number_read_double(text, &value) || !isfinite(value) || value < min)
        return false;
    *seconds = value;
    return true;
}

int tracking_set(const struct arguments *arguments, struct gput_session_options *options,
    struct gput_error *error)
{
    for (size_t i = 0; i < arguments->n_uses; i++) {
        const struct option_use *use = &arguments->uses[i];
        const struct option *row = option(use->id);
        const char *text = row->kind == ARGUMENT_NONE ? "true" : use->value;
        int code =
            row->setting ? gput_session_option_set(options, row->setting, text, error) : GPUT_OK;
        if (code == GPUT_OK)
            continue;
        const struct gput_session_option *what = gput_session_option_find(row->setting);
        if (what->kind == GPUT_SESSION_OPTION_KIND_WORD)
            return code;
        char name[64];
        option_name(row, name);
        if (use->typed)
            snprintf(name, sizeof name, "%.*s", (int)strcspn(use->typed, "="), use->typed);
        return error_set(error, code, "%s=%s is not a valid %s. It is %s.", name, text, what->noun,
            what->wanted);
    }
    return GPUT_OK;
}

int tracking_read_labels(const struct arguments *arguments, char **labels, struct gput_error *error)
{
    const char *text;
    size_t position = 0;
    while ((text = arguments_next(arguments, OPTION_LABEL, &position))) {
        char *joined;
        if (asprintf(&joined, "%s%s%s", *labels ? *labels : "", *labels ? "," : "", text) < 0)
            return error_memory(error);
        free(*labels);
        *labels = joined;
    }
    return GPUT_OK;
}

/* Bytes; below that a unit was forgotten. */
#define MIN_RAM_LIMIT 4096

/* What is given here goes before what the configuration file says. */
static int read_limits(
    const struct arguments *arguments, struct gput_limits *limits, struct gput_error *error)
{
    struct gput_limits given = gput_limits_default();
    size_t position = 0;
    const char *text;
    while ((text = arguments_next(arguments, OPTION_LIMIT, &position))) {
        /* Allow one limit of each kind: of two, it is unclear which one is meant. */
        struct gput_limits one = gput_limits_default();
        int code = gput_limits_parse(text, &one, error);
        for (int kind = 0; code == GPUT_OK && kind < GPUT_LIMIT_KIND_COUNT; kind++) {
            if (!(one.values[kind] > 0))
                continue;
            bool is_ram = kind == GPUT_LIMIT_RAM || kind == GPUT_LIMIT_GPU_RAM;
            if (is_ram && one.values[kind] < MIN_RAM_LIMIT)
                return error_set(error, GPUT_ERROR_INVALID,
                    "The limit %.64s is of %g bytes, less than any program needs. With a unit: "
                    "%.64sGB",
                    text, one.values[kind], text);
            if (given.values[kind] > 0)
                return error_set(error, GPUT_ERROR_INVALID, "The limit of %s is given twice.",
                    gput_limit_kind_name((enum gput_limit_kind)kind));
            given.values[kind] = one.values[kind];
        }
        TRY(code);
    }
    bool has_some = false;
    for (int kind = 0; kind < GPUT_LIMIT_KIND_COUNT; kind++) {
        if (given.values[kind] > 0)
            limits->values[kind] = given.values[kind];
        has_some |= limits->values[kind] > 0;
    }
    limits->enforce |= arguments_have(arguments, OPTION_ENFORCE);
    if (limits->enforce && !has_some)
        return error_set(error, GPUT_ERROR_INVALID,
            "There is no limit to enforce. Give one, for example --limit ram=8GB.");
    return GPUT_OK;
}

/* Of the sampling thread too. */
static void warn(void *user, const char *text)
{
    struct tracking *tracking = user;
    char line[MESSAGE_LINE_SIZE];
    if (tracking->leaves_warnings_to_report)
        return;
    snprintf(line, sizeof line, "%s", text);
    if (strstr(text, strerror(ENOSPC)) || strstr(text, strerror(EDQUOT)))
        tracking_files_explain(tracking, line, sizeof line);
    held_messages_say(&tracking->messages, MESSAGE_WARNING, line);
}

void tracking_name_marks(struct tracking *tracking)
{
    const char *pattern = environment_path("GPUT_BLOCKS_FILE");
    struct gput_error ignored;
    char *path = NULL, *free_path = NULL, text[MESSAGE_LINE_SIZE];
    bool is_shown = tracking->live_marks == pattern;
    if (!pattern || strstr(pattern, "%p") ||
        outputs_find_rank(&tracking->outputs, &ignored) != GPUT_OK ||
        gput_rank_path(tracking->outputs.own, pattern, &path, &ignored) != GPUT_OK)
        return;
    if (!environment_path("GPUT_BLOCKS_OVERWRITE") && access(path, F_OK) == 0 &&
        gput_rank_free_path(path, &free_path, &ignored) == GPUT_OK) {
        snprintf(text, sizeof text,
            "%.400s exists: marks of code blocks are written to %.400s. GPUT_BLOCKS_OVERWRITE=1 "
            "replaces it.",
            path, free_path);
        held_messages_say(&tracking->messages, MESSAGE_WARNING, text);
        free(path);
        path = free_path;
    }
    tracking->marks = path;
    if (is_shown)
        tracking->live_marks = path;
}

/* Of many ranks one runs its command without what this machine, or this build, cannot do. True: it
 * does without that file. */
static bool drop(struct tracking *tracking, int code, const char *what, enum output_id id,
    const struct gput_error *error)
{
    static const enum gput_code of_machine[] = {GPUT_ERROR_NOT_FOUND, GPUT_ERROR_EXISTS,
        GPUT_ERROR_PERMISSION, GPUT_ERROR_IO, GPUT_ERROR_FILES, GPUT_ERROR_UNSUPPORTED};
    bool is_of_machine = false;
    for (size_t i = 0; i < sizeof of_machine / sizeof *of_machine; i++)
        is_of_machine |= code == (int)of_machine[i];
    if (!is_of_machine || !outputs_are_many(&tracking->outputs))
        return false;
    tracking_files_warn_without(tracking, error, what);
    outputs_skip(&tracking->outputs, id);
    return true;
}

/* What is made of the session next to its tracking file. */
static int begin_recordings(
    const struct arguments *arguments, struct tracking *tracking, struct gput_error *error)
{
    struct gput_session_options *options = &tracking->options;
    bool are_many = outputs_are_many(&tracking->outputs);
    int code = tracking->format == GPUT_FORMAT_PICKLE ? pickles_check(error) : GPUT_OK;
    if (are_many && code == GPUT_ERROR_FORMAT)
        code = GPUT_ERROR_UNSUPPORTED; /* this machine's Python lacks the package */
    if (!drop(tracking, code, "-o", OUTPUT_REPORT, error))
        TRY(code);
    code = html_report_begin(&tracking->html, tracking->html_path, are_many, options, error);
    if (drop(tracking, code, "--report", OUTPUT_HTML, error))
        html_report_finish(&tracking->html);
    else
        TRY(code);
    code = log_to_begin(tracking->log_to, &tracking->html, options, error);
    if (code != GPUT_OK && are_many && code != GPUT_ERROR_MEMORY) {
        tracking_files_warn_without(tracking, error, "--log-to");
        tracking->log_to = NULL;
    } else {
        TRY(code);
    }
    code = region_recording_begin(&tracking->regions, arguments, &tracking->outputs,
        tracking_files_samples(tracking), options, error);
    if (drop(tracking, code, "regions", OUTPUT_REGIONS, error))
        region_recording_finish(&tracking->regions);
    else
        TRY(code);
    code = torch_trace_begin(&tracking->torch, arguments, &tracking->outputs,
        tracking_files_samples(tracking), options, error);
    if (!drop(tracking, code, "traces of PyTorch", OUTPUT_TRACES, error))
        return code;
    torch_trace_finish(&tracking->torch);
    return GPUT_OK;
}

/* Makes the options of the session out of command line, config file and environment. */
static int read_everything(const struct arguments *arguments, bool is_older_form,
    struct tracking *tracking, struct gput_error *error)
{
    struct gput_session_options *options = &tracking->options;
    if (arguments_have(arguments, OPTION_OUTPUT_FOLDER))
        options->sleep_time_seconds = 0.1; /* the default of --period */
    tracking->is_older_form = is_older_form;
    tracking->units = report_units_asked_for(arguments);
    tracking->output = arguments_value(arguments, OPTION_OUTPUT);
    tracking->log_to = arguments_value(arguments, OPTION_LOG_TO);
    tracking->quiet = arguments_have(arguments, OPTION_QUIET);
    tracking->shows_progress = arguments_have(arguments, OPTION_PROGRESS);
    tracking->shows_live = arguments_have(arguments, OPTION_LIVE);
    tracking->also_summarizes = arguments_have(arguments, OPTION_SUMMARY);
    /* The older form takes no notice of the file's name. */
    if (is_older_form && !arguments_have(arguments, OPTION_TRACKING_FORMAT))
        tracking->format = GPUT_FORMAT_TEXT;
    else
        TRY(report_read_format(arguments, OPTION_TRACKING_FORMAT, tracking->output,
            report_usual_format(tracking->output), &tracking->format, error));
    tracking->options.whole_machine = is_older_form || tracking->format == GPUT_FORMAT_TEXT;
    /* The screen also gets what the command prints, whatever it really is. */
    if (tracking->format == GPUT_FORMAT_PICKLE && !tracking->output)
        return report_refuse_pickle(error);
    TRY(tracking_set(arguments, options, error));
    /* Labels on the command line replace those of a config file. */
    TRY(tracking_read_labels(arguments, &tracking->labels, error));
    if (tracking->labels)
        tracking->options.labels = tracking->labels;
    TRY(read_limits(arguments, &tracking->limits, error));
    TRY(kept_history_begin(&tracking->history, arguments, error));
    /* Set the options of the session that no option of the command names. */
    options->keep_resource_usage_file = true;
    options->raise_nofile_limit = true;
    options->processes |= options->command_lines;
    tracking->disable_logs |= arguments_have(arguments, OPTION_DISABLE_LOGS);
    options->warn = tracking->disable_logs ? NULL : warn;
    options->user = tracking;
    options->do_without = tracking_files_do_without;
    tracking->live_marks = environment_path("GPUT_BLOCKS_FILE");
    if (arguments_have(arguments, OPTION_LIVE_MARKS))
        tracking->live_marks = arguments_value(arguments, OPTION_LIVE_MARKS);
    options->procfs_root = environment_path("GPUT_PROCFS");
    options->sysfs_root = environment_path("GPUT_SYSFS");
    options->nvml_path = environment_path("GPUT_NVML");
    if (tracking->shows_live && !arguments_have(arguments, OPTION_SLEEP_TIME) &&
        !arguments_have(arguments, OPTION_TRACKING_CONFIG))
        options->sleep_time_seconds = LIVE_SECONDS;
    TRY(tracking_files_name(arguments, tracking, error));
    tracking->lists_processes = options->processes;
    return begin_recordings(arguments, tracking, error);
}

int tracking_read(const struct arguments *arguments, bool is_older_form, struct tracking *tracking,
    struct gput_error *error)
{
    *tracking = (struct tracking){.options = gput_session_options_default(),
        .limits = gput_limits_default(),
        .torch = {.socket = -1, .events = -1, .sockets = {.alive_fd = -1}}};
    outputs_init(&tracking->outputs);
    held_messages_init(&tracking->messages);
    const char *path = arguments_value(arguments, OPTION_TRACKING_CONFIG);
    int code = path ? gput_config_load(path, &tracking->config, error) : GPUT_OK;
    if (tracking->config) {
        gput_config_options(tracking->config, &tracking->options);
        gput_config_limits(tracking->config, &tracking->limits);
        tracking->disable_logs = gput_config_disables_logs(tracking->config);
        tracking->process_id = gput_config_process_id(tracking->config);
    }
    tracking->options.limits = &tracking->limits;
    if (code == GPUT_OK)
        code = read_everything(arguments, is_older_form, tracking, error);
    if (code != GPUT_OK)
        tracking_finish(tracking);
    return code;
}

void tracking_warn_of_process(struct tracking *tracking)
{
    if (tracking->process_id && !tracking->disable_logs)
        held_messages_say(&tracking->messages, MESSAGE_WARNING,
            "The process_id of the config file is not used: the command is tracked. "
            "gpu-tracker attach tracks a process.");
}

void tracking_say_address(struct tracking *tracking, const struct gput_session *session)
{
    char line[160];
    const char *address = gput_session_address(session);
    snprintf(line, sizeof line, "serving http://%s/metrics", address ? address : "");
    if (address)
        held_messages_say(&tracking->messages, MESSAGE_NOTE, line);
}

void tracking_finish(struct tracking *tracking)
{
    held_messages_print(&tracking->messages, SCREEN_NEVER_WAITS);
    python_package_stop(&tracking->logger);
    html_report_finish(&tracking->html);
    region_recording_finish(&tracking->regions);
    torch_trace_finish(&tracking->torch);
    kept_history_finish(&tracking->history);
    outputs_finish(&tracking->outputs);
    held_messages_finish(&tracking->messages);
    gput_config_destroy(tracking->config);
    free(tracking->labels);
    free(tracking->kept);
    free(tracking->marks);
}

static int kept_history_begin(
    struct kept_history *history, const struct arguments *arguments, struct gput_error *error)
{
    char folder[PATH_MAX];
    struct gput_error ignored;
    size_t position = 0, count = 0;
    const char *named = secure_getenv("GPUT_HISTORY");
    if (arguments_have(arguments, OPTION_NO_HISTORY))
        return GPUT_OK;
    history->is_wanted =
        (named && named[0]) || arguments_have(arguments, OPTION_HISTORY) ||
        (history_place_find(folder, &ignored) == GPUT_OK && gput_history_is_on(folder));
    history->size_of = calloc(arguments->n_uses + 1, sizeof *history->size_of);
    if (!history->size_of)
        return error_memory(error);
    const char *path;
    while ((path = arguments_next(arguments, OPTION_SIZE_OF, &position)))
        history->size_of[count++] = (char *)path;
    return GPUT_OK;
}

static void kept_history_finish(struct kept_history *history)
{
    free(history->size_of);
    *history = (struct kept_history){0};
}

/* Adds the session to the history, with its command and its files. */
static int add(const struct tracking *tracking, const struct gput_results *results,
    const char *const *command, struct gput_error *error)
{
    struct gput_history_entry entry = gput_history_entry_default();
    CLEANUP_STR struct str name = {0}, arguments = {0};
    const char *words[COMMAND_NAME_WORDS], *files[4] = {NULL};
    char folder[PATH_MAX];
    size_t count = 0;
    bool is_asked = tracking->options.command_lines;
    if (command) {
        command_name_of(command, words);
        /* Join words with blanks. */
        for (size_t i = 0; words[i]; i++)
            str_printf(&name, "%s%s", i ? " " : "", words[i]);
        /* Join the words of a command line as a shell reads them. */
        for (size_t i = 0; command[i]; i++) {
            if (i)
                str_append_char(&arguments, ' ');
            str_append_shell_word(&arguments, command[i]);
        }
    } else {
        str_append(is_asked ? &arguments : &name, gput_results_text(results, "identity.command"));
    }
    if (name.failed || arguments.failed)
        return error_memory(error);
    if (tracking->options.tracking_file && !tracking->html.temporary)
        files[count++] = tracking->options.tracking_file;
    if (report_is_file(tracking->output))
        files[count++] = tracking->output;
    if (tracking->html_path)
        files[count++] = tracking->html_path;
    entry.name = str_text(&name);
    entry.arguments = is_asked ? str_text(&arguments) : NULL;
    entry.size_of = (const char *const *)tracking->history.size_of;
    entry.files = files;
    TRY(history_place_find(folder, error));
    return gput_history_add(folder, results, &entry, error);
}

void kept_history_add(const struct tracking *tracking, const struct gput_results *results,
    const char *const *command, int stop_fd)
{
    struct gput_error error;
    char line[MESSAGE_LINE_SIZE];
    if (!tracking->history.is_wanted)
        return;
    if (environment_is_untrusted())
        environment_drop_rights();
    if (add(tracking, results, command, &error) == GPUT_OK || tracking->disable_logs)
        return;
    snprintf(line, sizeof line, "This session is not in the history: %.800s", error.message);
    message_warning_until(line, stop_fd);
}
