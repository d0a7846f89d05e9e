/*
 * /proc/stat: CPU time of the whole machine.
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* Times are in clock ticks of sysconf(_SC_CLK_TCK) a second, over all CPUs since boot. */
struct system_stat {
    uint64_t total_ticks;       /* also idle, and of other virtual machines */
    uint64_t busy_ticks;        /* total - idle - iowait - steal */
    uint64_t steal_ticks;       /* used by other virtual machines while a CPU of ours had work */
    uint32_t cpu_count;         /* online CPUs: the lines "cpuN" */
    uint64_t processes_started; /* forks since boot, including threads */
};

/* Returns GPUT_OK, or GPUT_ERROR_FORMAT when there is no whole "cpu" line. Later lines may be
 * truncated: missing figures are 0. */
int system_stat_parse(const char *text, struct system_stat *stat);

/* Errors: see machine/os/procfs.h; GPUT_ERROR_FORMAT. */
int system_stat_read(const char *root, struct system_stat *stat, struct gput_error *error);
