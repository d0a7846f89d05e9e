#include "track/energy_counter.h"

#include "base/clock.h"

#include <math.h>

/* Counters move every millisecond, even at idle. */
#define STILL_NS (2 * NS_PER_SECOND)
/* No device that has such a counter draws as much: a "wrap" that says so is a reset. */
#define MOST_WATTS 10e3

void energy_counter_start(
    struct energy_counter *counter, double joules, double range_joules, int64_t now_ns)
{
    *counter = (struct energy_counter){.last_joules = joules,
        .last_ns = now_ns,
        .moved_ns = now_ns,
        .range_joules = range_joules,
        .has_last = true};
}

void energy_counter_fail(struct energy_counter *counter)
{
    counter->failed = true;
}

bool energy_counter_stands_still(const struct energy_counter *counter)
{
    return counter->last_ns - counter->moved_ns >= STILL_NS;
}

double energy_counter_advance(struct energy_counter *counter, double joules, int64_t now_ns)
{
    counter->failed = false;
    if (!counter->has_last) {
        energy_counter_start(counter, joules, counter->range_joules, now_ns);
        return NAN;
    }
    double added = joules - counter->last_joules;
    /* A wrap goes from near the top to near the bottom; any other way back is a reset. */
    if (added < 0 && -added > counter->range_joules / 2) {
        double seconds = (double)(now_ns - counter->last_ns) / (double)NS_PER_SECOND;
        if (added + counter->range_joules <= MOST_WATTS * seconds)
            added += counter->range_joules;
    }
    counter->last_joules = joules;
    counter->last_ns = now_ns;
    if (added < 0) {
        counter->went_back = true;
        counter->moved_ns = now_ns;
        return NAN;
    }
    counter->has_moved |= added > 0;
    if (added > 0)
        counter->moved_ns = now_ns;
    counter->stood_still |= energy_counter_stands_still(counter);
    return added;
}
