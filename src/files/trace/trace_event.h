/*
 * One event of a trace in Chrome's format, as it is in the file.
 */
#pragma once

#include "base/json_scan.h"

enum trace_field {
    TRACE_OTHER, /* a member that is not needed */
    TRACE_TYPE,
    TRACE_START,
    TRACE_DURATION,
    TRACE_NAME,
    TRACE_CATEGORY,
    TRACE_PID,
    TRACE_TID,
    TRACE_ID,
    TRACE_SCOPE,
    TRACE_BIND_POINT,
    TRACE_ARGS,
    TRACE_ARGS_STEP, /* member of the arguments, unless it is an array or object */
    TRACE_ARGS_PID,
    TRACE_ARGS_THREAD,
    TRACE_FIELD_COUNT
};

/*
 * A missing value has the kind JSON_NONE. If a key is repeated, the last value counts. All slices
 * point into the scanned text.
 */
struct trace_event {
    union {
        struct json_value values[TRACE_FIELD_COUNT]; /* by enum trace_field */
        struct {
            struct json_value other;
            struct json_value type_text; /* "ph" */
            struct json_value start;     /* "ts", microseconds */
            struct json_value duration;  /* "dur" */
            struct json_value name;
            struct json_value category; /* "cat" */
            struct json_value pid;
            struct json_value tid;
            struct json_value id;
            struct json_value scope;      /* "s" of an instant */
            struct json_value bind_point; /* "bp" of a flow */
            struct json_value args;
            struct json_value step_num; /* in the args, as SageMaker's profiler writes them */
            struct json_value args_pid;
            struct json_value args_thread; /* "thread_id" */
        };
    };
    const char *text; /* the text from its opening brace */
    size_t length;    /* length of the whole event */
    size_t members;   /* number of members; 0: an empty object, with which some writers close their
                         list */
    char type; /* 'X', 'B', 'E', 'i', 'C', 'M', 's' …; 0 when missing or longer than a letter */
    bool has_start;
    bool has_duration;
    int64_t start_ns; /* without the file's time base */
    int64_t duration_ns;
};

/* Scans the event whose brace is at `*at`, and moves `*at` after it. */
enum json_status trace_event_scan(const char **at, const char *end, struct trace_event *event);

/* Return the field of a member with that key, of the event or of its arguments. */
enum trace_field trace_field_of(const struct json_value *key);
enum trace_field trace_args_field_of(const struct json_value *key);

/* Sets the members that follow from the values of an event whose text is from `text` to `end`. */
void trace_event_complete(struct trace_event *event, const char *text, const char *end);
