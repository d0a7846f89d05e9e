#include "session/ram_between.h"

#include "base/clock.h"

#include <math.h>

#define REST 200

void ram_between_init(struct ram_between *between)
{
    *between = (struct ram_between){.group_bytes = NAN,
        .main_bytes = NAN,
        .descendants_bytes = NAN,
        .combined_bytes = NAN,
        .at_least_bytes = NAN};
}

static void raise_to(double *highest, double bytes)
{
    if (isnan(*highest) || bytes > *highest)
        *highest = bytes;
}

void ram_between_read_group(struct ram_between *between, const struct own_cgroup *cgroup)
{
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns < between->group_not_before_ns)
        return;
    int64_t begin_ns = clock_thread_cpu_ns();
    double bytes = own_cgroup_mapped_bytes(cgroup);
    between->group_not_before_ns = now_ns + (clock_thread_cpu_ns() - begin_ns) * REST;
    /* A control group without it will never have it. */
    if (isnan(bytes))
        between->group_not_before_ns = INT64_MAX;
    else
        raise_to(&between->group_bytes, bytes);
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
}
