/*
 * CPU time of the processes that are not tracked: what the machine used less what ours did.
 *
 * The kernel counts the machine's CPU time in clock ticks, mostly by who runs at the moment of a
 * tick, and ours in nanoseconds. So of a short interval it is known what we used and not what the
 * others did: a tick more or less is many times what a quiet process uses. Theirs is taken from as
 * long a stretch up to now as there must be for enough ticks, as a mean rate: that at which they
 * used CPU time while ours did, so that it is right of those, too, that work in step or take turns.
 */
#ifndef ENERGY_OTHER_CPU_H
#define ENERGY_OTHER_CPU_H

#include <stddef.h>
#include <stdint.h>

/* CPU time of the machine with which that of the others is known to about 10 %: 100 ticks. */
#define OTHER_CPU_ENOUGH_SECONDS 1.0
/* Readings of 10 s at intervals of 0.1 s. */
#define OTHER_CPU_READINGS 101

struct other_cpu_reading {
    int64_t time_ns;
    double busy_seconds; /* of the machine since the beginning */
    double ours_seconds; /* of the tracked processes */
    /* Sums over the intervals since the beginning, each by what ours used in it. */
    double weighted_use, weighted_time;
};

struct other_cpu {
    double seconds; /* used by the others since the beginning, while ours ran */
    /* A ring buffer; from the start of the interval to the last reading. */
    struct other_cpu_reading readings[OTHER_CPU_READINGS];
    size_t first, count;
};

/* The beginning: nothing was used yet. */
void other_cpu_begin(struct other_cpu *others, int64_t now_ns);

/* Adds what was used since the last reading. */
void other_cpu_read(
    struct other_cpu *others, int64_t now_ns, double busy_seconds, double ours_seconds);

#endif
