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
    /* Owned by whoever holds the event: pending_event_finish(). */
    char *name;
    char *category; /* NULL: none, or of no use to the reader */
    char *args;     /* the same: an object, with JSON_PADDING zeroes after it */
};

void pending_event_finish(struct pending_event *event);

/* How many of those that never ended are named. */
#define PENDING_MAX_NAMED 5

struct pending_events {
    struct pending_event *events; /* the latest last */
    size_t count;
    uint64_t dropped; /* they never ended */
    struct str names; /* of the first ones of these */
};

/* An empty set is all zeroes. */

/* Takes `event` and its texts over. False without memory, or without a name. Broken files alone
 * have more than MAX_PENDING at once: then the oldest is dropped. */
bool pending_events_push(struct pending_events *pending, const struct pending_event *event);

/* Takes out the latest of a thread with that name (""; any), texts and all; false when there is
 * none. What began in it and did not end is dropped. */
bool pending_events_pop(struct pending_events *pending, int64_t pid, int64_t tid, const char *name,
    struct pending_event *event);

/* Drops all that is left. */
void pending_events_drop(struct pending_events *pending);

void pending_events_finish(struct pending_events *pending);
