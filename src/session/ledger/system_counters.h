/*
 * Network traffic of the whole system, and how long its tasks waited (pressure), at the beginning
 * of a session and since.
 */
#pragma once

#include "machine/os/system_stat.h"
#include "model/results.h"

#include <stdbool.h>
#include <sys/types.h>

struct system_counters {
    int network_fd; /* of main's network; -1: not available */
    bool has_traffic;
    struct network_traffic before, after;
    bool has_pressure; /* it is read: system_counters_begin_pressure() was called */
    struct pressure pressure_before[PRESSURE_COUNT], pressure[PRESSURE_COUNT];
    struct pressure of_group[PRESSURE_COUNT]; /* of the command, since it was made */
};

void system_counters_init(struct system_counters *system_counters);
void system_counters_begin(
    struct system_counters *system_counters, const char *procfs_root, pid_t pid);
/* When a command turns out not to be short: reading this would take 4 % of the CPU time of tracking
 * `true`. */
void system_counters_begin_pressure(
    struct system_counters *system_counters, const char *procfs_root);

/* Reads what is current; may be called repeatedly. `group`: the directory of the command's own
 * control group, or NULL. */
void system_counters_update(
    struct system_counters *system_counters, const char *procfs_root, const char *group);
void system_counters_finish(struct system_counters *system_counters);

/* Sets the figures as of the last update. */
void system_counters_fill(
    const struct system_counters *system_counters, struct gput_results *results);
