/*
 * /proc/stat: CPU time of the whole machine.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

/*
 * /proc/meminfo: RAM of the whole machine.
 */
struct meminfo {
    uint64_t total_bytes;
    uint64_t free_bytes;
    bool has_available;       /* Linux 3.14 */
    uint64_t available_bytes; /* available to new programs without swapping */
    uint64_t buffers_bytes;
    uint64_t cached_bytes; /* page cache without reclaimable slab */
    uint64_t reclaimable_slab_bytes;
    bool has_hugetlb; /* some pages are of hugetlbfs, in use or kept for it */
    uint64_t swap_total_bytes, swap_free_bytes; /* 0: the machine has no swap */
};

/* Returns GPUT_OK, or GPUT_ERROR_FORMAT when MemTotal or MemFree is missing. */
int meminfo_parse(const char *text, struct meminfo *meminfo);

/* Errors: see machine/os/procfs.h; GPUT_ERROR_FORMAT. */
int meminfo_read(const char *root, struct meminfo *meminfo, struct gput_error *error);

/*
 * RAM in use: total - available; where MemAvailable is missing, total - free - buffers - cached -
 * reclaimable slab. Both are what psutil calls "used" on such a machine.
 */
uint64_t meminfo_used_bytes(const struct meminfo *meminfo);

/*
 * /proc/loadavg: the number of threads, and the last pid allocated. As long as that pid does not
 * change, no process and no thread has been started in the pid namespace of the procfs mount, other
 * than by programs that choose pids.
 */
struct loadavg {
    uint32_t threads;
    pid_t last_pid;
};

/*
 * Whether programs with the rights of the calling process may choose the pids of those that they
 * start (set_tid of clone3(), kernel.ns_last_pid), as CRIU does. The last pid then stays as it was,
 * or jumps.
 */
bool loadavg_pids_may_be_chosen(void);

/* Returns GPUT_OK or GPUT_ERROR_FORMAT. */
int loadavg_parse(const char *text, struct loadavg *loadavg);

/* Errors: see machine/os/procfs.h; GPUT_ERROR_FORMAT. To read it at every tick, cache a descriptor:
 * procfs_open(root, PROCFS_SYSTEM, "loadavg", …), procfs_reread(), loadavg_parse(). */
int loadavg_read(const char *root, struct loadavg *loadavg, struct gput_error *error);

/*
 * /proc/PID/net/dev: traffic of the interfaces of a process's network namespace: of all processes
 * that share it.
 */

/* Since each interface came up; without the loopback. */
struct network_traffic {
    uint64_t received_bytes;
    uint64_t sent_bytes;
};

/* Reads a terminated text. GPUT_ERROR_FORMAT: the header of two lines is missing. A truncated line
 * is skipped. */
int network_traffic_parse(const char *text, struct network_traffic *traffic);

/* Reads the file from its start through a descriptor (procfs_open() of "net/dev"), which remains
 * bound to its network namespace after the process has ended. Errors: GPUT_ERROR_IO,
 * GPUT_ERROR_FORMAT. */
int network_traffic_reread(int fd, struct network_traffic *traffic);

/*
 * Pressure stall information: /proc/pressure/NAME, and NAME.pressure of a control group of version
 * 2. For how long some of its tasks waited, and for how long all that could have run did.
 */

/* Since the machine was started, or the group was made. NaN: not known. */
struct pressure {
    double some_seconds, full_seconds;
};

/* Reads a terminated text. Kernels before 5.13 have no "full" of a CPU. */
struct pressure pressure_parse(const char *text);

/* Reads the file of that path. */
struct pressure pressure_read(const char *path);
