/* gpu-tracker show: the results that a session kept while it ran. */
#include "arguments.h"
#include "message.h"
#include "report.h"
#include "tracking.h"

#include <gputracker/gputracker.h>

#include <stdlib.h>
#include <unistd.h>

static int show(const struct arguments *arguments, struct gput_error *error)
{
    enum gput_format format;
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    struct gput_results results;
    int code = report_read_format(arguments, OPTION_TRACKING_FORMAT, &format, error);
    if (code == GPUT_OK)
        code = gput_results_load(arguments->operands[0], &results, error);
    if (code == GPUT_OK)
        code = tracking_read_units(arguments, &results.static_data.ram_unit,
            &results.static_data.gpu_ram_unit, &results.static_data.time_unit, error);
    if (code == GPUT_OK)
        code = report_write(&results, NULL, format, output, STDOUT_FILENO, error);
    return code;
}

int cmd_show(const struct arguments *arguments)
{
    struct gput_error error;
    if (show(arguments, &error) == GPUT_OK)
        return EXIT_SUCCESS;
    message_error(&error);
    return EXIT_FAILURE;
}
