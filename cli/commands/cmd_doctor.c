/* gpu-tracker doctor: every source of figures, available or not, and how to open it. */
#include "base/error.h"
#include "common/environment.h"
#include "common/message.h"
#include "common/screen.h"
#include "help/help.h"
#include "options/arguments.h"
#include "output/fix_script.h"
#include "track/report.h"

#include <gputracker/doctor.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Replaces findings for people by the same in lines that a terminal shows whole. */
static int wrap(char **text, size_t *length, struct gput_error *error)
{
    char *wrapped;
    FILE *file = open_memstream(&wrapped, length);
    if (!file)
        return error_memory(error);
    wrap_columns(file, *text, (int)screen_columns(STDOUT_FILENO, 80));
    bool failed = fclose(file) != 0;
    free(*text);
    *text = wrapped;
    return failed ? error_memory(error) : GPUT_OK;
}

static int examine(const struct arguments *arguments, struct gput_error *error)
{
    struct gput_session_options options = gput_session_options_default();
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    enum gput_format format;
    struct gput_doctor *doctor = NULL;
    char *text = NULL;
    size_t length;
    options.procfs_root = environment_path("GPUT_PROCFS");
    options.sysfs_root = environment_path("GPUT_SYSFS");
    options.nvml_path = environment_path("GPUT_NVML");
    options.gpu_brand = arguments_value(arguments, OPTION_GPU_BRAND);
    int code =
        report_read_format(arguments, OPTION_FORMAT, output, GPUT_FORMAT_TEXT, &format, error);
    if (code == GPUT_OK)
        code = report_check_output(output, error);
    if (code == GPUT_OK)
        code = gput_doctor_create(&options, &doctor, error);
    if (code == GPUT_OK && arguments_have(arguments, OPTION_FIX_SCRIPT)) {
        code = fix_script_write(doctor, &text, error);
        length = code == GPUT_OK ? strlen(text) : 0;
    } else if (code == GPUT_OK) {
        code = gput_doctor_render(doctor, format, &text, &length, error);
        if (code == GPUT_OK && format == GPUT_FORMAT_TEXT && !report_is_file(output))
            code = wrap(&text, &length, error);
    }
    if (code == GPUT_OK)
        code = report_write_bytes(output, STDOUT_FILENO, text, length, error);
    free(text);
    gput_doctor_destroy(doctor);
    return code;
}

int cmd_doctor(const struct arguments *arguments)
{
    struct gput_error error;
    return message_exit_status(examine(arguments, &error), &error, EXIT_FAILURE);
}
