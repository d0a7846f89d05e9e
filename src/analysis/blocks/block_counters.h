/*
 * Hardware counters of one thread (perf_event_open), as a group that is read at once. They count in
 * user space, which any user may do if /proc/sys/kernel/perf_event_paranoid is at most 2.
 */
#pragma once

#include "base/error.h"
#include "files/marks/sub_tracking_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BLOCK_COUNTERS 3 /* instructions, cycles, cache misses */

/* Maximum number of threads of a log with counters; each needs a descriptor for each counter. */
#define BLOCK_COUNTERS_MAX_THREADS 64

/* The event to count: `type` and `config` of struct perf_event_attr. */
struct block_counter_event {
    uint32_t type;
    uint64_t config;
};

extern const struct block_counter_event block_counter_events[BLOCK_COUNTERS];

/* Counters of one thread; all zero: not opened. */
struct block_counters {
    bool is_tried;
    int fds[BLOCK_COUNTERS]; /* -1: could not be opened; the first of the others leads the group */
    int places[BLOCK_COUNTERS];
    uint64_t ids[BLOCK_COUNTERS]; /* ids of the events, to recognize descriptors that the program
                                     has closed and whose numbers were reused for its own files */
    int leader;                   /* index of the leader; -1: nothing is counted */
};

/* Begins to count for the calling thread; `events` NULL: counts nothing. Returns 0, or the errno of
 * the first event if that could not be opened; others may be counted nevertheless. */
int block_counters_open(struct block_counters *counters, const struct block_counter_event *events);

/* The kernel's answer for a group. */
struct block_counters_group {
    uint64_t number, enabled_ns, running_ns, values[BLOCK_COUNTERS];
};

/* Sets the counts of a group of which `length` bytes were read. They are SUB_TRACKING_UNKNOWN if
 * the group did not count all the time because others used the processor's counters. */
void block_counters_parse(const struct block_counters *counters,
    const struct block_counters_group *group, ssize_t length, int64_t counts[BLOCK_COUNTERS]);

/* Reads the counts so far, in the order of the events; SUB_TRACKING_UNKNOWN: not counted. */
void block_counters_read(const struct block_counters *counters, int64_t counts[BLOCK_COUNTERS]);

void block_counters_close(struct block_counters *counters);

/* Checks that the calling thread can be counted. Errors give the reason: GPUT_ERROR_NOT_FOUND (the
 * machine has no counters), GPUT_ERROR_PERMISSION, GPUT_ERROR_STATE (in use by others). */
int block_counters_check(struct gput_error *error);
