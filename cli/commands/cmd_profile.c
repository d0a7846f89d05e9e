/*
 * gpu-tracker profile …: what a training profile says; profile python: what Python's profilers
 * recorded; pytorch …: traces of PyTorch's profiler.
 */
#include "base/error.h"
#include "base/number.h"
#include "commands/command.h"
#include "common/environment.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "output/tables.h"
#include "track/report.h"

#include <gputracker/profile.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_number(const struct arguments *arguments, enum option_id id, const char *name,
    double *number, struct gput_error *error)
{
    const char *word = arguments_value(arguments, id);
    if (word && (!number_read_double(word, number) || *number != *number))
        return error_set(error, GPUT_ERROR_INVALID, "%s must be a number, not \"%s\".", name, word);
    return GPUT_OK;
}

/* Reads the options of `profile python`: what Python's profilers recorded. */
static int read_python_options(const struct arguments *arguments,
    struct gput_python_options *options, enum gput_format *format, struct gput_error *error)
{
    options->paths = (const char *const *)arguments->operands + 1;
    options->n_paths = (size_t)arguments->n_operands - 1;
    options->start_phase = arguments_value(arguments, OPTION_START_PHASE);
    options->end_phase = arguments_value(arguments, OPTION_END_PHASE);
    options->start_mode = arguments_value(arguments, OPTION_START_MODE);
    options->end_mode = arguments_value(arguments, OPTION_END_MODE);
    options->node = arguments_value(arguments, OPTION_NODE);
    int unit = GPUT_TIMELINE_TIME, profiler = 0, order = options->by;
    double limit = 0; /* the library's default */
    TRY(arguments_read_choice(arguments, OPTION_UNIT, "unit", &unit, error));
    TRY(arguments_read_choice(arguments, OPTION_PROFILER, "profiler", &profiler, error));
    options->unit = (enum gput_timeline_unit)unit;
    options->pyinstrument = profiler == 1;
    TRY(tables_read_format(arguments, format, error));
    TRY(arguments_read_choice(arguments, OPTION_PYTHON_BY, "order", &order, error));
    TRY(arguments_read_choice(arguments, OPTION_SORT, "order", &order, error));
    options->by = (enum gput_python_order)order;
    TRY(read_number(arguments, OPTION_COUNT_SHOWN, "-n", &limit, error));
    if (arguments_have(arguments, OPTION_COUNT_SHOWN) && !(limit >= 1 && limit < 1e9))
        return error_set(error, GPUT_ERROR_INVALID, "-n must be 1 or more.");
    options->limit = (size_t)limit;
    TRY(read_number(arguments, OPTION_START, "--start", &options->start, error));
    TRY(read_number(arguments, OPTION_STOP, "--end", &options->end, error));
    struct window window = {.unit = options->unit};
    TRY(window_read_steps(arguments, &window, error));
    if (!arguments_have(arguments, OPTION_STEPS))
        return GPUT_OK;
    options->unit = window.unit;
    options->start = (double)window.start;
    options->end = (double)window.end;
    return GPUT_OK;
}

/* Writes the functions that took most time. */
static int top(const struct arguments *arguments, const struct gput_python_options *options,
    enum gput_format format, struct gput_error *error)
{
    char *text;
    int code = gput_python_render(options, format, &text, NULL, error);
    analysis_end_progress(options->user);
    if (code == GPUT_OK)
        code = report_write_text(
            arguments_value(arguments, OPTION_TABLE_OUTPUT), STDOUT_FILENO, text, error);
    free(text);
    return code;
}

/* Writes the list of profiles. */
static int list(const struct arguments *arguments, const struct gput_python_options *options,
    struct gput_error *error)
{
    struct gput_tables *tables = NULL;
    int code = gput_python_profile_tables(options, &tables, error);
    if (code == GPUT_OK)
        code = tables_write(arguments, tables, error);
    gput_tables_destroy(tables);
    return code;
}

int cmd_profile_python(const struct arguments *arguments)
{
    int shown = 0;
    struct gput_python_options options = gput_python_options_default();
    options.warn = analysis_warn;
    options.progress = analysis_show_progress;
    options.user = &shown;
    struct gput_error error;
    enum gput_format format;
    const char *what = arguments->operands[0];
    int code = read_python_options(arguments, &options, &format, &error);
    if (code == GPUT_OK && strcmp(what, "top") != 0 && strcmp(what, "list") != 0)
        code = error_set(&error, GPUT_ERROR_INVALID,
            "\"profile python\" must be followed by top or list, not \"%s\".", what);
    if (code == GPUT_OK)
        code = strcmp(what, "top") == 0 ? top(arguments, &options, format, &error)
                                        : list(arguments, &options, &error);
    return message_exit_status(
        code, &error, code == GPUT_ERROR_INVALID ? EXIT_USAGE : EXIT_FAILURE);
}

