#include "session/ledger/ram_between.h"

#include "base/clock.h"

#include <math.h>

#define REST 200

/* Older readings do not count for the present moment. */
#define NEW_NS (NS_PER_SECOND / 50)

/* Time for which a group is read often after its peak has risen. */
#define WATCH_NS (10 * NS_PER_SECOND)
/* A peak is gone, or not explained, if so much of it is missing. */
#define MISSING_PART 50

void ram_between_init(struct ram_between *between)
{
    *between = (struct ram_between){.group_bytes = NAN,
        .main_bytes = NAN,
        .descendants_bytes = NAN,
        .combined_bytes = NAN,
        .at_least_bytes = NAN,
        .charged_bytes = NAN,
        .group_lag_bytes = cgroup_lag_bytes()};
}

/* 0 from a live process means exec or exit was in progress: no figure. */
static void raise_to(double *highest, double bytes)
{
    if (bytes > 0 && !(bytes <= *highest))
        *highest = bytes;
}

void ram_between_read_group(struct ram_between *between, const struct own_cgroup *cgroup)
{
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns < between->group_not_before_ns)
        return;
    int64_t begin_ns = clock_thread_cpu_ns();
    struct cgroup_memory *group = &between->group;
    own_cgroup_memory(cgroup, group);
    between->group_not_before_ns = now_ns + (clock_thread_cpu_ns() - begin_ns) * REST;
    between->group_read_ns = now_ns;
    double bytes = group->anonymous_bytes + fmin(group->mapped_bytes, between->files_bytes);
    /* A control group without it will never have it. */
    if (isnan(bytes))
        between->group_not_before_ns = INT64_MAX;
    else
        raise_to(&between->group_bytes, fmax(bytes - between->group_lag_bytes, 0));
}

uint64_t ram_between_anonymous_bytes(const struct ram_between *between)
{
    bool is_new = clock_monotonic_ns() - between->group_read_ns < NEW_NS;
    return is_new && between->group.anonymous_bytes > 0 ? (uint64_t)between->group.anonymous_bytes
                                                        : 0;
}

/* True where much of a peak is missing; `known_bytes` may be NaN. */
static bool lacks_much(double peak_bytes, double known_bytes, double lag_bytes)
{
    return peak_bytes - known_bytes > peak_bytes / MISSING_PART + lag_bytes;
}

void ram_between_watch_group(
    struct ram_between *between, const struct own_cgroup *cgroup, int64_t now_ns)
{
    if (between->group_not_before_ns == INT64_MAX)
        return;
    struct cgroup_usage usage;
    own_cgroup_charged(cgroup, &usage);
    double peak = usage.memory_peak_bytes, now = usage.memory_current_bytes;
    double lag = between->group_lag_bytes;
    bool has_risen = !(peak <= between->charged_bytes);
    raise_to(&between->charged_bytes, peak);
    /* Page cache and the kernel's: as much as now is a guess, which decides about reading alone. */
    double not_mapped = now - between->group.anonymous_bytes - between->group.mapped_bytes;
    if (!lacks_much(peak, between->group_bytes + not_mapped, lag))
        between->watch_until_ns = 0;
    else if (has_risen && lacks_much(peak, now, lag))
        between->watch_until_ns = now_ns + WATCH_NS;
}

int64_t ram_between_due_ns(const struct ram_between *between)
{
    int64_t due_ns = between->group_not_before_ns;
    return due_ns < between->watch_until_ns ? due_ns : INT64_MAX;
}

bool ram_between_begin_scan(struct ram_between *between)
{
    if (clock_monotonic_ns() < between->scan_not_before_ns)
        return false;
    between->scan_began_ns = clock_thread_cpu_ns();
    return true;
}

void ram_between_add_scan(struct ram_between *between, const struct ram_figures *ram)
{
    int64_t cost_ns = clock_thread_cpu_ns() - between->scan_began_ns;
    between->scan_not_before_ns = clock_monotonic_ns() + cost_ns * REST;
    raise_to(&between->main_bytes, (double)ram->main.total);
    raise_to(&between->descendants_bytes, (double)ram->descendants.total);
    raise_to(&between->combined_bytes, (double)ram->combined.total);
    ram_between_add_sample(between, ram);
}

void ram_between_add_sample(struct ram_between *between, const struct ram_figures *ram)
{
    raise_to(&between->at_least_bytes, (double)ram->at_least_bytes);
    between->files_bytes = (double)ram->files_at_least_bytes;
}
