/* gpu-tracker profile …: what a training profile says. */
#include "base/error.h"
#include "base/number.h"
#include "commands/command.h"
#include "common/environment.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "output/tables.h"

#include <gputracker/profile.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The texts of a repeatable option, which may hold several with commas between. */
struct list {
    char *text; /* what the items point into */
    const char **items;
    size_t count;
};

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

/* "90-100" */
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

/* "1600000000000000" */
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

/* "1600000000000000-1600000001000000" */
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

static int read_steps_by(const struct arguments *arguments, struct gput_profile_options *options,
    struct gput_error *error)
{
    int choice = options->by;
    int code = arguments_read_choice(arguments, OPTION_STEPS_BY, "grouping", &choice, error);
    options->by = (enum gput_profile_by)choice;
    return code;
}

static int read_utilization_by(const struct arguments *arguments,
    struct gput_profile_options *options, struct gput_error *error)
{
    size_t position = 0;
    const char *word;
    while ((word = arguments_next(arguments, OPTION_UTILIZATION_BY, &position)) != NULL) {
        int choice, code = choice_read(OPTION_UTILIZATION_BY, word, "grouping", &choice, error);
        if (code != GPUT_OK)
            return code;
        *(choice == 0 ? &options->by_phase : &options->by_dimension) = true;
    }
    return GPUT_OK;
}

static int read_lists(const struct arguments *arguments, struct lists *lists,
    struct gput_profile_options *options, struct gput_error *error)
{
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
    TRY(read_steps_by(arguments, options, error));
    TRY(read_utilization_by(arguments, options, error));
    return read_lists(arguments, lists, options, error);
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
