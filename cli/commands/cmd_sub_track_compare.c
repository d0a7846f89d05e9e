/* gpu-tracker sub-track compare: the analyses of several sessions side by side. */
#include "base/error.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "output/pickles.h"
#include "output/rules.h"
#include "track/report.h"

#include <gputracker/comparison.h>

#include <stdlib.h>
#include <string.h>

/* The files to compare: the config's, and over them those of -m. */
struct session_list {
    struct gput_comparison_session *items;
    size_t count;
    struct pickle_copy *copies; /* of each item */
    char **names;               /* of -m, copied out of "name=path" */
    size_t n_names;
};

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

/* A session keeps the place that the config, which may be NULL, gives it, as in the old command. */
static void merge(struct session_list *list, const struct gput_comparison_config *config,
    const struct gput_comparison_session *maps)
{
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
    if (code == GPUT_OK)
        merge(list, config, maps);
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
