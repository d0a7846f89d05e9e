/*
 * Messages on standard error that wait while it does not accept them, or while a view has the
 * terminal: sampling does not wait for a reader. Any thread.
 */
#pragma once

#include "common/message.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct held_messages {
    _Atomic bool holds_lines; /* a view has the terminal */
    pthread_mutex_t lock;     /* of the members below */
    char lines[8192];
    size_t length;
    unsigned dropped; /* lines that did not fit here either */
};

void held_messages_init(struct held_messages *messages);
void held_messages_finish(struct held_messages *messages); /* after held_messages_print() */

/* Prints a message, or holds it. Never waits. */
void held_messages_say(struct held_messages *messages, enum message_kind kind, const char *text);

/* Prints the lines held back, when nothing is tracked any more; waits no longer than until
 * `stop_fd` can be read. */
void held_messages_print(struct held_messages *messages, int stop_fd);
