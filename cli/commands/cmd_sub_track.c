/* gpu-tracker sub-track compare: the analyses of several sessions side by side. */
#include "base/error.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "output/pickles.h"
#include "track/report.h"

#include <gputracker/analysis.h>
#include <gputracker/comparison.h>
#include <gputracker/sub_tracking.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* gpu-tracker sub-track analyze: statistics of a session and its code blocks. */
static int read_by(const struct arguments *arguments, struct gput_analysis_options *options,
    struct gput_error *error)
{
    static const struct {
        enum gput_split split;
        enum gput_grouping grouping;
    } choices[] = {{GPUT_SPLIT_PROCESS, 0}, {GPUT_SPLIT_THREAD, 0}, {0, GPUT_GROUP_SOURCE},
        {0, GPUT_GROUP_DOMAIN}, {0, GPUT_GROUP_CATEGORY}, {GPUT_SPLIT_RANK, 0}};
    int choice = -1, code = arguments_read_choice(arguments, OPTION_BY, "part", &choice, error);
    if (code == GPUT_OK && choice >= 0) {
        options->split = choices[choice].split;
        options->grouping = choices[choice].grouping;
    }
    return code;
}

/* Analyzes the session and its code blocks, and writes the analysis. */
static int analyze(const struct arguments *arguments, struct gput_error *error)
{
    int shown = 0;
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    enum gput_format format;
    struct gput_analysis_options options = gput_analysis_options_default();
    options.tracking_file = arguments_value(arguments, OPTION_ANALYZED_FILE);
    options.sub_tracking_file = arguments_value(arguments, OPTION_SUB_TRACKING_FILE);
    options.details = arguments_have(arguments, OPTION_DETAILS);
    options.open_calls = arguments_have(arguments, OPTION_OPEN_CALLS);
    options.warn = analysis_warn;
    options.progress = analysis_show_progress;
    options.user = &shown;
    int code = read_by(arguments, &options, error);
    if (code == GPUT_OK)
        code = arguments_read_cores(arguments, &options.cores, error);
    if (code == GPUT_OK)
        code = report_read_format(arguments, OPTION_ANALYSIS_FORMAT, output,
            analysis_usual_format(arguments), &format, error);
    if (code == GPUT_OK)
        code = report_check_output(output, error);
    if (code != GPUT_OK)
        return code;

    struct gput_analysis *analysis;
    code = gput_analysis_create(&options, &analysis, error);
    analysis_end_progress(&shown);
    if (code != GPUT_OK)
        return code;
    char *bytes = NULL;
    size_t length;
    struct gput_summary_options layout = analysis_summary_options(arguments);
    code = format == GPUT_FORMAT_SUMMARY
               ? gput_analysis_summarize(analysis, &layout, &bytes, &length, error)
               : gput_analysis_render(
                     analysis, analysis_rendered_format(format), &bytes, &length, error);
    if (code == GPUT_OK)
        code = analysis_write(arguments, "analysis", format, bytes, length, error);
    free(bytes);
    gput_analysis_destroy(analysis);
    return code;
}

int cmd_sub_track_analyze(const struct arguments *arguments)
{
    struct gput_error error;
    if (!arguments_have(arguments, OPTION_ANALYZED_FILE)) {
        error_set(&error, GPUT_ERROR_INVALID,
            "A tracking file is needed. Usage: gpu-tracker sub-track analyze --tf=<tracking-file> "
            "--stf=<sub-track-file>");
        message_error(&error);
        return EXIT_USAGE;
    }
    return message_exit_status(analyze(arguments, &error), &error, EXIT_FAILURE);
}

/* gpu-tracker sub-track combine: several sub-tracking files into one. */
static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A single path is a directory; but with --mix, where one file is enough, it may be a file. */
static int combine(const struct arguments *arguments, const char *output, const char *const *paths,
    size_t n_paths, struct gput_error *error)
{
    int shown = 0;
    struct gput_sub_tracking_options options = gput_sub_tracking_options_default();
    options.mix = arguments_have(arguments, OPTION_MIX);
    options.progress = analysis_show_progress;
    options.warn = analysis_warn;
    options.user = &shown;
    TRY(arguments_read_cores(arguments, &options.cores, error));
    int code = n_paths > 1 || (options.mix && !is_directory(paths[0]))
                   ? gput_sub_tracking_combine(output, paths, n_paths, &options, error)
                   : gput_sub_tracking_combine_directory(output, paths[0], &options, error);
    analysis_end_progress(&shown);
    return code;
}

