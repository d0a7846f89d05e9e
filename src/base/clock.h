/*
 * The two clocks everything is stamped with, in nanoseconds.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND INT64_C(1000000000)

/* Of an amount of time; not of a date, which would lose digits. */
static inline double clock_seconds_of_ns(int64_t ns)
{
    return (double)ns / (double)NS_PER_SECOND;
}

/* Time since some fixed point in the past, never set back: for intervals and deadlines. */
int64_t clock_monotonic_ns(void);

/* The monotonic time of what is told in time since boot: that goes on while the machine sleeps. */
int64_t clock_monotonic_of_boot_ns(int64_t boot_ns);

/* Time since the epoch (UTC): for stamps that go into files. */
int64_t clock_realtime_ns(void);

/* CPU time that the calling thread has used. */
int64_t clock_thread_cpu_ns(void);

/* CPU time that the calling process has used, all threads. */
int64_t clock_process_cpu_ns(void);

int64_t clock_ns_of_timespec(struct timespec time);
struct timespec clock_timespec_of_ns(int64_t ns);

#endif
