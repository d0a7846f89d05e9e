/* gpu-tracker energy …: recording power, and reading recordings back. */
#include "base/error.h"
#include "base/words.h"
#include "common/message.h"
#include "options/arguments.h"
#include "track/report.h"
#include "track/track.h"

#include <gputracker/energy_recording.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- record ---- */

/* The words of --cmd. The caller frees them by words_free(). */
static int split_command(const char *text, char ***argv, struct gput_error *error)
{
    int code = words_split(text, argv, error);
    if (code == GPUT_OK && !(*argv)[0]) {
        words_free(*argv);
        code = error_set(error, GPUT_ERROR_INVALID, "Empty command provided.");
    }
    return code;
}

int cmd_energy_record(const struct arguments *arguments)
{
    static const struct track_style style = {
        .quiet = true,
        .screen_fd = STDERR_FILENO,
        .failed_status = EXIT_TRACKER_FAILED,
        .not_executable_status = EXIT_NOT_EXECUTABLE,
        .not_found_status = EXIT_NOT_FOUND,
    };
    const char *text = arguments_value(arguments, OPTION_CMD);
    struct gput_error error;
    char **argv;
    if (!arguments_have(arguments, OPTION_OUTPUT_FOLDER) || !text == !arguments->n_operands) {
        error_set(&error, GPUT_ERROR_INVALID,
            "A folder and one command are needed: gpu-tracker energy record --output-folder=DIR "
            "--cmd=\"COMMAND\"");
        message_error(&error);
        return EXIT_USAGE;
    }
    if (!text)
        return track_command(arguments, arguments->operands, &style);
    if (split_command(text, &argv, &error) != GPUT_OK) {
        message_error(&error);
        return EXIT_TRACKER_FAILED;
    }
    int status = track_command(arguments, argv, &style);
    words_free(argv);
    return status;
}

/* ---- reading ---- */

/* Loads the recording, and reads the window of time that is asked for. */
static int open_recording(const struct arguments *arguments,
    struct gput_energy_recording **recording, struct gput_energy_window *window,
    struct gput_error *error)
{
    TRY(gput_energy_recording_load(arguments->operands[0], recording, error));
    if (gput_energy_recording_warning(*recording))
        message_warning(NULL, gput_energy_recording_warning(*recording));
    int code = gput_energy_recording_parse_window(*recording,
        arguments_value(arguments, OPTION_WINDOW_START),
        arguments_value(arguments, OPTION_WINDOW_END), window, error);
    if (code != GPUT_OK)
        gput_energy_recording_destroy(*recording);
    return code;
}

/* Writes the summary of a recording. */
static int summarize(const struct arguments *arguments, struct gput_error *error)
{
    struct gput_energy_recording *recording;
    struct gput_energy_window window;
    enum gput_format format;
    char *text = NULL;
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    int code = report_read_format(
        arguments, OPTION_SUMMARY_FORMAT, output, GPUT_FORMAT_SUMMARY, &format, error);
    if (code == GPUT_OK)
        code = open_recording(arguments, &recording, &window, error);
    if (code != GPUT_OK)
        return code;
    code = gput_energy_recording_render(recording, &window, format, &text, NULL, error);
    if (code == GPUT_OK)
        code = report_write_text(output, STDOUT_FILENO, text, error);
    free(text);
    gput_energy_recording_destroy(recording);
    return code;
}

int cmd_energy_summary(const struct arguments *arguments)
{
    struct gput_error error;
    return message_exit_status(summarize(arguments, &error), &error, EXIT_FAILURE);
}

/* ---- curves ---- */

#define MAX_CURVES 64

/* Renders the curves of the metrics in a list with commas. */
static int render_curves(const struct gput_energy_recording *recording, char *list,
    const struct gput_energy_window *window, enum gput_format format, char **bytes, size_t *length,
    struct gput_error *error)
{
    const char *names[MAX_CURVES];
    size_t count = 0;
    char *rest = NULL;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        if (count == MAX_CURVES)
            return error_set(
                error, GPUT_ERROR_INVALID, "At most %d metrics are shown at once.", MAX_CURVES);
        names[count++] = name;
    }
    if (count == 0)
        names[count++] = list; /* none: which there are is said */
    return gput_energy_recording_render_curves(
        recording, names, count, window, format, bytes, length, error);
}

/* Writes the curves of a recording. */
static int show_curves(const struct arguments *arguments, struct gput_error *error)
{
    struct gput_energy_recording *recording;
    struct gput_energy_window window;
    enum gput_format format;
    const char *output = arguments_value(arguments, OPTION_CURVE_OUTPUT);
    char *bytes = NULL;
    size_t length = 0;
    TRY(report_read_format(
        arguments, OPTION_CURVE_FORMAT, output, GPUT_FORMAT_TEXT, &format, error));
    TRY(open_recording(arguments, &recording, &window, error));
    int code =
        render_curves(recording, arguments->operands[1], &window, format, &bytes, &length, error);
    if (code == GPUT_OK)
        code = report_write_bytes(output, STDOUT_FILENO, bytes, length, error);
    free(bytes);
    gput_energy_recording_destroy(recording);
    return code;
}

int cmd_energy_curve(const struct arguments *arguments)
{
    struct gput_error error;
    return message_exit_status(show_curves(arguments, &error), &error, EXIT_FAILURE);
}
