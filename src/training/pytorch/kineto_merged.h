/*
 * A merged timeline read back: its processes are of several traces, each of which is a rank of its
 * own again.
 */
#pragma once

#include "base/error.h"
#include "base/names.h"
#include "trace/event_stream.h"
#include "training/pytorch/kineto_ranks.h"

#include <stdbool.h>
#include <stdint.h>

/* A file while it is read, merged or not. */
struct kineto_merged {
    struct kineto_ranks *ranks;
    const struct event_stream *stream;
    uint32_t file;     /* number of its rank; of a merged one, of its first trace */
    uint32_t others;   /* where its other traces stand in `ranks` */
    bool is_merged;    /* a process said so */
    struct names pids; /* of such processes, as they are spelled */
    uint32_t *rank_of; /* by number of the pid; owned */
};

/* `ranks` and `stream` stay the caller's. To be finished. */
struct kineto_merged kineto_merged_of(
    struct kineto_ranks *ranks, uint32_t file, const struct event_stream *stream);

/* Notes what an event says about its process. To be called for all events of type 'M'. */
int kineto_merged_parse(
    struct kineto_merged *merged, const struct trace_event *event, struct gput_error *error);

/* The number of the rank that an event is of. */
uint32_t kineto_merged_rank(const struct kineto_merged *merged, const struct trace_event *event);

/* At the end of the file, takes the rank of one that is not a merged timeline from its header. */
void kineto_merged_end(struct kineto_merged *merged);

void kineto_merged_finish(struct kineto_merged *merged);
