/*
 * Events that began and wait for their end, a stack for each thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct begun_event {
    int64_t pid;
    int64_t tid;
    int64_t start_ns;
    /* Owned by whoever holds the event: begun_event_finish(). */
    char *name;
    char *category; /* NULL: none, or of no use to the reader */
    char *args;     /* the same: an object, with JSON_PADDING zeroes after it */
};

void begun_event_finish(struct begun_event *event);

struct begun_events {
    struct begun_event *events; /* the latest last */
    size_t count;
    uint64_t given_up; /* begun, and never ended */
};

/* An empty set is all zeroes. */

/* Takes `event` and its texts over. False without memory, or without a name. Broken files alone
 * have more than MAX_BEGUN at once: then the oldest is given up. */
bool begun_events_push(struct begun_events *begun, const struct begun_event *event);

/* Takes out the latest of a thread, texts and all; false when there is none. */
bool begun_events_pop(
    struct begun_events *begun, int64_t pid, int64_t tid, struct begun_event *event);

void begun_events_finish(struct begun_events *begun);
