/*
 * Preloaded, a clock that steps: CLOCK_STEPS is "KIND SECONDS MILLISECONDS", a step of that many
 * seconds every so many (true) milliseconds.
 *
 * system  the system's time alone goes forth and back by turns, as when somebody sets it
 * all     every clock goes forth, as if the time between two steps had been that long
 *
 * What the program starts has the true clocks.
 */
/* Everything else is built to be hidden. */
#pragma GCC visibility push(default)

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND 1000000000

static bool steps_all;
static int64_t step_ns, every_ns, start_ns;

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_SECOND, .tv_nsec = ns % NS_PER_SECOND};
}

static int64_t ns_of(const struct timespec *time)
{
    return (int64_t)time->tv_sec * NS_PER_SECOND + time->tv_nsec;
}

static int64_t read_true(clockid_t clock)
{
    struct timespec now = {0};
    syscall(SYS_clock_gettime, clock, &now);
    return ns_of(&now);
}

static __attribute__((constructor)) void begin(void)
{
    const char *steps = getenv("CLOCK_STEPS");
    char kind[16] = "";
    long seconds = 0, milliseconds = 0;
    if (!steps || sscanf(steps, "%15s %ld %ld", kind, &seconds, &milliseconds) != 3)
        return;
    steps_all = strcmp(kind, "all") == 0;
    start_ns = read_true(CLOCK_MONOTONIC);
    every_ns = milliseconds * 1000000;
    step_ns = seconds * NS_PER_SECOND;
    unsetenv("LD_PRELOAD");
    unsetenv("CLOCK_STEPS");
}

static int64_t ahead_ns(clockid_t clock)
{
    bool is_system = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    bool is_other = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
                    clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME;
    if (every_ns == 0 || !(is_system || (steps_all && is_other)))
        return 0;
    int64_t steps = (read_true(CLOCK_MONOTONIC) - start_ns) / every_ns;
    return step_ns * (steps_all ? steps : steps % 2);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (syscall(SYS_clock_gettime, clock, time) != 0)
        return -1;
    *time = timespec_of(ns_of(time) + ahead_ns(clock));
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *place)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place)
        *place = now.tv_sec;
    return now.tv_sec;
}

/* All conditions here wait by CLOCK_MONOTONIC. Comes back, as it may, at each step. */
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
    const struct timespec *restrict deadline)
{
    int64_t now_ns = read_true(CLOCK_MONOTONIC);
    int64_t until_ns = ns_of(deadline) - ahead_ns(CLOCK_MONOTONIC);
    if (until_ns < 0) /* it passed before the machine started, and there is no such time */
        until_ns = 0;
    bool is_early = steps_all && until_ns > now_ns + every_ns;
    struct timespec until = timespec_of(is_early ? now_ns + every_ns : until_ns);
    int code = pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &until);
    return code == ETIMEDOUT && is_early ? 0 : code;
}
