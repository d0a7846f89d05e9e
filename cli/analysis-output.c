#include "analysis-output.h"

#include "message.h"
#include "report.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int analysis_write(const struct arguments *arguments, enum gput_format format, const char *bytes,
    size_t length, struct gput_error *error)
{
    const char *path = arguments_value(arguments, OPTION_OUTPUT);
    bool to_file = path && strcmp(path, "-") != 0;
    int code = report_write_bytes(path, STDOUT_FILENO, bytes, length, error);
    if (code == GPUT_OK && !to_file && format != GPUT_PICKLE && length > 0 &&
        bytes[length - 1] != '\n')
        code = report_write_text(NULL, STDOUT_FILENO, "\n", error);
    return code;
}

void analysis_show_progress(void *user, double done)
{
    int *shown = user;
    int percent = (int)(done * 100);
    if (percent == *shown || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\rReading: %3d %%", percent);
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
