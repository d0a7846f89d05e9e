/*
 * Hardware counters of one thread (perf_event_open): a group that the kernel reads at once. They
 * count what the thread does in user space, which every user may count where
 * /proc/sys/kernel/perf_event_paranoid is at most 2.
 */
#pragma once

#include "base/error.h"
#include "files/marks/sub_tracking_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BLOCK_COUNTERS 3 /* instructions, cycles, cache misses */

/* The most threads of a log that have counters: each takes a descriptor for each of them. */
#define BLOCK_COUNTERS_MAX_THREADS 64

/* What is counted: `type` and `config` of struct perf_event_attr. */
struct block_counter_event {
    uint32_t type;
    uint64_t config;
};

extern const struct block_counter_event block_counter_events[BLOCK_COUNTERS];

/* Of one thread; all zero: not opened. */
struct block_counters {
    bool is_tried;
    int fds[BLOCK_COUNTERS]; /* -1: it has none; the first of the others leads the group */
    int places[BLOCK_COUNTERS];
    uint64_t ids[BLOCK_COUNTERS]; /* of the events: a program may close descriptors that it does not
                                     know, and get their numbers for files of its own */
    int leader;                   /* which of them leads the group; -1: nothing is counted */
};

/* Begins to count for the calling thread; `events` NULL: nothing. Returns 0, or the errno of the
 * first event, which could not be opened; others may then be counted. */
int block_counters_open(struct block_counters *counters, const struct block_counter_event *events);

/* What the kernel gives of a group. */
struct block_counters_group {
    uint64_t number, enabled_ns, running_ns, values[BLOCK_COUNTERS];
};

/* The counts of a group of which `length` bytes were read; all SUB_TRACKING_UNKNOWN where the
 * processor's counters were used by others for a part of the time. */
void block_counters_parse(const struct block_counters *counters,
    const struct block_counters_group *group, ssize_t length, int64_t counts[BLOCK_COUNTERS]);

/* Counts so far, in the order of the events; SUB_TRACKING_UNKNOWN where there is none. */
void block_counters_read(const struct block_counters *counters, int64_t counts[BLOCK_COUNTERS]);

void block_counters_close(struct block_counters *counters);

/* Whether the calling thread can be counted. Errors say why not: GPUT_ERROR_NOT_FOUND (the machine
 * has none), GPUT_ERROR_PERMISSION, GPUT_ERROR_STATE (in use by others). */
int block_counters_check(struct gput_error *error);
