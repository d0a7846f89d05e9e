/* gpu-tracker show: the results that a session kept while it ran. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "common/message.h"
#include "common/screen.h"
#include "options/arguments.h"
#include "output/named_sessions.h"
#include "output/output_files.h"
#include "output/pickles.h"
#include "track/report.h"
#include "track/tracking.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the figures leave out, as one more source in the report, and said next to it. */
static void add_note(struct gput_results *results)
{
    message_warning(NULL, "These are the results so far of a session that did not finish: it was "
                          "killed, or still runs.");
    struct gput_error error;
    if (gput_results_add_source(results, "after_last_sample", GPUT_SOURCE_UNAVAILABLE,
            "the session did not finish (it was killed, or still runs): what was used after its "
            "last sample is unknown",
            &error) != GPUT_OK)
        message_warning(NULL, error.message);
}

/* Reads the file; of one that has the name of a tracking file it says what reads those. */
static int load(const char *path, struct gput_results **results, struct gput_error *error)
{
    struct gput_error reason;
    int code = gput_results_load(path, results, &reason);
    if (code == GPUT_OK)
        return code;
    bool is_samples = code == GPUT_ERROR_FORMAT &&
                      (text_ends_with(path, ".csv") || text_ends_with(path, ".sqlite"));
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return error_set(error, code,
            "%.400s is a folder: name a file. gpu-tracker job %.400s shows a folder", path, path);
    *error = reason;
    return is_samples ? error_set(error, code, "%.500s A tracking file: gpu-tracker report %.400s",
                            reason.message, path)
                      : code;
}

/* The units of the file, or those that are given here. */
static int read_units(
    const struct arguments *arguments, struct gput_results *results, struct gput_error *error)
{
    struct gput_session_options units = gput_session_options_default();
    units.ram_unit = gput_results_ram_unit(results);
    units.gpu_ram_unit = gput_results_gpu_ram_unit(results);
    units.time_unit = gput_results_time_unit(results);
    TRY(tracking_set(arguments, &units, error));
    gput_results_set_units(results, units.ram_unit, units.gpu_ram_unit, units.time_unit);
    return GPUT_OK;
}

/* Reads a file of results, the newest where none is named, and writes its report. */
static int show(const struct arguments *arguments, struct gput_error *error)
{
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    struct report report = {.path = output,
        .screen_fd = STDOUT_FILENO,
        .stop_fd = SCREEN_WAITS,
        .units = report_units_asked_for(arguments)};
    struct gput_results *results = NULL;
    struct pickle_copy copy = {0};
    CLEANUP_FREE char *newest = NULL;
    const char *path = arguments->operands[0];
    int code = report_read_format(arguments, OPTION_TRACKING_FORMAT, output,
        report_usual_format(output), &report.format, error);
    if (code == GPUT_OK && !path) {
        code = newest_file_of_results(&newest, error);
        path = newest;
        if (code == GPUT_OK)
            code = output_files_keep(output, newest, "the file that is shown", error);
    }
    if (code == GPUT_OK)
        code = pickle_copy_of_usage(&copy, &path, error);
    if (code == GPUT_OK)
        code = load(path, &results, error);
    if (code == GPUT_OK)
        code = read_units(arguments, results, error);
    if (code == GPUT_OK)
        code = report_check_output(output, error);
    if (code == GPUT_OK) {
        if (!gput_results_text(results, "identity.end")[0])
            add_note(results);
        code = report_write(&report, results, NULL, error);
    }
    gput_results_destroy(results);
    pickle_copy_finish(&copy);
    return code;
}

int cmd_show(const struct arguments *arguments)
{
    struct gput_error error;
    return message_exit_status(show(arguments, &error), &error, EXIT_FAILURE);
}
