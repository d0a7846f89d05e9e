/* gpu-tracker timeline merge: many recordings on one timeline. */
#include "base/error.h"
#include "base/number.h"
#include "common/message.h"
#include "common/screen.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "track/report.h"

#include <gputracker/timeline.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "GPUUtilization=85", or "none". The name goes to `name`. */
static int read_low(const char *word, char name[128], struct gput_timeline_options *options,
    struct gput_error *error)
{
    if (!word)
        return GPUT_OK;
    options->low_dimension = NULL;
    if (strcmp(word, "none") == 0)
        return GPUT_OK;
    const char *equals = strrchr(word, '=');
    bool has_name = equals && equals != word && equals - word < 128;
    if (!has_name || !number_read_double(equals + 1, &options->low_threshold) ||
        !isfinite(options->low_threshold))
        return error_set(error, GPUT_ERROR_INVALID,
            "--low must be a metric and a threshold, as GPUUtilization=85, or \"none\", not "
            "\"%s\".",
            word);
    snprintf(name, 128, "%.*s", (int)(equals - word), word);
    options->low_dimension = name;
    return GPUT_OK;
}

/* Reads which files of a folder are merged. */
static int read_suffixes(const struct arguments *arguments, const char ***suffixes,
    struct gput_timeline_options *options, struct gput_error *error)
{
    size_t position = 0;
    const char *suffix;
    *suffixes = calloc(arguments->n_uses + 1, sizeof **suffixes);
    if (!*suffixes)
        return error_memory(error);
    while ((suffix = arguments_next(arguments, OPTION_SUFFIX, &position)) != NULL)
        (*suffixes)[options->n_suffixes++] = suffix;
    options->suffixes = *suffixes;
    return GPUT_OK;
}

/* On a terminal; `user` is the percent that are shown. */
static void show_progress(void *user, double done)
{
    int *shown = user, percent = (int)(done * 100);
    if (percent <= *shown || !screen_shows_progress(STDERR_FILENO))
        return;
    fprintf(stderr, "\rgpu-tracker: merging, %d %%", percent);
    *shown = percent;
}

/* Reads inputs, output and selection of the merge. */
static int read_options(const struct arguments *arguments, struct gput_timeline_options *options,
    char low_name[128], struct gput_error *error)
{
    options->inputs = (const char *const *)arguments->operands;
    options->n_inputs = (size_t)arguments->n_operands;
    options->output = arguments_value(arguments, OPTION_MERGED_OUTPUT);
    options->warn = analysis_warn;
    options->progress = show_progress;
    struct window window;
    int code = window_read(arguments, &window, error);
    options->unit =
        window.unit == GPUT_TIMELINE_STEP ? GPUT_TIMELINE_WHOLE_STEPS : GPUT_TIMELINE_TIME;
    options->start = window.start;
    options->end = window.end;
    if (code == GPUT_OK)
        code = arguments_read_cores(arguments, &options->cores, error);
    if (code == GPUT_OK)
        code = read_low(arguments_value(arguments, OPTION_LOW), low_name, options, error);
    return code;
}

int cmd_timeline_merge(const struct arguments *arguments)
{
    struct gput_timeline_options options = gput_timeline_options_default();
    struct gput_timeline_result result = gput_timeline_result_default();
    struct gput_error error;
    int shown = 0;
    const char **suffixes = NULL;
    char low_name[128];
    int code = read_options(arguments, &options, low_name, &error);
    if (code == GPUT_OK)
        code = read_suffixes(arguments, &suffixes, &options, &error);
    bool usage = code == GPUT_ERROR_INVALID;
    options.user = &shown;
    if (code == GPUT_OK)
        code = gput_timeline_merge(&options, &result, &error);
    analysis_end_progress(&shown);
    free(suffixes);
    if (code == GPUT_OK) {
        /* Tell people what was merged, on stderr where the timeline itself goes to stdout. */
        const char *path = result.path;
        bool to_stdout = strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0 ||
                         strncmp(path, "/proc/", 6) == 0;
        struct gput_error ignored; /* the timeline is there */
        char text[sizeof result.path + 512];
        int used = snprintf(text, sizeof text,
            "%s: %" PRIu64 " slices, %" PRIu64 " counter readings and %" PRIu64
            " other events of %" PRIu64 " files, %.6f s from the first to the last\n",
            result.path, result.slices, result.counters, result.others, result.files,
            (double)(result.end_us - result.start_us) / 1e6);
        if (result.unusable > 0)
            used += snprintf(text + used, sizeof text - (size_t)used,
                "%" PRIu64
                " events lack a time, a duration or their other end, or are of no known type\n",
                result.unusable);
        if (result.left_out > 0)
            snprintf(text + used, sizeof text - (size_t)used,
                "%" PRIu64 " events are outside of the selection\n", result.left_out);
        report_write_text(NULL, to_stdout ? STDERR_FILENO : STDOUT_FILENO, text, &ignored);
    }
    return message_exit_status(code, &error, usage ? EXIT_USAGE : EXIT_FAILURE);
}
