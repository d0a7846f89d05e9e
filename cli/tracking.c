#include "tracking.h"

#include "arguments.h"
#include "message.h"
#include "numbers.h"
#include "output-files.h"
#include "report.h"
#include "screen.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Between samples, so that a view is drawn twice a second. */
#define LIVE_SECONDS 0.5

enum { MAX_NAME_TRIES = 100 };

bool tracking_read_count(const char *text, int *count)
{
    int64_t value;
    if (text[0] < '0' || text[0] > '9' || !numbers_read_whole(text, &value) || value < 1 ||
        value > INT_MAX)
        return false;
    *count = (int)value;
    return true;
}

bool tracking_read_number(const char *text, double min, double *seconds)
{
    double value;
    if (!numbers_read_decimal(text, &value) || !isfinite(value) || value < min)
        return false;
    *seconds = value;
    return true;
}

int tracking_read_units(const struct arguments *arguments, enum gput_ram_unit *ram,
    enum gput_ram_unit *gpu_ram, enum gput_time_unit *time, struct gput_error *error)
{
    const char *word = arguments_value(arguments, OPTION_RAM_UNIT);
    int code = word ? gput_ram_unit_parse(word, "RAM", ram, error) : GPUT_OK;
    if (code == GPUT_OK && (word = arguments_value(arguments, OPTION_GPU_RAM_UNIT)))
        code = gput_ram_unit_parse(word, "GPU RAM", gpu_ram, error);
    if (code == GPUT_OK && (word = arguments_value(arguments, OPTION_TIME_UNIT)))
        code = gput_time_unit_parse(word, time, error);
    return code;
}

static int read_numbers(const struct arguments *arguments, struct gput_session_options *options,
    struct gput_error *error)
{
    const char *text = arguments_value(arguments, OPTION_SLEEP_TIME);
    if (text && !tracking_read_number(text, 0.001, &options->sleep_time_seconds))
        return fail(error, GPUT_ERROR_INVALID,
            "--st=%s is not a valid sleep time. It is a number of seconds, 0.001 or more.", text);
    int cores;
    text = arguments_value(arguments, OPTION_EXPECTED_CORES);
    if (text && !tracking_read_count(text, &cores))
        return fail(error, GPUT_ERROR_INVALID,
            "--nec=%s is not a valid number of cores. It is a whole number above 0.", text);
    if (text)
        options->n_expected_cores = (unsigned)cores;
    return GPUT_OK;
}

static int read_energy(const struct arguments *arguments, struct gput_session_options *options,
    struct gput_error *error)
{
    const char *text = arguments_value(arguments, OPTION_CARBON_INTENSITY);
    if (text && !tracking_read_number(text, 0, &options->carbon_intensity)) {
        options->carbon_intensity = NAN; /* of a config file */
        options->carbon_country = text;  /* which a session checks */
    }
    text = arguments_value(arguments, OPTION_PERIOD);
    if (text && !tracking_read_number(text, 0.001, &options->sleep_time_seconds))
        return fail(error, GPUT_ERROR_INVALID,
            "--period=%s is not a valid period. It is a number of seconds, 0.001 or more.", text);
    text = arguments_value(arguments, OPTION_MEASUREMENT_PERIOD);
    if (text && !tracking_read_number(text, 0.1, &options->energy_period_seconds))
        return fail(error, GPUT_ERROR_INVALID,
            "--measurement-period=%s is not a valid period. It is a number of seconds, 0.1 or "
            "more.",
            text);
    int driver = options->energy_driver;
    int code = arguments_read_choice(arguments, OPTION_ENERGY_DRIVER, "driver", &driver, error);
    options->energy_driver = (enum gput_energy_driver)driver;
    if (code != GPUT_OK)
        return code;
    text = arguments_value(arguments, OPTION_ENERGY_UNIT);
    return text ? gput_energy_unit_parse(text, &options->energy_unit, error) : GPUT_OK;
}

static int read_ram_mode(const struct arguments *arguments, struct gput_session_options *options,
    struct gput_error *error)
{
    int choice = options->ram_mode,
        code = arguments_read_choice(arguments, OPTION_RAM, "RAM mode", &choice, error);
    options->ram_mode = (enum gput_ram_mode)choice;
    return code;
}

