/*
 * The timestamps of files, in nanoseconds since the epoch (UTC): the system's time of one moment,
 * and from there on CLOCK_BOOTTIME, which cannot be set and counts on while the machine is
 * suspended. So differences of timestamps are true, and their order is that of the events, also
 * where the system's time is set meanwhile.
 *
 * The moment is the first use in the process, or the start of a session while no other one runs.
 * It is state of the process, so that samples and marks of one program are on one clock; a forked
 * child goes on with its parent's.
 */
#pragma once

#include "base/clock.h"

#include <stdatomic.h>
#include <stdint.h>

/* Its lead over CLOCK_BOOTTIME; 0: not known yet. For the function below alone. */
extern _Atomic int64_t wall_clock_lead_ns;

/* Determines the lead at its first use, and returns it. Any thread. */
int64_t wall_clock_find_lead_ns(void);

/* The timestamp of this moment. Any thread. Inline, because a mark costs not much more. */
static inline int64_t wall_clock_ns(void)
{
    struct timespec now = {0};
    int64_t lead_ns = atomic_load_explicit(&wall_clock_lead_ns, memory_order_relaxed);
    if (__builtin_expect(lead_ns == 0, 0))
        lead_ns = wall_clock_find_lead_ns();
    clock_gettime(CLOCK_BOOTTIME, &now);
    return lead_ns + (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

/* If they advance by this much more than CLOCK_MONOTONIC, the machine was suspended. */
#define WALL_CLOCK_SUSPENDED_NS NS_PER_SECOND

/* Call it when a session begins and when it ends: the first of concurrent sessions reads the
 * system's time anew. Any thread. */
void wall_clock_begin_session(void);
void wall_clock_end_session(void);

/* How far the system's time is ahead of the timestamps: by how much it was set since. */
int64_t wall_clock_behind_ns(void);
