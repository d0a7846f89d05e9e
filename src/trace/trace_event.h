/*
 * One event of a trace in the Chrome form, as it stands in the file.
 */
#ifndef TRACE_TRACE_EVENT_H
#define TRACE_TRACE_EVENT_H

#include "trace/json_scan.h"

/* Fields that are missing have the kind JSON_NONE. All slices lie in the text that was scanned. */
struct trace_event {
    char type; /* "ph": 'X', 'B', 'E', 'i', 'C', 'M', 's' …; 0 when missing or no single letter */
    bool has_start;
    bool has_duration;
    int64_t start_ns;    /* "ts", not yet moved by the file's time base */
    int64_t duration_ns; /* "dur" */
    struct json_value name;
    struct json_value category;
    struct json_value pid;
    struct json_value tid;
    struct json_value id;
    struct json_value scope;      /* "s" of an instant */
    struct json_value bind_point; /* "bp" of a flow */
    struct json_value args;
    size_t members; /* 0: an empty object, as some writers close their list with */
};

/* Scans the event whose brace stands at `*at`; moves `*at` behind it. */
enum json_status trace_event_scan(const char **at, const char *end, struct trace_event *event);

#endif
