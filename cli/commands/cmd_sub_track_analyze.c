/* gpu-tracker sub-track analyze: statistics of a session and its code blocks. */
#include "base/error.h"
#include "common/message.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "track/report.h"

#include <gputracker/analysis.h>

#include <stdlib.h>

static int read_by(const struct arguments *arguments, struct gput_analysis_options *options,
    struct gput_error *error)
{
    static const struct {
        enum gput_split split;
        enum gput_grouping grouping;
    } choices[] = {{GPUT_SPLIT_PROCESS, 0}, {GPUT_SPLIT_THREAD, 0}, {0, GPUT_GROUP_SOURCE},
        {0, GPUT_GROUP_DOMAIN}, {0, GPUT_GROUP_CATEGORY}, {GPUT_SPLIT_RANK, 0}};
    int choice = -1, code = arguments_read_choice(arguments, OPTION_BY, "part", &choice, error);
    if (code == GPUT_OK && choice >= 0) {
        options->split = choices[choice].split;
        options->grouping = choices[choice].grouping;
    }
    return code;
}

static int analyze(const struct arguments *arguments, struct gput_error *error)
{
    int shown = 0;
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    enum gput_format format;
    struct gput_analysis_options options = gput_analysis_options_default();
    options.tracking_file = arguments_value(arguments, OPTION_ANALYZED_FILE);
    options.sub_tracking_file = arguments_value(arguments, OPTION_SUB_TRACKING_FILE);
    options.details = arguments_have(arguments, OPTION_DETAILS);
    options.open_calls = arguments_have(arguments, OPTION_OPEN_CALLS);
    options.warn = analysis_warn;
    options.progress = analysis_show_progress;
    options.user = &shown;
    int code = read_by(arguments, &options, error);
    if (code == GPUT_OK)
        code = arguments_read_cores(arguments, &options.cores, error);
    if (code == GPUT_OK)
        code = report_read_format(arguments, OPTION_ANALYSIS_FORMAT, output,
            analysis_usual_format(arguments), &format, error);
    if (code == GPUT_OK)
        code = report_check_output(output, error);
    if (code != GPUT_OK)
        return code;

    struct gput_analysis *analysis;
    code = gput_analysis_create(&options, &analysis, error);
    analysis_end_progress(&shown);
    if (code != GPUT_OK)
        return code;
    char *bytes = NULL;
    size_t length;
    struct gput_summary_options layout = analysis_summary_options(arguments);
    code = format == GPUT_FORMAT_SUMMARY
               ? gput_analysis_summarize(analysis, &layout, &bytes, &length, error)
               : gput_analysis_render(
                     analysis, analysis_rendered_format(format), &bytes, &length, error);
    if (code == GPUT_OK)
        code = analysis_write(arguments, "analysis", format, bytes, length, error);
    free(bytes);
    gput_analysis_destroy(analysis);
    return code;
}

int cmd_sub_track_analyze(const struct arguments *arguments)
{
    struct gput_error error;
    if (!arguments_have(arguments, OPTION_ANALYZED_FILE)) {
        error_set(&error, GPUT_ERROR_INVALID,
            "A tracking file is needed. Usage: gpu-tracker sub-track analyze --tf=<tracking-file> "
            "--stf=<sub-track-file>");
        message_error(&error);
        return EXIT_USAGE;
    }
    return message_exit_status(analyze(arguments, &error), &error, EXIT_FAILURE);
}
