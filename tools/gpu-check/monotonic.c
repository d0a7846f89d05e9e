#include "monotonic.h"

#include <errno.h>
#include <time.h>

uint64_t monotonic_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void monotonic_sleep_until(uint64_t time_ns)
{
    struct timespec until = {(time_t)(time_ns / NS_PER_S), (long)(time_ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}
