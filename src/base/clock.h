/*
 * The clocks for timestamps and CPU time, in nanoseconds.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

/* Converts a duration; a date would lose digits. */
static inline double clock_seconds_of_ns(int64_t ns)
{
    return (double)ns / (double)NS_PER_SECOND;
}

/* The same the other way, of no less than 0. What is longer than any program runs is 100 years:
 * added to a time, that does not overflow. */
int64_t clock_ns_of_seconds(double seconds);

/* Monotonic time, for intervals and deadlines. */
int64_t clock_monotonic_ns(void);

/* The same in milliseconds, as poll() counts. */
int64_t clock_monotonic_ms(void);

/* Converts a time of CLOCK_BOOTTIME, which counts on while the machine is suspended. */
int64_t clock_monotonic_of_boot_ns(int64_t time_ns);

/* Time since the epoch (UTC), for timestamps in files. */
int64_t clock_realtime_ns(void);

struct clock_pair {
    int64_t first_ns, second_ns;
};

/* Two clocks at one moment, also where the thread is interrupted between reading them: of some
 * attempts the one that took least. */
struct clock_pair clock_read_pair(int64_t (*first)(void), int64_t (*second)(void));

/* CPU time that the calling thread has used. */
int64_t clock_thread_cpu_ns(void);

/* The time between two ticks of the scheduler, which brings CPU clocks up to date. */
int64_t clock_tick_ns(void);

/* CPU time that the calling process has used, all threads. */
int64_t clock_process_cpu_ns(void);

int64_t clock_ns_of_timespec(struct timespec time);
struct timespec clock_timespec_of_ns(int64_t ns);
