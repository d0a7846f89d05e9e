/*
 * Events that began and wait for their end, a stack for each thread.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pending_event {
    int64_t pid;
    int64_t tid;
    int64_t start_ns;
    /* Owned by the holder of the event, who frees it by pending_event_finish(). */
    char *name;
    char *category; /* NULL: none, or not needed by the reader */
    char *args;     /* likewise; an object, with JSON_PADDING zeroes after it */
};

void pending_event_finish(struct pending_event *event);

/* Maximum number of names of events that never ended. */
#define PENDING_MAX_NAMED 5

struct pending_events {
    struct pending_event *events; /* the latest last */
    size_t count;
    uint64_t dropped; /* events that never ended */
    struct str names; /* names of the first ones of these */
};

/* An empty set is all zeroes. */

/* Adds `event` and takes ownership of its texts. Returns false without memory, or without a name.
 * Only broken files have more than MAX_PENDING at once; the oldest is then dropped. */
bool pending_events_push(struct pending_events *pending, const struct pending_event *event);

/* Removes the latest event of a thread with that name ("": any) and passes it and its texts to the
 * caller. Returns false when there is none. Events that began inside it and did not end are
 * dropped. */
bool pending_events_pop(struct pending_events *pending, int64_t pid, int64_t tid, const char *name,
    struct pending_event *event);

/* Drops all remaining events. */
void pending_events_drop(struct pending_events *pending);

void pending_events_finish(struct pending_events *pending);
