#include "common/message.h"

#include "base/screen.h"
#include "common/screen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names of files may hold anything: none reaches a terminal as an escape sequence, or begins a line
 * as those of gpu-tracker do. */
static size_t message_compose(
    enum message_kind kind, const char *text, char line[MESSAGE_LINE_SIZE])
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

/* ---- Notes ---- */

void notes_add(struct notes *notes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (notes->count < NOTES_MAX && vasprintf(&notes->lines[notes->count], format, arguments) >= 0)
        notes->count++;
    else
        notes->lines[notes->count] = NULL;
    va_end(arguments);
}

void notes_finish(struct notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        free(notes->lines[i]);
    *notes = (struct notes){0};
}

/* ---- Held messages ---- */

void held_messages_init(struct held_messages *messages)
{
    *messages = (struct held_messages){.length = 0};
    pthread_mutex_init(&messages->lock, NULL);
}

void held_messages_finish(struct held_messages *messages)
{
    pthread_mutex_destroy(&messages->lock);
}

void held_messages_say(struct held_messages *messages, enum message_kind kind, const char *text)
{
    char line[MESSAGE_LINE_SIZE];
    size_t length = message_compose(kind, text, line);
    pthread_mutex_lock(&messages->lock);
    bool is_printed = messages->length == 0 && !messages->holds_lines &&
                      screen_write(STDERR_FILENO, line, length, SCREEN_NEVER_WAITS) != ECANCELED;
    if (!is_printed && length <= sizeof messages->lines - messages->length) {
        memcpy(messages->lines + messages->length, line, length);
        messages->length += length;
    } else if (!is_printed) {
        messages->dropped++;
    }
    pthread_mutex_unlock(&messages->lock);
}

void held_messages_print(struct held_messages *messages, int stop_fd)
{
    char line[MESSAGE_LINE_SIZE], text[96];
    pthread_mutex_lock(&messages->lock);
    screen_write(STDERR_FILENO, messages->lines, messages->length, stop_fd);
    messages->length = 0;
    if (messages->dropped > 0) {
        snprintf(text, sizeof text, "%u more warnings did not fit on standard error.",
            messages->dropped);
        screen_write(STDERR_FILENO, line, message_compose(MESSAGE_WARNING, text, line), stop_fd);
    }
    messages->dropped = 0;
    pthread_mutex_unlock(&messages->lock);
}
