/*
 * Reads a trace, which may be a merged timeline: its processes are then of several traces, each
 * with a rank of its own.
 */
#pragma once

#include "analysis/training/pytorch/kineto_ranks.h"
#include "base/error.h"
#include "base/names.h"
#include "files/trace/event_stream.h"
#include "files/trace/read_report.h"

#include <stdbool.h>
#include <stdint.h>

struct kineto_process {
    uint32_t rank;    /* index of its rank */
    bool is_ours;     /* written by gpu-tracker: samples, code blocks */
    char *name;       /* NULL: not known; owned */
    uint64_t unnamed; /* number of its events without a category that no view understands */
};

/* A file while it is read, merged or not. */
struct kineto_merged {
    struct kineto_ranks *ranks;
    const struct event_stream *stream;
    uint32_t file;                    /* index of its rank; of a merged file, that of its first
                                         trace */
    uint32_t others;                  /* index in `ranks` of its second trace */
    bool is_merged;                   /* one of its processes has the mark of a merged timeline */
    struct names pids;                /* pids of the processes seen, as spelled */
    struct kineto_process *processes; /* by index of the pid; owned */
    uint32_t process_count;
    uint64_t unusable; /* number of events that cannot be used */
};

/* Called for each event of type 'X'. Counts events that it cannot use in `file`. */
typedef int kineto_visitor(void *user, struct kineto_merged *file, const struct trace_event *event,
    struct gput_error *error);

/* Reads the trace of a rank, adds the further ranks of a merged one, and warns of damage. Errors:
 * those of event_stream.h and of `visit`. */
int kineto_merged_read(struct kineto_ranks *ranks, uint32_t number, kineto_visitor *visit,
    void *user, struct read_report *report, struct gput_error *error);

/* Returns the index of the rank of an event. */
uint32_t kineto_merged_rank(const struct kineto_merged *merged, const struct trace_event *event);

/* Counts an event that no view understands. Returns false without memory. */
bool kineto_merged_count_unknown(struct kineto_merged *merged, const struct trace_event *event);