int cmd_sub_track_combine(const struct arguments *arguments)
{
    const char *output = arguments_value(arguments, OPTION_COMBINED_FILE);
    if (!output || (!arguments_have(arguments, OPTION_PART) && arguments->n_operands == 0)) {
        struct gput_error error;
        error_set(&error, GPUT_ERROR_INVALID,
            "A file to make and paths to combine are needed. Usage: gpu-tracker sub-track combine "
            "--stf=<sub-track-file> -p <file-path>...");
        message_error(&error);
        return EXIT_USAGE;
    }
    struct gput_error error;
    size_t max_paths = arguments->n_uses + (size_t)arguments->n_operands;
    const char **paths = calloc(max_paths, sizeof *paths);
    int code = GPUT_OK;
    if (!paths) {
        code = error_memory(&error);
    } else {
        size_t n_paths = 0;
        size_t position = 0;
        for (const char *path; (path = arguments_next(arguments, OPTION_PART, &position));)
            paths[n_paths++] = path;
        /* What a shell made of `-p worker-*.csv`: the first file is the option's, these follow. */
        for (int i = 0; i < arguments->n_operands; i++)
            paths[n_paths++] = arguments->operands[i];
        code = combine(arguments, output, paths, n_paths, &error);
    }
    free(paths);
    return message_exit_status(code, &error, EXIT_FAILURE);
}

/* The files to compare: the config's, and over them those of -m. */
struct session_list {
    struct gput_comparison_session *items;
    size_t count;
    struct pickle_copy *copies; /* of each item */
    char **names;               /* of -m, copied out of "name=path" */
    size_t n_names;
};

/* Frees the list, and removes the copies of pickles. */
static void session_list_finish(struct session_list *list)
{
    for (size_t i = 0; i < list->n_names; i++)
        free(list->names[i]);
    for (size_t i = 0; list->copies && i < list->count; i++)
        pickle_copy_finish(&list->copies[i]);
    free(list->copies);
    free(list->names);
    free(list->items);
}

/* Whether -m gives that name a file. */
static bool is_mapped(const struct session_list *list, const char *name)
{
    for (size_t i = 0; i < list->n_names; i++) {
        if (strcmp(list->names[i], name) == 0)
            return true;
    }
    return false;
}

/* Reads the names and files of -m. */
static int read_maps(const struct arguments *arguments, struct session_list *list,
    struct gput_comparison_session *maps, struct gput_error *error)
{
    size_t position = 0;
    const char *text;
    while ((text = arguments_next(arguments, OPTION_MAP, &position)) != NULL) {
        const char *sign = strchr(text, '=');
        if (!sign || sign == text || sign[1] == '\0')
            return error_set(error, GPUT_ERROR_INVALID,
                "\"-m %s\" is not a mapping. It has the form -m <name>=<file-path>.", text);
        char *name = strndup(text, (size_t)(sign - text));
        if (!name)
            return error_memory(error);
        list->names[list->n_names] = name;
        maps[list->n_names++] = (struct gput_comparison_session){name, sign + 1};
    }
    return GPUT_OK;
}

