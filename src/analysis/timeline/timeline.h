/*
 * A timeline: events of any number of sources, sorted and written as one trace for Perfetto and
 * chrome://tracing.
 */
#pragma once

#include "analysis/timeline/event_sorter.h"
#include "analysis/timeline/timeline_tracks.h"
#include "base/error.h"
#include "files/trace/source_texts.h"
#include "files/trace/trace_clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The content of a JSON string, or a whole JSON value without NaN. */
struct json_text {
    const char *text;
    size_t length;
    uint8_t flags; /* JSON_NOT_ASCII: not known to be valid UTF-8 */
};

enum { TEXT_NAME, TEXT_CATEGORY, TEXT_ARGS, TEXT_COUNT };

/* The place of an event in its file, from which its texts can be read again. */
struct event_place {
    uint32_t file;    /* from source_texts_add(); SOURCE_NONE: in no file, the texts are copied */
    uint64_t at;      /* offset in the file */
    const char *text; /* the event; it contains all its texts */
    size_t length;
};

struct timeline_event {
    char type;       /* as in Chrome's format, except 'B', 'E', 'M' and 'I' */
    char scope;      /* scope of an instant: 't', 'p', 'g'; 0: none */
    char bind_point; /* of a flow: 'e'; 0: none */
    bool has_id;
    bool id_is_local; /* the id is local to the process, not global in the timeline */
    bool is_pair;     /* made of a begin and an end, and added after all events inside it */
    uint64_t id;
    uint32_t thread;     /* from timeline_thread() */
    int64_t start_ns;    /* since the epoch */
    int64_t duration_ns; /* 0 except for 'X' */
    union {
        struct json_text texts[TEXT_COUNT];
        struct {
            struct json_text name;
            struct json_text category; /* may be empty */
            struct json_text args;     /* an object; may be empty, and may have line breaks */
        };
    };
};

struct timeline {
    struct timeline_tracks tracks;
    struct event_sorter *sorter;
    struct source_texts *texts;
    int64_t start_ns; /* events that end before this are skipped; INT64_MIN: none */
    int64_t end_ns;   /* events that begin after this are skipped; INT64_MAX: none */
    uint64_t slices, counters, others;
    uint64_t left_out;
    struct trace_clock *clock; /* clock of the input that is being added; NULL: not checked */
    int64_t first_ns;          /* earliest start of the added events */
    int64_t last_ns;           /* latest end of the added events */
    /* Called with the progress of writing, from `progress_from` to 1. May be NULL. */
    void (*progress)(void *user, double done);
    void *user;
    double progress_from;
    unsigned cores; /* number of cores that may write */
};

/* An event that was removed from the sorter and not yet decoded. */
struct timeline_record {
    int64_t start_ns;
    int64_t duration_ns;
    uint32_t thread;
    char type;
    uint32_t length;      /* length of `bytes` */
    uint32_t text_length; /* approximate length of the event's text */
    const void *bytes;    /* aligned to 8; JSON_PADDING bytes after them can be read */
};

/* Makes an empty timeline. `folder` is for temporary files. */
int timeline_init(
    struct timeline *timeline, const char *folder, size_t memory_bytes, struct gput_error *error);

/* Converts seconds since the epoch, up to 2255, to whole microseconds in nanoseconds; doubles are
 * not more precise. */
int64_t timeline_ns_of_seconds(double seconds);

/* Adds a value of a counter, at a time in seconds since the epoch. `name` is not changed. */
int timeline_add_counter(struct timeline *timeline, uint32_t thread, const char *name,
    double seconds, double value, struct gput_error *error);

/* Adds an event if it is inside the timeline's interval. `place` may be NULL. */
int timeline_add(struct timeline *timeline, const struct timeline_event *event,
    const struct event_place *place, struct gput_error *error);

/*
 * Removes the next event, in the order of event_sorter.h; `*there` is false after the last. Its
 * texts are valid until the next call, and JSON_PADDING bytes after each can be read. Nothing can
 * be added after the first call.
 */
int timeline_next(
    struct timeline *timeline, struct timeline_event *event, bool *there, struct gput_error *error);

/* The same without its texts; `bytes` are valid until the next call. */
int timeline_take(struct timeline *timeline, struct timeline_record *record, bool *there,
    struct gput_error *error);

/* Decodes a record, with texts of the timeline's files. The event is valid as long as the record's
 * bytes, and until the next call with the same `texts`. */
int timeline_read(const struct timeline_record *record, struct source_texts *texts,
    struct timeline_event *event, struct gput_error *error);

/* Writes all events as a Chrome trace. The file appears complete or not at all. */
int timeline_write_json(struct timeline *timeline, const char *path, struct gput_error *error);

void timeline_finish(struct timeline *timeline);