/* One limit of each kind: of two, it is not clear which one is meant. */
static int read_limit(const char *text, struct gput_limits *given, struct gput_error *error)
{
    struct gput_limits one = gput_limits_default();
    int code = gput_limits_parse(text, &one, error);
    for (int kind = 0; code == GPUT_OK && kind < GPUT_LIMIT_KINDS; kind++) {
        if (!(one.values[kind] > 0))
            continue;
        if (given->values[kind] > 0)
            return fail(error, GPUT_ERROR_INVALID, "The limit of %s is given twice.",
                gput_limit_kind_name((enum gput_limit_kind)kind));
        given->values[kind] = one.values[kind];
    }
    return code;
}

/* What is given here goes before what the configuration file says. */
static int read_limits(
    const struct arguments *arguments, struct gput_limits *limits, struct gput_error *error)
{
    struct gput_limits given = gput_limits_default();
    size_t position = 0;
    const char *text;
    while ((text = arguments_next(arguments, OPTION_LIMIT, &position))) {
        int code = read_limit(text, &given, error);
        if (code != GPUT_OK)
            return code;
    }
    bool has_some = false;
    for (int kind = 0; kind < GPUT_LIMIT_KINDS; kind++) {
        if (given.values[kind] > 0)
            limits->values[kind] = given.values[kind];
        has_some |= limits->values[kind] > 0;
    }
    limits->enforce |= arguments_have(arguments, OPTION_ENFORCE);
    if (limits->enforce && !has_some)
        return fail(error, GPUT_ERROR_INVALID,
            "There is no limit to enforce. Give one, for example --limit ram=8GB.");
    return GPUT_OK;
}

static void read_text(const struct arguments *arguments, enum option_id id, const char **text)
{
    const char *value = arguments_value(arguments, id);
    if (value)
        *text = value;
}

/* The library reads no environment; this front end does. An empty variable counts as none. */
static const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

/* Never waits. */
static void say(struct tracking *tracking, enum message_kind kind, const char *text)
{
    char line[MESSAGE_LINE_SIZE];
    size_t length = message_compose(kind, text, line);
    pthread_mutex_lock(&tracking->lock);
    bool has_space = tracking->held_length == 0 && !tracking->holds_lines &&
                     screen_write(STDERR_FILENO, line, length, SCREEN_NEVER_WAITS) != ECANCELED;
    if (!has_space && length <= sizeof tracking->held - tracking->held_length) {
        memcpy(tracking->held + tracking->held_length, line, length);
        tracking->held_length += length;
    } else if (!has_space) {
        tracking->not_held++;
    }
    pthread_mutex_unlock(&tracking->lock);
}

void tracking_say_held(struct tracking *tracking, int stop_fd)
{
    char line[MESSAGE_LINE_SIZE], text[96];
    pthread_mutex_lock(&tracking->lock);
    screen_write(STDERR_FILENO, tracking->held, tracking->held_length, stop_fd);
    tracking->held_length = 0;
    if (tracking->not_held > 0) {
        snprintf(text, sizeof text, "%u more warnings did not fit on standard error.",
            tracking->not_held);
        screen_write(STDERR_FILENO, line, message_compose(MESSAGE_WARNING, text, line), stop_fd);
    }
    tracking->not_held = 0;
    pthread_mutex_unlock(&tracking->lock);
}

/* Of the sampling thread too. */
static void warn(void *user, const char *text)
{
    struct tracking *tracking = user;
    if (!tracking->leaves_warnings_to_report)
        say(tracking, MESSAGE_WARNING, text);
}

