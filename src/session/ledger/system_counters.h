/*
 * Network traffic of the whole system, at the beginning of a session and since.
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
};

void system_counters_init(struct system_counters *system_counters);
void system_counters_begin(
    struct system_counters *system_counters, const char *procfs_root, pid_t pid);
/* Reads the current traffic; may be called repeatedly. */
void system_counters_update(struct system_counters *system_counters);
void system_counters_finish(struct system_counters *system_counters);

/* Sets the figures as of the last update. */
void system_counters_fill(
    const struct system_counters *system_counters, struct gput_accounting *accounting);
