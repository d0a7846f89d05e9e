/*
 * RAM between two samples: memory of processes that start and end there is in no sample.
 *
 * Read when the kernel announces starts and ends in the tree, and several times after that, as
 * memory grows after a start. A control group gives what its processes have mapped in one small
 * file, each page once and of one moment; a scan of all processes costs far more. Each is repeated
 * only after a pause of 200 times its cost: 0.5 % of one core at most.
 *
 * Nothing announces memory that living processes take and give back between two samples. The peak
 * that a control group keeps shows it afterwards, but not how much of it was RAM of processes. It
 * includes page cache and memory of the kernel, and no counter bounds how much of these there was
 * at that moment: a file may have been written and removed since. So it is not a figure, but a
 * reason to read the group often for some time: servers do again what they did.
 */
#pragma once

#include "machine/os/own_cgroup.h"
#include "machine/process/ram_meter.h"

#include <stdbool.h>
#include <stdint.h>

/* The highest so far; NaN: it was not read. */
struct ram_between {
    double group_bytes; /* lower bound of what the processes of the control group had mapped */
    double main_bytes, descendants_bytes, combined_bytes;
    double at_least_bytes;      /* of all together, at samples too: a lower bound */
    double files_bytes;         /* mapped files and shared memory at the last scan: a lower bound */
    double charged_bytes;       /* the peak that the control group keeps, as of the last tick */
    struct cgroup_memory group; /* as last read */
    double group_lag_bytes;     /* by which that may be late; cgroup_lag_bytes() */
    int64_t group_read_ns;
    int64_t group_not_before_ns, scan_not_before_ns;
    int64_t scan_began_ns;  /* CPU time of the thread */
    int64_t watch_until_ns; /* the group is read often until then */
};

void ram_between_init(struct ram_between *between);

/*
 * Reads what the processes of a control group have mapped, unless it was read a moment ago. Of its
 * mapped files no more counts than processes of the last scan had mapped: others of the machine may
 * map files that these have written.
 */
void ram_between_read_group(struct ram_between *between, const struct own_cgroup *cgroup);

/* The anonymous memory of the group, if that was read just now; else 0. */
uint64_t ram_between_anonymous_bytes(const struct ram_between *between);

/* At a tick, after that: has the group read often for some time if it had a peak that is gone, and
 * that no reading explains. */
void ram_between_watch_group(
    struct ram_between *between, const struct own_cgroup *cgroup, int64_t now_ns);

/* Returns when it is to be read again for that; INT64_MAX: never. */
int64_t ram_between_due_ns(const struct ram_between *between);

/* False when the last scan is so recent that another one would cost too much. Else the caller scans
 * the processes and calls ram_between_add_scan(). */
bool ram_between_begin_scan(struct ram_between *between);
void ram_between_add_scan(struct ram_between *between, const struct ram_figures *ram);

void ram_between_add_sample(struct ram_between *between, const struct ram_figures *ram);