/* Lists the sessions of -m and of the config file, which may be NULL. */
static int list_sessions(const struct arguments *arguments,
    const struct gput_comparison_config *config, struct session_list *list,
    struct gput_error *error)
{
    size_t capacity = 0;
    if (config)
        gput_comparison_config_sessions(config, &capacity);
    capacity += arguments->n_uses + 1;
    struct gput_comparison_session *maps = calloc(capacity, sizeof *maps);
    list->items = calloc(capacity, sizeof *list->items);
    list->names = calloc(capacity, sizeof *list->names);
    int code = maps && list->items && list->names ? read_maps(arguments, list, maps, error)
                                                  : error_memory(error);
    if (code == GPUT_OK) {
        /* A session keeps the place that the config gives it, as in the old command. */
        bool *used = calloc(list->n_names + 1, sizeof *used);
        size_t count = 0;
        const struct gput_comparison_session *sessions =
            config ? gput_comparison_config_sessions(config, &count) : NULL;
        for (size_t i = 0; used && i < count; i++) {
            const char *name = sessions[i].name;
            if (!is_mapped(list, name)) {
                list->items[list->count++] = sessions[i];
                continue;
            }
            for (size_t k = 0; k < list->n_names; k++) {
                if (!used[k] && strcmp(maps[k].name, name) == 0) {
                    list->items[list->count++] = maps[k];
                    used[k] = true;
                }
            }
        }
        for (size_t k = 0; used && k < list->n_names; k++) {
            if (!used[k])
                list->items[list->count++] = maps[k];
        }
        free(used);
    }
    free(maps);
    if (code == GPUT_OK && list->count == 0)
        code = error_set(error, GPUT_ERROR_INVALID,
            "A mapping of tracking session name to file path must be provided either through the "
            "-m option or a config file.");
    return code;
}

static int check_rule(
    const void *comparison, const char *rule, bool *holds, struct gput_error *said)
{
    return gput_comparison_check(
        comparison, rule, holds, said->message, sizeof said->message, said);
}

/* Writes the comparison in its format. */
static int render(const struct arguments *arguments, const struct gput_comparison *comparison,
    const struct gput_comparison_options *options, enum gput_format format,
    struct gput_error *error)
{
    char *bytes;
    size_t length;
    struct gput_summary_options layout = analysis_summary_options(arguments);
    int code = format == GPUT_FORMAT_SUMMARY
                   ? gput_comparison_summarize(comparison, options, &layout, &bytes, &length, error)
                   : gput_comparison_render(comparison, options, analysis_rendered_format(format),
                         &bytes, &length, error);
    if (code == GPUT_OK)
        code = analysis_write(arguments, "comparison", format, bytes, length, error);
    free(bytes);
    return code;
}

/* Compares the listed sessions, checks the rules of --fail-if, and writes the comparison. */
static int compare(const struct arguments *arguments, const struct gput_comparison_config *config,
    struct session_list *list, int *status, struct gput_error *error)
{
    enum gput_format format;
    struct gput_comparison_options options = gput_comparison_options_default();
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    const char *statistic = arguments_value(arguments, OPTION_STATISTIC);
    options.warn = message_warning;
    if (config)
        options.statistic = gput_comparison_config_statistic(config);
    options.relative = arguments_have(arguments, OPTION_RELATIVE);
    TRY(list_sessions(arguments, config, list, error));
    if (statistic)
        TRY(gput_statistic_parse(statistic, &options.statistic, error));
    TRY(report_read_format(arguments, OPTION_COMPARISON_FORMAT, output,
        analysis_usual_format(arguments), &format, error));
    TRY(report_check_output(output, error));

    list->copies = calloc(list->count, sizeof *list->copies);
    if (!list->copies)
        return error_memory(error);
    for (size_t i = 0; i < list->count; i++)
        TRY(pickle_copy_of_analysis(&list->copies[i], &list->items[i].path, error));
    struct gput_comparison *comparison;
    int code = gput_comparison_create(list->items, list->count, &options, &comparison, error);
    if (code == GPUT_OK)
        code = rules_check(arguments, OPTION_FAIL_IF, check_rule, comparison, status, error);
    if (code == GPUT_OK)
        code = render(arguments, comparison, &options, format, error);
    gput_comparison_destroy(comparison);
    return code;
}

int cmd_sub_track_compare(const struct arguments *arguments)
{
    struct gput_error error;
    struct gput_comparison_config *config = NULL;
    struct session_list list = {0};
    int status = EXIT_SUCCESS;
    const char *path = arguments_value(arguments, OPTION_COMPARISON_CONFIG);
    int code = path ? gput_comparison_config_load(path, &config, &error) : GPUT_OK;
    if (code == GPUT_OK)
        code = compare(arguments, config, &list, &status, &error);
    session_list_finish(&list);
    gput_comparison_config_destroy(config);
    if (code == GPUT_OK)
        return status;
    message_error(&error);
    return EXIT_FAILURE;
}
