/*
 * The processor's counters of a command and all that it starts (perf_event_open): instructions,
 * cycles and cache misses in user mode.
 */
#pragma once

#include <sys/types.h>

enum { RUN_INSTRUCTIONS, RUN_CYCLES, RUN_CACHE_MISSES, RUN_COUNTERS };

struct run_counters {
    int fds[RUN_COUNTERS]; /* -1: not counted */
    int failure;           /* errno of the first one that could not be opened; 0: all could */
};

/* Counts from the execve() of a process on that has not called it yet. */
void run_counters_open(struct run_counters *counters, pid_t pid);

/* Reads and closes them. NaN: not counted, or only for a part of the time. */
void run_counters_close(struct run_counters *counters, double values[RUN_COUNTERS]);

/* Why they are missing, for people. Static. */
const char *run_counters_reason(int failure);
