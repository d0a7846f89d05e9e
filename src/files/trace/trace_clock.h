/*
 * The clock of an input: whether its times count from the epoch, or from a moment of its own. Used
 * wherever inputs are put on one clock, or times are shown.
 */
#pragma once

#include "files/trace/read_report.h"

#include <stdint.h>

/* The times of one input, in nanoseconds since the epoch. Initialized by trace_clock_begin(). */
struct trace_clock {
    const char *name;   /* name of the input for messages; not owned */
    int64_t first_ns;   /* the earliest plausible start since the epoch */
    int64_t last_ns;    /* the latest plausible end */
    int64_t limit_ns;   /* a day from now: no recorded time can be later */
    uint64_t absolute;  /* number of events with plausible times */
    uint64_t relative;  /* number of events that begin before the year 2000: they count from another
                           moment */
    uint64_t in_future; /* number of events that end after the limit */
};

void trace_clock_begin(struct trace_clock *clock, const char *name);

#define TRACE_CLOCK_YEAR_2000_NS INT64_C(946684800000000000)

static inline void trace_clock_add(struct trace_clock *clock, int64_t start_ns, int64_t end_ns)
{
    if (start_ns < TRACE_CLOCK_YEAR_2000_NS) {
        clock->relative++;
        return;
    }
    if (end_ns > clock->limit_ns) {
        clock->in_future++;
        return;
    }
    clock->absolute++;
    clock->first_ns = start_ns < clock->first_ns ? start_ns : clock->first_ns;
    clock->last_ns = end_ns > clock->last_ns ? end_ns : clock->last_ns;
}

/* Warns of times that cannot be true, and of inputs that do not line up: they have no times since
 * the epoch, or lie more than an hour from all others. Sorts the clocks. */
void trace_clocks_warn(struct trace_clock *clocks, size_t count, const struct read_report *report);
