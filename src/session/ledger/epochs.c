#include "session/ledger/epochs.h"

#include "base/array.h"
#include "base/wall_clock.h"

#include <stdlib.h>

void epochs_add(struct epochs *epochs, int64_t monotonic_ns, int64_t time_ns)
{
    size_t count = epochs->count;
    int64_t ahead_ns = time_ns - monotonic_ns;
    if (count > 0 && ahead_ns - epochs->list[count - 1].ahead_ns < WALL_CLOCK_SUSPENDED_NS)
        return;
    if (!ARRAY_EXTEND(epochs->list, count))
        return;
    epochs->list[count].since_ns = monotonic_ns;
    epochs->list[count].ahead_ns = ahead_ns;
    epochs->count++;
}

int64_t epochs_date_ns(const struct epochs *epochs, int64_t monotonic_ns)
{
    size_t i = epochs->count - 1;
    while (i > 0 && epochs->list[i].since_ns > monotonic_ns)
        i--;
    return monotonic_ns + epochs->list[i].ahead_ns;
}

void epochs_finish(struct epochs *epochs)
{
    free(epochs->list);
    *epochs = (struct epochs){0};
}
