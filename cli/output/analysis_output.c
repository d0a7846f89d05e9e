#include "output/analysis_output.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "common/message.h"
#include "common/screen.h"
#include "output/pickles.h"
#include "track/report.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum gput_format analysis_rendered_format(enum gput_format format)
{
    return format == GPUT_FORMAT_PICKLE ? GPUT_FORMAT_JSON : format;
}

int analysis_write(const struct arguments *arguments, const char *kind, enum gput_format format,
    const char *bytes, size_t length, struct gput_error *error)
{
    const char *path = arguments_value(arguments, OPTION_OUTPUT);
    bool to_file = path && strcmp(path, "-") != 0;
    CLEANUP_FREE char *pickle = NULL;
    if (format == GPUT_FORMAT_PICKLE)
        TRY(pickles_make(kind, bytes, length, &pickle, &length, error));
    int code = report_write_bytes(path, STDOUT_FILENO, pickle ? pickle : bytes, length, error);
    bool is_text =
        format != GPUT_FORMAT_PICKLE && format != GPUT_FORMAT_PDF && format != GPUT_FORMAT_PNG;
    if (code == GPUT_OK && !to_file && is_text && length > 0 && bytes[length - 1] != '\n')
        code = report_write_text(NULL, STDOUT_FILENO, "\n", error);
    return code;
}

void analysis_show_progress(void *user, double done)
{
    int *shown = user;
    int percent = (int)(done * 100);
    if (percent == *shown || !screen_shows_progress(STDERR_FILENO))
        return;
    fprintf(stderr, "\rgpu-tracker: reading, %d %%", percent);
    *shown = percent;
}

void analysis_end_progress(int *shown)
{
    if (*shown > 0)
        fputs("\r\033[K", stderr);
    *shown = 0;
}

void analysis_warn(void *user, const char *message)
{
    analysis_end_progress(user);
    message_warning(NULL, message);
}

/* Whether what is written goes to a terminal. */
static bool is_for_a_terminal(const struct arguments *arguments)
{
    const char *path = arguments_value(arguments, OPTION_OUTPUT);
    return (!path || strcmp(path, "-") == 0) && isatty(STDOUT_FILENO);
}

enum gput_format analysis_usual_format(const struct arguments *arguments)
{
    bool wants_all = arguments_have(arguments, OPTION_ALL);
    return wants_all || is_for_a_terminal(arguments) ? GPUT_FORMAT_SUMMARY : GPUT_FORMAT_TEXT;
}

struct gput_summary_options analysis_summary_options(const struct arguments *arguments)
{
    struct gput_summary_options options = gput_summary_options_default();
    options.all = arguments_have(arguments, OPTION_ALL);
    options.width =
        is_for_a_terminal(arguments) ? screen_columns(STDOUT_FILENO, REPORT_COLUMNS) : 0;
    return options;
}

int rules_check(const struct arguments *arguments, enum option_id option, rule_check *check,
    const void *subject, int *status, struct gput_error *error)
{
    size_t position = 0;
    const char *rule;
    while ((rule = arguments_next(arguments, option, &position)) != NULL) {
        bool holds = false;
        int code = check(subject, rule, &holds, error);
        if (code != GPUT_OK && code != GPUT_ERROR_STATE)
            return code;
        if (code != GPUT_OK || holds)
            message_error(error);
        if (holds)
            *status = EXIT_RULE_BROKEN;
        else if (code != GPUT_OK && *status == EXIT_SUCCESS)
            *status = EXIT_FAILURE;
    }
    return GPUT_OK;
}
