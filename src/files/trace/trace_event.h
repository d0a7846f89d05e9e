/*
 * One event of a trace in the Chrome form, as it stands in the file.
 */
#pragma once

#include "base/json_scan.h"

enum trace_field {
    TRACE_OTHER, /* a member that is not asked for */
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
    TRACE_ARGS_STEP, /* in the arguments, unless it is an array or object */
    TRACE_ARGS_PID,
    TRACE_ARGS_THREAD,
    TRACE_FIELD_COUNT
};

/*
 * Values that are missing have the kind JSON_NONE; of members with the same key the last counts.
 * All slices lie in the text that was scanned.
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
    const char *text; /* from its opening brace on */
    size_t length;    /* of the whole event */
    size_t members;   /* 0: an empty object, as some writers close their list with */
    char type; /* 'X', 'B', 'E', 'i', 'C', 'M', 's' …; 0 when missing or no single letter */
    bool has_start;
    bool has_duration;
    int64_t start_ns; /* not yet moved by the file's time base */
    int64_t duration_ns;
};

/* Scans the event whose brace stands at `*at`; moves `*at` after it. */
enum json_status trace_event_scan(const char **at, const char *end, struct trace_event *event);

/* Which field a member with that key is; of the event, or of its arguments. */
enum trace_field trace_field_of(const struct json_value *key);
enum trace_field trace_args_field_of(const struct json_value *key);

/* Fills in what follows from the values of an event that reaches from `text` to `end`. */
void trace_event_complete(struct trace_event *event, const char *text, const char *end);
