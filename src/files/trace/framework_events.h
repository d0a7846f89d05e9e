/*
 * The events of a training framework, as SageMaker's profiler and TensorFlow record them: complete
 * events with absolute times, their phase (the process name), node and step.
 */
#pragma once

#include "base/error.h"
#include "files/trace/event_stream.h"
#include "files/trace/read_report.h"
#include "files/trace/trace_root.h"

#include <stdint.h>

struct framework_event {
    int64_t start_ns; /* since the epoch, if the file has a time base */
    int64_t end_ns;
    const char *name; /* not terminated; valid until the visitor returns */
    size_t name_length;
    const char *phase; /* terminated */
    const char *node;  /* terminated */
    struct json_value args;
    int64_t pid;  /* args.pid, else the event's */
    int64_t tid;  /* args.thread_id, else the event's, else made from node and phase */
    int64_t step; /* args.step_num; -1 when missing */
    /* The event as written; NULL when it is made of a begin and an end. Valid until the visitor
     * returns. */
    const struct trace_event *written;
    const struct event_stream *stream;
};

/* Called for each event. Any result but GPUT_OK ends the reading, which returns it. */
typedef int framework_visitor(
    void *user, const struct framework_event *event, struct gput_error *error);

/*
 * Reads the events of one file. Passes complete events, and pairs of begin and end (matched by
 * process and thread), to `visit`; counts events of other types in a warning. Adds to `report`.
 */
int framework_events_read(const struct trace_file *file, framework_visitor *visit, void *user,
    struct read_report *report, struct gput_error *error);

/* Returns a number for a thread that has none: the same in every run, at most 31 bits. */
int64_t framework_thread_number(const char *node, const char *phase);
