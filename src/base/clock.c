#include "base/clock.h"

#include <stdbool.h>

#define MAX_SECONDS 3155760000 /* 100 years */

int64_t clock_ns_of_timespec(struct timespec time)
{
    return (int64_t)time.tv_sec * NS_PER_SECOND + time.tv_nsec;
}

struct timespec clock_timespec_of_ns(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_SECOND, .tv_nsec = ns % NS_PER_SECOND};
}

int64_t clock_ns_of_seconds(double seconds)
{
    bool is_less = seconds < MAX_SECONDS; /* not so of NaN */
    return is_less ? (int64_t)(seconds * (double)NS_PER_SECOND + 0.5) : MAX_SECONDS * NS_PER_SECOND;
}

/* Reads a clock of the kernel. */
static int64_t read_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return clock_ns_of_timespec(now);
}

int64_t clock_monotonic_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_monotonic_ms(void)
{
    return clock_monotonic_ns() / NS_PER_MS;
}

static int64_t boot_ns(void)
{
    return read_ns(CLOCK_BOOTTIME);
}

int64_t clock_monotonic_of_boot_ns(int64_t time_ns)
{
    struct clock_pair now = clock_read_pair(clock_monotonic_ns, boot_ns);
    return time_ns - (now.second_ns - now.first_ns);
}

int64_t clock_realtime_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

int64_t clock_thread_cpu_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_process_cpu_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t clock_tick_ns(void)
{
    struct timespec tick = {0};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick); /* the kernel's coarse clocks move with it */
    return clock_ns_of_timespec(tick);
}

/* Not more: where it is always interrupted, the shortest will do. */
#define PAIR_ATTEMPTS 5
/* About what three readings take where the kernel has to be called for each. */
#define PAIR_SHORT_NS 2000

struct clock_pair clock_read_pair(int64_t (*first)(void), int64_t (*second)(void))
{
    struct clock_pair pair = {0};
    int64_t shortest_ns = INT64_MAX;
    for (int i = 0; i < PAIR_ATTEMPTS && shortest_ns > PAIR_SHORT_NS; i++) {
        int64_t before_ns = first();
        int64_t second_ns = second();
        int64_t took_ns = first() - before_ns;
        if (took_ns >= shortest_ns)
            continue;
        shortest_ns = took_ns;
        pair = (struct clock_pair){before_ns + took_ns / 2, second_ns};
    }
    return pair;
}