/* Reads -n of `pytorch breakdown`, `kernels`, `idle` and `diff`. */
static int read_limit(const struct arguments *arguments, size_t *limit, struct gput_error *error)
{
    const char *word = arguments_value(arguments, OPTION_COUNT_SHOWN);
    int64_t number;
    if (!word)
        return GPUT_OK;
    if (!number_read_int64(word, &number) || number < 1)
        return error_set(error, GPUT_ERROR_INVALID, "-n must be 1 or more, not \"%s\".", word);
    *limit = (size_t)number;
    return GPUT_OK;
}

int cmd_profile_kineto(const struct arguments *arguments)
{
    int shown = 0;
    struct gput_kineto_options options = gput_kineto_options_default();
    options.paths = (const char *const *)arguments->operands;
    options.n_paths = (size_t)arguments->n_operands;
    options.temporary_folder = environment_path("TMPDIR");
    options.warn = analysis_warn;
    options.progress = analysis_show_progress;
    options.user = &shown;
    struct gput_tables *tables = NULL;
    struct gput_error error;
    enum gput_format format;
    int code = tables_read_format(arguments, &format, &error);
    if (code == GPUT_OK)
        code = read_limit(arguments, &options.limit, &error);
    if (code == GPUT_OK)
        code = arguments_read_cores(arguments, &options.cores, &error);
    bool usage = code == GPUT_ERROR_INVALID;
    if (code == GPUT_OK)
        code = gput_kineto_tables(
            (enum gput_kineto_view)arguments->command->view, &options, &tables, &error);
    analysis_end_progress(&shown);
    if (code == GPUT_OK)
        code = tables_write(arguments, tables, &error);
    gput_tables_destroy(tables);
    return message_exit_status(code, &error, usage ? EXIT_USAGE : EXIT_FAILURE);
}

/* The texts of a repeatable option, which may hold several with commas between. */
struct list {
    char *text; /* what the items point into */
    const char **items;
    size_t count;
};

/* Reads all uses of that option. */
static int list_read(const struct arguments *arguments, enum option_id id, struct list *list,
    struct gput_error *error)
{
    size_t position = 0, length = 1, commas = 1;
    const char *use;
    *list = (struct list){0};
    while ((use = arguments_next(arguments, id, &position)) != NULL) {
        length += strlen(use) + 1;
        for (const char *at = use; (at = strchr(at, ',')) != NULL; at++)
            commas++;
        commas++;
    }
    list->text = calloc(length, 1);
    list->items = calloc(commas, sizeof *list->items);
    if (!list->text || !list->items)
        return error_memory(error);
    for (position = 0; (use = arguments_next(arguments, id, &position)) != NULL;) {
        strcat(list->text, use);
        strcat(list->text, ",");
    }
    char *rest = NULL;
    for (char *item = strtok_r(list->text, ",", &rest); item; item = strtok_r(NULL, ",", &rest))
        list->items[list->count++] = item;
    return GPUT_OK;
}

/* The options that hold several texts. */
enum { RESOURCES, PHASES, METRICS, RANGES, MOMENTS, INTERVALS, LISTS };

static const enum option_id list_options[LISTS] = {
    OPTION_RESOURCE, OPTION_PHASE, OPTION_METRIC, OPTION_RANGES, OPTION_AT, OPTION_BETWEEN};

/* All that the options point to. */
struct lists {
    struct list of[LISTS];
    struct gput_profile_range *ranges;
    int64_t *moments;
    struct gput_profile_interval *intervals;
};

/* Reads --ranges: "90-100". */
static int read_ranges(
    struct lists *lists, struct gput_profile_options *options, struct gput_error *error)
{
    lists->ranges = calloc(lists->of[RANGES].count + 1, sizeof *lists->ranges);
    if (!lists->ranges)
        return error_memory(error);
    for (size_t i = 0; i < lists->of[RANGES].count; i++) {
        const char *word = lists->of[RANGES].items[i];
        char *dash, *end;
        double low = strtod(word, &dash);
        double high = dash != word && *dash == '-' ? strtod(dash + 1, &end) : NAN;
        if (!(low <= high) || end == dash + 1 || *end != '\0')
            return error_set(error, GPUT_ERROR_INVALID,
                "--ranges must be percentages as 90-100,10-90,0-10, not \"%s\".", word);
        lists->ranges[i] = (struct gput_profile_range){low, high};
    }
    options->ranges = lists->ranges;
    options->n_ranges = lists->of[RANGES].count;
    return GPUT_OK;
}

/* Reads --at: "1600000000000000". */
static int read_moments(
    struct lists *lists, struct gput_profile_options *options, struct gput_error *error)
{
    lists->moments = calloc(lists->of[MOMENTS].count + 1, sizeof *lists->moments);
    if (!lists->moments)
        return error_memory(error);
    for (size_t i = 0; i < lists->of[MOMENTS].count; i++) {
        const char *word = lists->of[MOMENTS].items[i];
        if (!number_read_int64(word, &lists->moments[i]))
            return error_set(error, GPUT_ERROR_INVALID,
                "--at must be microseconds since the epoch, not \"%s\".", word);
    }
    options->moments = lists->moments;
    options->n_moments = lists->of[MOMENTS].count;
    return GPUT_OK;
}

