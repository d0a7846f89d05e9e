#include "common/message.h"

#include "base/screen.h"
#include "common/screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names of files may hold anything: none reaches a terminal as an escape sequence, or begins a line
 * as those of gpu-tracker do. */
size_t message_compose(enum message_kind kind, const char *text, char line[MESSAGE_LINE_SIZE])
{
    static const char *const prefixes[] = {[MESSAGE_ERROR] = "gpu-tracker: ",
        [MESSAGE_NOTE] = "gpu-tracker: ",
        [MESSAGE_WARNING] = "gpu-tracker: warning: "};
    int length = snprintf(line, MESSAGE_LINE_SIZE - 1, "%s%s", prefixes[kind], text);
    size_t used = length < 0 ? 0 : (size_t)length;
    if (used > MESSAGE_LINE_SIZE - 2)
        used = MESSAGE_LINE_SIZE - 2;
    used = screen_clean(line, used);
    for (char *end = line; (end = memchr(end, '\n', (size_t)(line + used - end)));)
        *end = '?';
    line[used++] = '\n';
    return used;
}

/* One write() a line, so that lines of several programs on one terminal do not mix. A standard
 * error that is closed or broken is not worth failing for. */
static void print_line(enum message_kind kind, const char *text, int stop_fd)
{
    char line[MESSAGE_LINE_SIZE];
    size_t length = message_compose(kind, text, line);
    screen_write(STDERR_FILENO, line, length, stop_fd);
}

void message_error(const struct gput_error *error)
{
    print_line(MESSAGE_ERROR, error->message, SCREEN_WAITS);
}

int message_exit_status(int code, const struct gput_error *error, int failed)
{
    if (code == GPUT_OK)
        return EXIT_SUCCESS;
    message_error(error);
    return failed;
}

void message_error_until(const struct gput_error *error, int stop_fd)
{
    print_line(MESSAGE_ERROR, error->message, stop_fd);
}

void message_note(const char *text)
{
    print_line(MESSAGE_NOTE, text, SCREEN_WAITS);
}

void message_warning(void *user, const char *text)
{
    (void)user;
    print_line(MESSAGE_WARNING, text, SCREEN_WAITS);
}

void message_note_until(const char *text, int stop_fd)
{
    print_line(MESSAGE_NOTE, text, stop_fd);
}

void message_warning_until(const char *text, int stop_fd)
{
    print_line(MESSAGE_WARNING, text, stop_fd);
}
