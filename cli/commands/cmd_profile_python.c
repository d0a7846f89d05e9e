/* gpu-tracker profile python: what Python's profilers recorded. */
#include "base/error.h"
#include "base/number.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "output/tables.h"
#include "track/report.h"

#include <gputracker/profile.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_order(
    const struct arguments *arguments, enum gput_python_order *by, struct gput_error *error)
{
    int choice = *by;
    TRY(arguments_read_choice(arguments, OPTION_PYTHON_BY, "order", &choice, error));
    TRY(arguments_read_choice(arguments, OPTION_SORT, "order", &choice, error));
    *by = (enum gput_python_order)choice;
    return GPUT_OK;
}

static int read_number(const struct arguments *arguments, enum option_id id, const char *name,
    double *number, struct gput_error *error)
{
    const char *word = arguments_value(arguments, id);
    if (word && (!number_read_double(word, number) || *number != *number))
        return error_set(error, GPUT_ERROR_INVALID, "%s must be a number, not \"%s\".", name, word);
    return GPUT_OK;
}

static int read_limit(const struct arguments *arguments, size_t *limit, struct gput_error *error)
{
    double number = 0; /* the library's default */
    TRY(read_number(arguments, OPTION_COUNT_SHOWN, "-n", &number, error));
    if (arguments_have(arguments, OPTION_COUNT_SHOWN) && !(number >= 1 && number < 1e9))
        return error_set(error, GPUT_ERROR_INVALID, "-n must be 1 or more.");
    *limit = (size_t)number;
    return GPUT_OK;
}

static int read_options(const struct arguments *arguments, struct gput_python_options *options,
    enum gput_format *format, struct gput_error *error)
{
    options->paths = (const char *const *)arguments->operands + 1;
    options->n_paths = (size_t)arguments->n_operands - 1;
    options->start_phase = arguments_value(arguments, OPTION_START_PHASE);
    options->end_phase = arguments_value(arguments, OPTION_END_PHASE);
    options->start_mode = arguments_value(arguments, OPTION_START_MODE);
    options->end_mode = arguments_value(arguments, OPTION_END_MODE);
    options->node = arguments_value(arguments, OPTION_NODE);
    int unit = GPUT_TIMELINE_TIME, profiler = 0;
    TRY(arguments_read_choice(arguments, OPTION_UNIT, "unit", &unit, error));
    TRY(arguments_read_choice(arguments, OPTION_PROFILER, "profiler", &profiler, error));
    options->unit = (enum gput_timeline_unit)unit;
    options->pyinstrument = profiler == 1;
    TRY(tables_read_format(arguments, format, error));
    TRY(read_order(arguments, &options->by, error));
    TRY(read_limit(arguments, &options->limit, error));
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
    int code = read_options(arguments, &options, &format, &error);
    if (code == GPUT_OK && strcmp(what, "top") != 0 && strcmp(what, "list") != 0)
        code = error_set(&error, GPUT_ERROR_INVALID,
            "\"profile python\" must be followed by top or list, not \"%s\".", what);
    if (code == GPUT_OK)
        code = strcmp(what, "top") == 0 ? top(arguments, &options, format, &error)
                                        : list(arguments, &options, &error);
    return message_exit_status(
        code, &error, code == GPUT_ERROR_INVALID ? EXIT_USAGE : EXIT_FAILURE);
}
