/*
 * The mark by which a merged timeline is recognized, with the trace that each of its processes came
 * from. It is in the arguments of the processes' names, which viewers ignore.
 */
#pragma once

#include "base/str.h"
#include "files/trace/trace_event.h"

#include <stdbool.h>
#include <stdint.h>

struct merged_mark {
    int64_t trace;          /* number of the trace in this timeline; -1: of no trace */
    struct json_value name; /* name of the trace; a string */
    int64_t rank;           /* -1: not known */
    int64_t world_size;     /* -1: not known */
};

/* Appends the mark of a process: `, "merged_by": "gpu-tracker"…`. `name` NULL: the process is of no
 * trace. */
void merged_mark_append(
    struct str *out, int64_t trace, const char *name, int64_t rank, int64_t world_size);

/* Reads the mark of an event. Returns false if the event is not the name of a process with a
 * mark. */
bool merged_mark_read(const struct trace_event *event, struct merged_mark *mark);

/* Whether the file begins as a merged timeline does; false if it cannot be read. */
bool merged_mark_is_in(const char *path);