/* What is done when every value was read: where warnings go, and where files are. */
static void set_session_options(const struct arguments *arguments, struct tracking *tracking)
{
    struct gput_session_options *options = &tracking->options;
    read_text(arguments, OPTION_GPU_UUIDS, &options->gpu_uuids);
    read_text(arguments, OPTION_GPU_BRAND, &options->gpu_brand);
    read_text(arguments, OPTION_TRACKING_FILE, &options->tracking_file);
    read_text(arguments, OPTION_RESOURCE_USAGE_FILE, &options->resource_usage_file);
    options->processes |= arguments_have(arguments, OPTION_PROCESSES);
    options->command_lines |= arguments_have(arguments, OPTION_COMMAND_LINES);
    options->processes |= options->command_lines;
    read_text(arguments, OPTION_ENERGY_FOLDER, &options->energy_folder);
    read_text(arguments, OPTION_OUTPUT_FOLDER, &options->energy_folder);
    read_text(arguments, OPTION_LISTEN, &options->listen);
    options->energy_continue = arguments_have(arguments, OPTION_CONT);
    options->overwrite |= arguments_have(arguments, OPTION_OVERWRITE);
    tracking->disable_logs |= arguments_have(arguments, OPTION_DISABLE_LOGS);
    options->warn = tracking->disable_logs ? NULL : warn;
    options->user = tracking;
    tracking->live_marks = from_environment("GPUT_BLOCKS_FILE");
    read_text(arguments, OPTION_LIVE_MARKS, &tracking->live_marks);
    options->procfs_root = from_environment("GPUT_PROCFS");
    options->sysfs_root = from_environment("GPUT_SYSFS");
    options->nvml_path = from_environment("GPUT_NVML");
}

static int read_report(const struct arguments *arguments, bool is_older_form,
    struct tracking *tracking, struct gput_error *error)
{
    tracking->output = arguments_value(arguments, OPTION_OUTPUT);
    tracking->quiet = arguments_have(arguments, OPTION_QUIET);
    tracking->shows_progress = arguments_have(arguments, OPTION_PROGRESS);
    tracking->shows_live = arguments_have(arguments, OPTION_LIVE);
    tracking->also_summarizes = arguments_have(arguments, OPTION_SUMMARY);
    enum gput_format usual = is_older_form ? GPUT_TEXT : report_usual_format(tracking->output);
    int code =
        report_read_format(arguments, OPTION_TRACKING_FORMAT, usual, &tracking->format, error);
    tracking->options.whole_machine = is_older_form || tracking->format == GPUT_TEXT;
    /* The screen also gets what the command prints, whatever it really is. */
    if (code == GPUT_OK && tracking->format == GPUT_PICKLE && !tracking->output)
        code = report_refuse_pickle(error);
    return code;
}

/* ---- names of files ---- */

static void warn_of_file(
    struct tracking *tracking, const char *format, const char *a, const char *b)
{
    char text[MESSAGE_LINE_SIZE];
    snprintf(text, sizeof text, format, a, b);
    if (!tracking->disable_logs)
        say(tracking, MESSAGE_WARNING, text);
}

/* A name that others may take, too, becomes ours. The tracking file is made at once where it is
 * not spooled. */
static int claim(struct tracking *tracking, const char **path, struct gput_error *error)
{
    const struct gput_session_options *options = &tracking->options;
    bool is_samples = path == &options->tracking_file,
         are_many = rank_paths_are_many(&tracking->ranks);
    bool is_spooled = tracking->spool.folder != NULL;
    if (!*path || !(*path)[0] || options->overwrite || (is_samples ? !is_spooled : !are_many) ||
        path == &options->resource_usage_file)
        return GPUT_OK;
    const char *wanted = strdup(*path);
    int failure = rank_paths_claim(&tracking->ranks, path, path == &options->energy_folder);
    int code = GPUT_OK;
    if (failure == EEXIST && is_samples && !are_many)
        code = fail(error, GPUT_ERROR_EXISTS,
            "File %.400s already exists. --overwrite replaces it.", *path);
    else if (failure && (failure != ENOENT || path != &options->energy_folder))
        warn_of_file(
            tracking, "%.400s: %.200s. It is tried again at the end.", *path, strerror(failure));
    else if (wanted && strcmp(wanted, *path) != 0)
        warn_of_file(tracking, "%.400s exists: %.400s is written.", wanted, *path);
    free((char *)wanted);
    return code;
}

static int begin_spool(
    const struct arguments *arguments, struct tracking *tracking, struct gput_error *error)
{
    const char *root = arguments_value(arguments, OPTION_SPOOL);
    int code = root ? spool_begin(&tracking->spool, root, error) : GPUT_OK;
    if (code == GPUT_OK || !rank_paths_are_many(&tracking->ranks))
        return code;
    warn_of_file(tracking, "%.400s Files are written to their places%s.", error->message, "");
    return GPUT_OK;
}

