/* gpu-tracker why: where the time of a command went, or of sessions that were kept. */
#include "base/error.h"
#include "base/str.h"
#include "base/text.h"
#include "common/message.h"
#include "common/screen.h"
#include "options/arguments.h"
#include "track/report.h"
#include "track/track.h"

#include <gputracker/results.h>

#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files of sessions: each operand is a file that is not a program, or named as a report is. */
static bool are_files(const struct arguments *arguments)
{
    for (int i = 0; i < arguments->n_operands; i++) {
        struct stat info;
        const char *path = arguments->operands[i];
        if (text_ends_with(path, ".json") && access(path, X_OK) != 0)
            continue;
        if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || access(path, X_OK) == 0)
            return false;
    }
    return true;
}

/* Appends the page of one session to the standard output or `output`. */
static int show(const char *path, bool has_heading, struct str *pages, struct gput_error *error)
{
    struct gput_results *results;
    char *bytes;
    size_t length;
    TRY(gput_results_load(path, &results, error));
    int code = gput_results_why(results, &bytes, &length, error);
    gput_results_destroy(results);
    if (code != GPUT_OK)
        return code;
    if (has_heading)
        str_printf(pages, "%s%s\n\n", pages->length > 0 ? "\n" : "", path);
    str_append_bytes(pages, bytes, length);
    free(bytes);
    return GPUT_OK;
}

/* Writes the pages of all sessions, one after the other. */
static int show_all(const struct arguments *arguments, struct gput_error *error)
{
    struct str pages = {0};
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    int code = report_check_output(output, error);
    for (int i = 0; code == GPUT_OK && i < arguments->n_operands; i++)
        code = show(arguments->operands[i], arguments->n_operands > 1, &pages, error);
    if (code == GPUT_OK && pages.failed)
        code = error_memory(error);
    if (code == GPUT_OK)
        code = report_write_text(output, STDOUT_FILENO, str_text(&pages), error);
    str_finish(&pages);
    return code;
}

int cmd_why(const struct arguments *arguments)
{
    struct gput_error error;
    const struct track_style style = {
        .explains_time = true,
        .screen_fd = STDERR_FILENO,
        .failed_status = EXIT_TRACKER_FAILED,
        .not_executable_status = EXIT_NOT_EXECUTABLE,
        .not_found_status = EXIT_NOT_FOUND,
    };
    if (are_files(arguments))
        return message_exit_status(show_all(arguments, &error), &error, EXIT_FAILURE);
    return track_command(arguments, arguments->operands, &style);
}
