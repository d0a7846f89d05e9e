#include "base/wall_clock.h"

#include <pthread.h>

_Atomic int64_t wall_clock_lead_ns;

/* Sessions that run in this process. */
static unsigned n_sessions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the time since boot, suspension included. */
static int64_t boot_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return clock_ns_of_timespec(now);
}

/* Returns by how much the wall clock is ahead of the time since boot; never 0. */
static int64_t read_lead_ns(void)
{
    struct clock_pair now = clock_read_pair(boot_ns, clock_realtime_ns);
    int64_t lead_ns = now.second_ns - now.first_ns;
    return lead_ns != 0 ? lead_ns : 1;
}

int64_t wall_clock_find_lead_ns(void)
{
    int64_t unknown = 0;
    int64_t lead_ns = read_lead_ns();
    /* another thread may have been first */
    return atomic_compare_exchange_strong(&wall_clock_lead_ns, &unknown, lead_ns) ? lead_ns
                                                                                  : unknown;
}

void wall_clock_begin_session(void)
{
    pthread_mutex_lock(&lock);
    if (n_sessions++ == 0)
        atomic_store(&wall_clock_lead_ns, read_lead_ns());
    pthread_mutex_unlock(&lock);
}

void wall_clock_end_session(void)
{
    pthread_mutex_lock(&lock);
    n_sessions--;
    pthread_mutex_unlock(&lock);
}

int64_t wall_clock_behind_ns(void)
{
    return clock_realtime_ns() - wall_clock_ns();
}
