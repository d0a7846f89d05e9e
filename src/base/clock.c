#include "base/clock.h"

int64_t clock_ns_of_timespec(struct timespec time)
{
    return (int64_t)time.tv_sec * NS_PER_SECOND + time.tv_nsec;
}

struct timespec clock_timespec_of_ns(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_SECOND, .tv_nsec = ns % NS_PER_SECOND};
}

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

int64_t clock_monotonic_of_boot_ns(int64_t boot_ns)
{
    int64_t ahead_ns = read_ns(CLOCK_BOOTTIME) - clock_monotonic_ns();
    return boot_ns - ahead_ns;
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
