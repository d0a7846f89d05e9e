/*
 * CPU time of the processes that are not tracked: that of the machine minus that of the tracked
 * ones.
 *
 * The kernel counts the machine's CPU time in clock ticks, mostly for the process that runs at the
 * moment of a tick, and that of a tracked process in nanoseconds. So in a short interval the CPU
 * time of tracked processes is known but not that of others: one tick is many times what a quiet
 * process uses. Theirs is the mean rate over an interval up to now that has enough ticks. It is
 * weighted by the CPU time of tracked processes, which makes it right also for processes that run
 * in step with these, or alternate with them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* CPU time of the machine with which that of the others is known to about 10 %: 100 ticks. */
#define OTHER_CPU_ENOUGH_SECONDS 1.0
/* Readings of 10 s at intervals of 0.1 s. */
#define OTHER_CPU_READINGS 101

struct other_cpu_reading {
    int64_t time_ns;
    double busy_seconds;    /* of the machine since the beginning */
    double tracked_seconds; /* of the tracked processes */
    /* Sums over the intervals since the beginning, each by what the tracked ones used in it. */
    double weighted_use, weighted_time;
};

struct other_cpu {
    double seconds; /* used by the others since the beginning, while the tracked ones ran */
    /* A ring buffer; from the start of the interval to the last reading. */
    struct other_cpu_reading readings[OTHER_CPU_READINGS];
    size_t first, count;
};

/* The beginning: nothing was used yet. */
void other_cpu_begin(struct other_cpu *others, int64_t now_ns);

/* Adds what was used since the last reading. */
void other_cpu_read(
    struct other_cpu *others, int64_t now_ns, double busy_seconds, double tracked_seconds);