/* Each file gets the name that it has in this process. */
static int name_files(
    const struct arguments *arguments, struct tracking *tracking, struct gput_error *error)
{
    struct gput_session_options *options = &tracking->options;
    const char **const paths[] = {&options->tracking_file, &tracking->output, &tracking->html_path,
        &options->energy_folder, &options->resource_usage_file};
    const size_t count = sizeof paths / sizeof *paths;
    char text[MESSAGE_LINE_SIZE];
    int code = GPUT_OK;
    tracking->html_path = arguments_value(arguments, OPTION_HTML_REPORT);
    for (size_t i = 0; code == GPUT_OK && i < count; i++)
        code = rank_paths_expand(&tracking->ranks, paths[i], error);
    if (code == GPUT_OK)
        code = begin_spool(arguments, tracking, error);
    for (size_t i = 0; code == GPUT_OK && i < count; i++)
        code = claim(tracking, paths[i], error);
    rank_paths_describe(&tracking->ranks, text, sizeof text);
    if (code == GPUT_OK && text[0] && !tracking->disable_logs)
        say(tracking, MESSAGE_NOTE, text);
    for (size_t i = 0; code == GPUT_OK && i < count; i++) {
        if (*paths[i] || paths[i] == &options->resource_usage_file)
            code = spool_add(&tracking->spool, paths[i], error);
    }
    snprintf(text, sizeof text, "files are written to %s first", tracking->spool.folder);
    if (code == GPUT_OK && tracking->spool.folder && !tracking->disable_logs)
        say(tracking, MESSAGE_NOTE, text);
    return code;
}

/* One of many ranks runs its command all the same. */
static int check_output(struct tracking *tracking, const char *path, struct gput_error *error)
{
    int code = path ? report_check_output(path, error) : GPUT_OK;
    if (code == GPUT_OK || !rank_paths_are_many(&tracking->ranks))
        return code;
    warn_of_file(tracking, "%.600s%s", error->message, "");
    return GPUT_OK;
}

bool tracking_deliver(struct tracking *tracking)
{
    return spool_deliver(&tracking->spool, message_warning, NULL);
}

/* ---- everything ---- */

/* Where the samples are in the end; NULL: nowhere. */
static const char *samples_place(const struct tracking *tracking)
{
    const char *path = tracking->options.tracking_file;
    for (size_t i = 0; i < tracking->spool.count; i++) {
        if (path == tracking->spool.local[i])
            return tracking->spool.place[i];
    }
    return tracking->html.temporary ? NULL : path;
}

static int read_everything(const struct arguments *arguments, bool is_older_form,
    struct tracking *tracking, struct gput_error *error)
{
    struct gput_session_options *options = &tracking->options;
    if (arguments_have(arguments, OPTION_OUTPUT_FOLDER))
        options->sleep_time_seconds = 0.1; /* the default of --period */
    int code = read_report(arguments, is_older_form, tracking, error);
    if (code == GPUT_OK)
        code = tracking_read_units(
            arguments, &options->ram_unit, &options->gpu_ram_unit, &options->time_unit, error);
    if (code == GPUT_OK)
        code = read_numbers(arguments, options, error);
    if (code == GPUT_OK)
        code = read_ram_mode(arguments, options, error);
    if (code == GPUT_OK)
        code = read_energy(arguments, options, error);
    if (code == GPUT_OK)
        code = read_limits(arguments, &tracking->limits, error);
    set_session_options(arguments, tracking);
    if (tracking->shows_live && !arguments_have(arguments, OPTION_SLEEP_TIME) &&
        !arguments_have(arguments, OPTION_TRACKING_CONFIG))
        options->sleep_time_seconds = LIVE_SECONDS;
    if (code == GPUT_OK)
        code = name_files(arguments, tracking, error);
    /* An empty text is that of a variable which is not set. The library takes it for "nowhere". */
    if (code == GPUT_OK && options->resource_usage_file && !options->resource_usage_file[0])
        code = fail(error, GPUT_ERROR_INVALID,
            "--resource-usage-file needs the name of a file, and was given an empty one.");
    if (code == GPUT_OK) /* which a config file may name */
        code =
            output_files_keep(tracking->output, options->tracking_file, "the tracking file", error);
    if (code == GPUT_OK)
        code = output_files_keep(
            tracking->output, options->resource_usage_file, "the resource usage file", error);
    if (code == GPUT_OK)
        code = output_files_keep(tracking->output, options->energy_folder, "the recording", error);
    if (code == GPUT_OK)
        code = check_output(tracking, tracking->output, error);
    tracking->lists_processes = options->processes;
    if (code == GPUT_OK)
        code = html_report_begin(&tracking->html, tracking->html_path, options, error);
    return code == GPUT_OK ? region_recording_begin(&tracking->regions, arguments, &tracking->ranks,
                                 samples_place(tracking), options, error)
                           : code;
}

