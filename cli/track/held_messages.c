#include "track/held_messages.h"

#include "common/screen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
