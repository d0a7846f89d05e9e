/* gpu-tracker show: the results that a session kept while it ran. */
#include "arguments.h"
#include "message.h"
#include "report.h"
#include "screen.h"
#include "tracking.h"

#include <gputracker/gputracker.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What the figures leave out, as one more source in the report, and said next to it. */
static void add_note(struct gput_results *results)
{
    message_warning(NULL,
        "These are the results so far of a session that did not come to its end: it "
        "was killed, or still runs.");
    if (results->n_sources == GPUT_MAX_SOURCES)
        return;
    struct gput_source *note = &results->sources[results->n_sources++];
    note->state = GPUT_SOURCE_UNAVAILABLE;
    snprintf(note->name, sizeof note->name, "after_last_sample");
    snprintf(note->reason, sizeof note->reason,
        "the session did not come to its end (it was killed, or still runs): what was used after "
        "its last sample is unknown");
}

static int show(const struct arguments *arguments, struct gput_error *error)
{
    enum gput_format format;
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    struct gput_results results;
    int code = report_read_format(
        arguments, OPTION_TRACKING_FORMAT, report_usual_format(output), &format, error);
    if (code == GPUT_OK)
        code = gput_results_load(arguments->operands[0], &results, error);
    if (code == GPUT_OK)
        code = tracking_read_units(arguments, &results.static_data.ram_unit,
            &results.static_data.gpu_ram_unit, &results.static_data.time_unit, error);
    if (code == GPUT_OK)
        code = report_check_output(output, error);
    if (code != GPUT_OK)
        return code;
    add_note(&results);
    struct report report = {
        .format = format, .path = output, .screen_fd = STDOUT_FILENO, .stop_fd = SCREEN_WAITS};
    return report_write(&report, &results, NULL, error);
}

int cmd_show(const struct arguments *arguments)
{
    struct gput_error error;
    if (show(arguments, &error) == GPUT_OK)
        return EXIT_SUCCESS;
    message_error(&error);
    return EXIT_FAILURE;
}
