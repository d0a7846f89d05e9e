/* Counters of the machine that are read before and after a run: they show what others did to it. */
#pragma once

#include "analysis/bench/bench_data.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* What to read. */
struct disturbances {
    const char *procfs_root, *sysfs_root; /* borrowed */
    int stat_fd;                          /* /proc/stat */
    int *throttle_fds;                    /* counts of slowed-down CPUs */
    size_t n_throttle_fds;
    int *quota_fds; /* cpu.stat of our control group and those above it */
    size_t n_quota_fds;
    double ticks_per_second;
};

/* One reading; NaN: not available. */
struct disturbance_counts {
    double busy_seconds, steal_seconds; /* of all CPUs */
    double throttle_events;
    double quota_seconds; /* the most of any group */
    double own_cpu_seconds;
    double thread_wait_seconds; /* of the calling thread, for a CPU; disturbances_read_thread() */
    double at_seconds;          /* monotonic */
};

/* Finds the sources, which may all be missing. NULL: /proc and /sys. */
void disturbances_open(
    struct disturbances *disturbances, const char *procfs_root, const char *sysfs_root);
void disturbances_finish(struct disturbances *disturbances);

void disturbances_read(const struct disturbances *disturbances, struct disturbance_counts *counts);

/* For how long the calling thread has waited for a CPU; NaN: not known. */
double disturbances_thread_wait(const struct disturbances *disturbances);

/* With what the calling thread waited for a CPU. */
void disturbances_read_thread(
    const struct disturbances *disturbances, struct disturbance_counts *counts);

/* Sets what happened between two readings: causes, and the CPU time of others. The figures of the
 * run are known. */
void disturbances_fill(const struct disturbance_counts *before,
    const struct disturbance_counts *after, struct bench_run *run);

/* The same of a run in this process, in the calling thread. */
void disturbances_fill_own(const struct disturbance_counts *before,
    const struct disturbance_counts *after, struct bench_run *run);
