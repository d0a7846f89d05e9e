#include "machine/energy/energy_counter.h"

#include "base/clock.h"
#include "model/energy.h"

#include <math.h>

/* Counters increase every millisecond, even when idle. */
#define STILL_NS (2 * NS_PER_SECOND)
/* Slow counters include energy used before the last reading. */
#define SLOW_SECONDS 1

void energy_counter_start(
    struct energy_counter *counter, double joules, double range_joules, int64_t now_ns)
{
    *counter = (struct energy_counter){.last_joules = joules,
        .last_ns = now_ns,
        .moved_ns = now_ns,
        .range_joules = range_joules,
        .has_last = true};
}

void energy_counter_fail(struct energy_counter *counter, int64_t now_ns)
{
    if (!counter->has_last && !counter->failed)
        counter->last_ns = now_ns;
    counter->failed = true;
}

bool energy_counter_stands_still(const struct energy_counter *counter)
{
    return counter->last_ns - counter->moved_ns >= STILL_NS;
}

/* Whether so many joules can have been added: no more than was used since the counter last changed.
 */
static bool is_plausible(const struct energy_counter *counter, double added, int64_t now_ns)
{
    double seconds = clock_seconds_of_ns(now_ns - counter->moved_ns);
    return added <= ENERGY_DEVICE_MAX_WATTS * (seconds + SLOW_SECONDS);
}

double energy_counter_advance(struct energy_counter *counter, double joules, int64_t now_ns)
{
    if (!counter->has_last) {
        int64_t late_ns = counter->failed ? now_ns - counter->last_ns : 0;
        energy_counter_start(counter, joules, counter->range_joules, now_ns);
        counter->late_ns = counter->unknown_ns = late_ns;
        return NAN;
    }

    counter->failed = false;
    double added = joules - counter->last_joules;
    /* A wrap goes from near the top to near the bottom; any other decrease is a reset. */
    if (added < 0 && -added > counter->range_joules / 2 &&
        is_plausible(counter, added + counter->range_joules, now_ns))
        added += counter->range_joules;

    bool is_ahead = !is_plausible(counter, added, now_ns);
    int64_t passed_ns = now_ns - counter->last_ns;
    bool was_still = energy_counter_stands_still(counter);
    counter->last_joules = joules;
    counter->last_ns = now_ns;
    if (added < 0 || is_ahead) {
        counter->went_back |= added < 0;
        counter->went_ahead |= is_ahead;
        counter->moved_ns = now_ns;
        counter->unknown_ns += passed_ns;
        return NAN;
    }
    counter->has_moved |= added > 0;
    if (added > 0)
        counter->moved_ns = now_ns;
    if (energy_counter_stands_still(counter)) {
        counter->stood_still = true;
        counter->unknown_ns += was_still ? passed_ns : now_ns - counter->moved_ns;
    }
    return added;
}

int64_t energy_counter_unknown_ns(
    const struct energy_counter *counter, int64_t since_ns, int64_t now_ns)
{
    if (!counter->has_moved)
        return now_ns - since_ns;
    /* What it counts while it cannot be read is added when it can be read again. */
    return counter->unknown_ns + (counter->failed ? now_ns - counter->last_ns : 0);
}
