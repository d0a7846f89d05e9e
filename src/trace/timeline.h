/*
 * A timeline: events of any number of sources, put in order and written as one Chrome trace that
 * Perfetto and chrome://tracing open.
 */
#ifndef TRACE_TIMELINE_H
#define TRACE_TIMELINE_H

#include "base/error.h"
#include "trace/event_sorter.h"
#include "trace/timeline_tracks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text that stands inside quotes, or a whole value, of JSON: valid, on one line. */
struct json_text {
    const char *text;
    size_t length;
};

struct timeline_event {
    char type;       /* 'X', 'i', 'C', 's', 't', 'f', 'b', 'e', 'n' */
    char scope;      /* of an instant: 't', 'p', 'g'; 0: none */
    char bind_point; /* of a flow: 'e'; 0: none */
    bool has_id;
    int64_t id;
    int64_t start_ns;    /* since the epoch */
    int64_t duration_ns; /* 0 but for 'X' */
    uint32_t thread;     /* timeline_thread() */
    struct json_text name;
    struct json_text category; /* may be empty */
    struct json_text args;     /* an object; may be empty */
};

struct timeline {
    struct timeline_tracks tracks;
    struct event_sorter *sorter;
    int64_t start_ns; /* events that end before this are left out; INT64_MIN: none */
    int64_t end_ns;   /* events that begin behind this are left out; INT64_MAX: none */
    uint64_t slices, counters, others;
    uint64_t left_out;
    int64_t first_ns; /* of what was added */
    int64_t last_ns;  /* its latest end */
};

/* `folder` is for temporary files. */
int timeline_init(
    struct timeline *timeline, const char *folder, size_t memory_bytes, struct gput_error *error);

/* Adds an event that lies in the timeline's stretch of time. */
int timeline_add(
    struct timeline *timeline, const struct timeline_event *event, struct gput_error *error);

/* Writes the file, whole or not at all. */
int timeline_write(struct timeline *timeline, const char *path, struct gput_error *error);

void timeline_finish(struct timeline *timeline);

#endif