/* Reads --between: "1600000000000000-1600000001000000". */
static int read_intervals(
    struct lists *lists, struct gput_profile_options *options, struct gput_error *error)
{
    lists->intervals = calloc(lists->of[INTERVALS].count + 1, sizeof *lists->intervals);
    if (!lists->intervals)
        return error_memory(error);
    for (size_t i = 0; i < lists->of[INTERVALS].count; i++) {
        struct gput_profile_interval *interval = lists->intervals + i;
        const char *word = lists->of[INTERVALS].items[i], *dash = strchr(word, '-');
        if (!dash || number_parse_int64(word, dash, &interval->start_us) != dash ||
            !number_read_int64(dash + 1, &interval->end_us) ||
            interval->start_us > interval->end_us)
            return error_set(error, GPUT_ERROR_INVALID,
                "--between must be two moments with a dash between, microseconds since the "
                "epoch, not \"%s\".",
                word);
    }
    options->intervals = lists->intervals;
    options->n_intervals = lists->of[INTERVALS].count;
    return GPUT_OK;
}

/* Reads the options of the view of a training profile. */
static int read_options(const struct arguments *arguments, struct lists *lists,
    struct gput_profile_options *options, struct gput_error *error)
{
    enum gput_format format;
    options->path = arguments->operands[0];
    struct window window = {0};
    TRY(tables_read_format(arguments, &format, error));
    TRY(window_read(arguments, &window, error));
    options->unit = window.unit;
    options->start = window.start;
    options->end = window.end;
    int steps_by = options->by;
    TRY(arguments_read_choice(arguments, OPTION_STEPS_BY, "grouping", &steps_by, error));
    options->by = (enum gput_profile_by)steps_by;
    size_t position = 0;
    const char *word;
    while ((word = arguments_next(arguments, OPTION_UTILIZATION_BY, &position)) != NULL) {
        int choice;
        TRY(choice_read(OPTION_UTILIZATION_BY, word, "grouping", &choice, error));
        *(choice == 0 ? &options->by_phase : &options->by_dimension) = true;
    }
    for (int i = 0; i < LISTS; i++)
        TRY(list_read(arguments, list_options[i], &lists->of[i], error));
    TRY(read_ranges(lists, options, error));
    TRY(read_moments(lists, options, error));
    TRY(read_intervals(lists, options, error));
    options->resources = lists->of[RESOURCES].items;
    options->n_resources = lists->of[RESOURCES].count;
    options->phases = lists->of[PHASES].items;
    options->n_phases = lists->of[PHASES].count;
    options->metrics = lists->of[METRICS].items;
    options->n_metrics = lists->of[METRICS].count;
    return GPUT_OK;
}

/* What is reported while a view is made. */
struct showing {
    struct tables_stream stream;
    int percent; /* shown on a terminal */
};

static int take(void *user, const struct gput_tables *tables, const struct gput_table *part,
    struct gput_error *error)
{
    struct showing *showing = user;
    analysis_end_progress(&showing->percent);
    return tables_stream_write(&showing->stream, tables, part, error);
}

static void show_progress(void *user, double done)
{
    analysis_show_progress(&((struct showing *)user)->percent, done);
}

static void warn(void *user, const char *message)
{
    analysis_warn(&((struct showing *)user)->percent, message);
}

int cmd_profile(const struct arguments *arguments)
{
    struct showing showing = {.stream = {.arguments = arguments}};
    struct gput_profile_options options = gput_profile_options_default();
    options.temporary_folder = environment_path("TMPDIR");
    options.receive = take;
    options.warn = warn;
    options.progress = show_progress;
    options.user = &showing;
    struct lists lists = {0};
    struct gput_tables *tables = NULL;
    struct gput_error error;
    int code = read_options(arguments, &lists, &options, &error);
    if (code == GPUT_OK)
        code = arguments_read_cores(arguments, &options.cores, &error);
    bool usage = code == GPUT_ERROR_INVALID;
    if (code == GPUT_OK)
        code = gput_profile_tables(
            (enum gput_profile_view)arguments->command->view, &options, &tables, &error);
    analysis_end_progress(&showing.percent);
    if (code == GPUT_OK)
        code = showing.stream.writer ? tables_stream_end(&showing.stream, &error)
                                     : tables_write(arguments, tables, &error);
    tables_stream_finish(&showing.stream);
    gput_tables_destroy(tables);
    for (int i = 0; i < LISTS; i++) {
        free(lists.of[i].text);
        free(lists.of[i].items);
    }
    free(lists.ranges);
    free(lists.moments);
    free(lists.intervals);
    return message_exit_status(code, &error, usage ? EXIT_USAGE : EXIT_FAILURE);
}
