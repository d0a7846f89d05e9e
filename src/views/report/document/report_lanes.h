/*
 * How deep calls are nested: calls of one track (a thread of a process) that run at the same time
 * are drawn below each other.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Deeper ones are all drawn in the last lane. */
#define REPORT_MAX_DEPTH 1000

struct report_track {
    double *ends; /* of the last call in each lane; owned */
    uint32_t count;
};

struct report_lanes {
    struct report_track *tracks; /* owned */
    size_t count;
};

#define REPORT_NO_DEPTH UINT32_MAX

/* An empty set is all zeroes. */

/* The depth of a call, from 0. Calls of a track must come in order of their starts, of equal starts
 * the longer first. REPORT_NO_DEPTH without memory. */
uint32_t report_lanes_add(struct report_lanes *lanes, size_t track, double start, double stop);

void report_lanes_finish(struct report_lanes *lanes);
