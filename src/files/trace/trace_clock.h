/*
 * On which clock the times of an input are: since the epoch, or since some moment of its own. All
 * that puts inputs on one clock, and all that shows when something was, looks here.
 */
#pragma once

#include "files/trace/read_report.h"

#include <stdint.h>

/* The times of one input, in nanoseconds since the epoch. Begins by trace_clock_begin(). */
struct trace_clock {
    const char *name;   /* of the input, for messages; not owned */
    int64_t first_ns;   /* of the times since the epoch that can be true */
    int64_t last_ns;    /* an end */
    int64_t limit_ns;   /* a day from now: nothing that was recorded is later */
    uint64_t absolute;  /* how many events have such times */
    uint64_t relative;  /* how many begin before the year 2000: they count from another moment */
    uint64_t in_future; /* how many end after the limit */
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

/* Says what of the times of each input cannot be true, and which inputs do not line up: they have
 * no times since the epoch, or lie more than an hour from all others. Sorts the clocks. */
void trace_clocks_warn(struct trace_clock *clocks, size_t count, const struct read_report *report);
