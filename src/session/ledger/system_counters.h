/*
 * Network traffic of the whole system, and how long its tasks waited (pressure), at the beginning
 * of a session and since.
 */
#pragma once

#include "machine/os/system_stat.h"
#include "model/results.h"

#include <stdbool.h>
#include <stdint.h>
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

/*
 * An upper bound of processes and threads that were started, without events: from system-wide
 * counters that every start increases.
 */

/* The counters at one moment. */
struct session_starts {
    bool is_known;
    uint64_t started;  /* processes and threads of the whole machine since boot */
    uint64_t threads;  /* alive, of the whole machine */
    uint64_t last_pid; /* last allocated in our own pid namespace */
    uint64_t pid_max;  /* after which pids wrap around */
    bool is_initial;   /* that is the machine's first one: every start gives out a pid there */
};

/* Not known where the files are not the kernel's procfs. */
void session_starts_read(const char *procfs_root, struct session_starts *starts);

/* Pids of processes that were found and that started in between; highest 0: there are none. */
struct found_pids {
    pid_t lowest, highest;
};

/*
 * An upper bound of starts between the two. `min`: so many are known, so that a counter that
 * increased by less does not count them. UINT64_MAX: not known.
 *
 * Programs with rights may choose the pid of a process that they start (set_tid of clone3()), which
 * leaves the last pid as it was. Where a process was found whose pid is out of order, last pids
 * prove nothing.
 */
uint64_t session_starts_between(const struct session_starts *before,
    const struct session_starts *after, struct found_pids found, uint64_t min);