int tracking_read(const struct arguments *arguments, bool is_older_form, struct tracking *tracking,
    struct gput_error *error)
{
    *tracking = (struct tracking){
        .options = gput_session_options_default(), .limits = gput_limits_default()};
    pthread_mutex_init(&tracking->lock, NULL);
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

static bool is_taken(int code, const struct gput_session_options *options)
{
    return code == GPUT_ERROR_EXISTS && options->tracking_file &&
           access(options->tracking_file, F_OK) == 0;
}

/* Without the files that a session writes while it tracks. */
static int create_without_files(
    struct tracking *tracking, struct gput_session **session, struct gput_error *error)
{
    struct gput_error without_files;
    struct gput_session_options options = tracking->options;
    options.tracking_file = options.energy_folder = NULL;
    options.resource_usage_file = "";
    if (gput_session_create(&options, session, &without_files) != GPUT_OK)
        return error->code;
    warn_of_file(tracking, "%.600s (the command runs without %s).", error->message, "its files");
    tracking->options = options;
    tracking->html.path = NULL;
    return GPUT_OK;
}

int tracking_create_session(
    struct tracking *tracking, struct gput_session **session, struct gput_error *error)
{
    struct gput_session_options *options = &tracking->options;
    int code = gput_session_create(options, session, error);
    /* Another tracker may take the same name at the same time. */
    for (int tries = 0; tries < MAX_NAME_TRIES && is_taken(code, options); tries++) {
        char text[MESSAGE_LINE_SIZE];
        if (!rank_paths_replace(&tracking->ranks, &options->tracking_file))
            break;
        if (tracking->html.path)
            tracking->html.samples = options->tracking_file;
        code = gput_session_create(options, session, error);
        snprintf(text, sizeof text, "The tracking file exists: samples are written to %.400s.",
            options->tracking_file);
        if (code == GPUT_OK)
            say(tracking, MESSAGE_WARNING, text);
    }
    if (code != GPUT_OK && rank_paths_are_many(&tracking->ranks))
        return create_without_files(tracking, session, error);
    if (code != GPUT_ERROR_EXISTS || !options->tracking_file)
        return code;
    if (error->errno_value == EEXIST)
        fail(error, code, "File %.400s already exists. --overwrite replaces it.",
            options->tracking_file);
    return code;
}

void tracking_warn_of_process(struct tracking *tracking)
{
    if (tracking->process_id && !tracking->disable_logs)
        say(tracking, MESSAGE_WARNING,
            "The process_id of the config file is not used: the command is tracked. "
            "gpu-tracker attach tracks a process.");
}

void tracking_say_address(struct tracking *tracking, const struct gput_session *session)
{
    char line[160];
    const char *address = gput_session_address(session);
    snprintf(line, sizeof line, "serving http://%s/metrics", address ? address : "");
    if (address)
        say(tracking, MESSAGE_NOTE, line);
}

void tracking_finish(struct tracking *tracking)
{
    tracking_say_held(tracking, SCREEN_NEVER_WAITS);
    html_report_finish(&tracking->html);
    region_recording_finish(&tracking->regions);
    spool_finish(&tracking->spool);
    rank_paths_finish(&tracking->ranks);
    pthread_mutex_destroy(&tracking->lock);
    gput_config_destroy(tracking->config);
}
