/*
 * Number of cores: of the machine, and those that a process may use.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Counts a list such as "0-3,8" (also "0-15:2/4": of every 4 the first 2). An empty list is 0 CPUs.
 * Errors: GPUT_ERROR_FORMAT. */
int cpu_list_parse(const char *text, uint32_t *count);

/* Online cores: <sysfs>/devices/system/cpu/online, else the lines of <procfs>/stat.
 * Errors: those of reading <procfs>/stat. */
int cpu_count_online(
    const char *procfs, const char *sysfs, uint32_t *count, struct gput_error *error);

/*
 * Cores of a process's affinity mask: by sched_getaffinity() when the pids of `procfs` are ours
 * (`is_own`: cpu_clock_usable()), else as <procfs>/PID/status has it; that may include CPUs that
 * are not online, so use the lower of it and cpu_count_online(). Errors: see machine/os/procfs.h;
 * GPUT_ERROR_UNSUPPORTED.
 */
int cpu_count_allowed(
    const char *procfs, bool is_own, pid_t pid, uint32_t *count, struct gput_error *error);

/* The affinity mask of a process, as sched_getaffinity() has it: "0-3,8". False: it is not known,
 * or its list is longer than `size`; the list is then "". */
bool cpu_list_allowed(pid_t pid, char *list, size_t size);
