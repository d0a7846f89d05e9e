/* gpu-tracker plot: curves of sessions as a picture. */
#include "base/error.h"
#include "base/number.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "output/named_sessions.h"
#include "output/output_files.h"

#include <gputracker/plot.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PATH "plot.svg"

/* What a picture is made of; the lists belong to it. */
struct work {
    struct named_sessions sessions;
    const char **marks;
    char *names; /* the value of --figures, cut at its commas */
    const char **figures;
    int shown; /* of its progress */
};

/* Makes room for what the command line lists, and reads the named sessions. */
static int make_lists(
    const struct arguments *arguments, struct work *work, struct gput_error *error)
{
    const char *names = arguments_value(arguments, OPTION_PLOT_FIGURES);
    work->names = strdup(names ? names : "");
    work->marks = calloc(arguments->n_uses + 1, sizeof *work->marks);
    work->figures = work->names ? calloc(strlen(work->names) + 1, sizeof *work->figures) : NULL;
    if (work->marks && work->figures)
        return named_sessions_read(&work->sessions, arguments, OPTION_PLOT_OUTPUT, error);
    return error_memory(error);
}

/* ---- Values ---- */

/* Seconds; *value stays as it is when the option was not given. */
static int read_seconds(const struct arguments *arguments, enum option_id id, const char *name,
    double *value, struct gput_error *error)
{
    const char *text = arguments_value(arguments, id);
    if (!text)
        return GPUT_OK;
    bool is_decimal = strspn(text, "+-.0123456789eE") == strlen(text);
    if (is_decimal && number_read_double(text, value) && isfinite(*value))
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_INVALID,
        "--%s=%.64s is not a number of seconds after the beginning of the session.", name, text);
}

/* Digits and a point at *text, which moves after them; NaN: there are none. strtod() alone would
 * take "0x50" for one number. */
static double read_length(const char **text)
{
    char digits[16], *end;
    size_t count = strspn(*text, ".0123456789");
    if (count == 0 || count >= sizeof digits)
        return NAN;
    memcpy(digits, *text, count);
    digits[count] = '\0';
    double length = strtod(digits, &end);
    *text += count;
    return *end ? NAN : length;
}

/* ---- The command ---- */

/* Reads what to plot, over which time and in which size. */
static int read_options(const struct arguments *arguments, struct work *work,
    struct gput_plot_options *options, struct gput_error *error)
{
    const char *mark;
    char *rest = NULL;
    size_t position = 0;
    TRY(make_lists(arguments, work, error));
    while ((mark = arguments_next(arguments, OPTION_REPORT_MARKS, &position)) != NULL)
        work->marks[options->n_sub_tracking_files++] = mark;
    for (char *name = strtok_r(work->names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest))
        work->figures[options->n_figures++] = name;
    options->sessions = work->sessions.list;
    options->n_sessions = work->sessions.count;
    options->sub_tracking_files = work->marks;
    options->figures = work->figures;
    options->blocks = arguments_have(arguments, OPTION_PLOT_BLOCKS);
    options->title = arguments_value(arguments, OPTION_PLOT_TITLE);
    options->warn = analysis_warn;
    options->progress = analysis_show_progress;
    options->user = &work->shown;
    TRY(read_seconds(arguments, OPTION_PLOT_START, "start", &options->start_seconds, error));
    TRY(read_seconds(arguments, OPTION_PLOT_END, "end", &options->end_seconds, error));
    /* Read a size such as "88x50mm" or "3.5in". */
    const char *text = arguments_value(arguments, OPTION_PLOT_SIZE), *at = text;
    if (!text)
        return GPUT_OK;
    double width = read_length(&at), height = 0;
    bool has_height = *at == 'x';
    if (has_height) {
        at++;
        height = read_length(&at);
    }
    double unit = strcmp(at, "mm") == 0   ? 1
                  : strcmp(at, "cm") == 0 ? 10
                  : strcmp(at, "in") == 0 ? 25.4
                  : strcmp(at, "pt") == 0 ? 25.4 / 72
                                          : NAN;
    options->width_mm = width * unit;
    options->height_mm = height * unit;
    if (options->width_mm > 0 && (!has_height || options->height_mm > 0))
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_INVALID,
        "--size=%.64s is not a size. Give the width, and the height if you like, in mm, cm, in or "
        "pt: --size=88x50mm.",
        text);
}

int cmd_plot(const struct arguments *arguments)
{
    struct gput_plot_options options = gput_plot_options_default();
    struct work work = {0};
    struct gput_error error;
    const char *path = arguments_value(arguments, OPTION_PLOT_OUTPUT);
    char *name = NULL;
    int code = read_options(arguments, &work, &options, &error);
    if (code == GPUT_OK && !path)
        code = output_files_find_free(arguments, DEFAULT_PATH, &name, &error);
    const char *unnamed = name ? name : DEFAULT_PATH;
    if (code == GPUT_OK)
        code = gput_plot_write(&options, path ? path : unnamed, &error);
    analysis_end_progress(&work.shown);
    if (code == GPUT_OK && !path)
        output_files_say(unnamed);
    free(name);
    free(work.figures);
    free(work.names);
    free(work.marks);
    named_sessions_free(&work.sessions);
    return message_exit_status(code, &error, EXIT_FAILURE);
}
