#include "analysis-output.h"

#include "message.h"

#include <gputracker/file.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int analysis_write(const struct arguments *arguments, enum gput_format format, const char *bytes,
    size_t length, struct gput_error *error)
{
    const char *path = arguments_value(arguments, OPTION_OUTPUT);
    if (path && strcmp(path, "-") != 0)
        return gput_file_write(path, bytes, length, error);
    fwrite(bytes, 1, length, stdout);
    if (format != GPUT_PICKLE && length > 0 && bytes[length - 1] != '\n')
        putchar('\n');
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail(error, GPUT_ERROR_IO, "Cannot write to the standard output.");
    return GPUT_OK;
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
