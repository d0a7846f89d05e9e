/*
 * How a merged timeline is marked as one, with the trace that each of its processes came from: in
 * the arguments of the processes' names, where viewers pass over it.
 */
#pragma once

#include "base/str.h"
#include "files/trace/trace_event.h"

#include <stdbool.h>
#include <stdint.h>

struct merged_mark {
    int64_t trace;          /* number of the trace in this timeline; -1: it came from none */
    struct json_value name; /* of the trace; a string */
    int64_t rank;           /* -1: not known */
    int64_t world_size;     /* -1: not known */
};

/* Appends the mark of a process, of no trace when `name` is NULL: `, "merged_by": "gpu-tracker"…`
 */
void merged_mark_append(
    struct str *out, int64_t trace, const char *name, int64_t rank, int64_t world_size);

/* False where an event is not a name of a process with a mark. */
bool merged_mark_read(const struct trace_event *event, struct merged_mark *mark);

/* Whether the file begins as a merged timeline does; what cannot be read does not. */
bool merged_mark_is_in(const char *path);
