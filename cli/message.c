#include "message.h"

#include <gputracker/screen.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int fail(struct gput_error *error, enum gput_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->code = code;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}

/* One write() a line, so that lines of several programs on one terminal do not mix. A standard
 * error that is closed or broken is not worth failing for. Names of files may hold anything: none
 * reaches a terminal as an escape sequence, or begins a line that looks like one of ours. */
static void print_line(const char *prefix, const char *text)
{
    char line[1024];
    int length = snprintf(line, sizeof line - 1, "%s%s", prefix, text);
    if (length < 0)
        return;
    size_t used = (size_t)length < sizeof line - 2 ? (size_t)length : sizeof line - 2;
    used = gput_screen_text(line, used);
    for (char *end = line; (end = memchr(end, '\n', (size_t)(line + used - end)));)
        *end = '?';
    line[used++] = '\n';
    if (write(STDERR_FILENO, line, used) < 0)
        return;
}

void message_error(const struct gput_error *error)
{
    print_line("", error->message);
}

void message_note(const char *text)
{
    print_line("gpu-tracker: ", text);
}

void message_warning(void *user, const char *text)
{
    (void)user;
    print_line("gpu-tracker: warning: ", text);
}
