/*
 * The cost of tracking itself: CPU time, RAM, late ticks.
 */
#pragma once

#include "model/results.h"
#include "session/sampler/schedule.h"
#include "session/sampler/session_counts.h"

#include <stdbool.h>
#include <stdint.h>

struct tracker_cost {
    bool is_inside;          /* the calling process is the tracked one: only our threads count */
    int64_t cpu_at_start_ns; /* of the calling process */
    int statm_fd;            /* of it; -1: not available, or inside */
    int64_t cpu_ns;          /* of the process since then, or of our threads inside it */
    int64_t sampling_ns;     /* CPU time of the sampling thread, as of the last tick */
    int64_t own_threads_ns;  /* of our other threads */
    struct session_counts sampling_counts; /* of the sampling thread, when it has ended */
    double rss_bytes;                      /* NaN: not available */
    uint64_t ticks, late_ticks, missed_ticks;
};

/* Nothing is open yet. */
void tracker_cost_init(struct tracker_cost *cost);
void tracker_cost_finish(struct tracker_cost *cost);

void tracker_cost_begin(struct tracker_cost *cost, bool is_inside);

/* Called by the sampling thread: notes what it used so far, where that counts; and at its end. */
void tracker_cost_note_thread(struct tracker_cost *cost);
void tracker_cost_end_thread(struct tracker_cost *cost);

/* Reads what can have changed since the last tick. */
void tracker_cost_update(
    struct tracker_cost *cost, int64_t own_threads_ns, const struct schedule *schedule);

/* CPU time of the threads that only track. */
int64_t tracker_cost_threads_ns(const struct tracker_cost *cost);

/* Sets `results->tracker`, as of the last update. */
void tracker_cost_fill(const struct tracker_cost *cost, struct gput_results *results);
