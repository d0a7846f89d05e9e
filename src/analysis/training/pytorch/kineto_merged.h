/*
 * A trace while it is read. The processes of a merged timeline are of several traces, each of which
 * is a rank of its own again.
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
    uint32_t rank;    /* number of its rank */
    bool is_ours;     /* gpu-tracker's own: samples, code blocks */
    char *name;       /* or NULL; owned */
    uint64_t unnamed; /* events that have no category and no view understands */
};

/* A file while it is read, merged or not. */
struct kineto_merged {
    struct kineto_ranks *ranks;
    const struct event_stream *stream;
    uint32_t file;                    /* number of its rank; of a merged one, of its first trace */
    uint32_t others;                  /* where its other traces stand in `ranks` */
    bool is_merged;                   /* a process said so */
    struct names pids;                /* of processes that were described, as they are spelled */
    struct kineto_process *processes; /* by number of the pid; owned */
    uint32_t process_count;
    uint64_t unusable; /* events that it cannot use */
};

/* Takes an event of type 'X', and counts what it cannot use. */
typedef int kineto_visitor(void *user, struct kineto_merged *file, const struct trace_event *event,
    struct gput_error *error);

/* Reads the trace of a rank, adds ranks of a merged one, and warns of damage. Errors: those of
 * event_stream.h and of `visit`. */
int kineto_merged_read(struct kineto_ranks *ranks, uint32_t number, kineto_visitor *visit,
    void *user, struct read_report *report, struct gput_error *error);

/* The number of the rank that an event is of. */
uint32_t kineto_merged_rank(const struct kineto_merged *merged, const struct trace_event *event);

/* Counts an event that no view understands. False without memory. */
bool kineto_merged_count_unknown(struct kineto_merged *merged, const struct trace_event *event);
