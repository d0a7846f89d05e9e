/*
 * Control groups: the groups of a process, their limits and their usage. Versions 1 and 2 and both
 * mounted next to each other ("hybrid"); cgroup namespaces and containers that mount only their own
 * part.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

#include "machine/os/procfs.h"

#include <stdbool.h>
#include <sys/types.h>

/* The mount of one hierarchy, and the directory of a process in it. */
struct cgroup_directory {
    char *path;          /* "/sys/fs/cgroup/user.slice/x.scope", NULL: not available; owned */
    size_t mount_length; /* length of the mount point in `path`: nothing above it is visible */
    bool is_v2;
};

/* The directories that govern a process. Several may name the same one. */
struct cgroup {
    struct cgroup_directory unified; /* version 2, also when it has no controllers here */
    struct cgroup_directory memory;
    struct cgroup_directory cpu;     /* quota */
    struct cgroup_directory cpuacct; /* CPU time used */
    struct cgroup_directory cpuset;
    struct cgroup_directory pids;
};

/* The kernel's texts about the groups of a process. All zero: none were read yet. */
struct cgroup_texts {
    struct str groups; /* <procfs>/PID/cgroup */
    struct str mounts; /* <procfs>/self/mountinfo, or, where there is no self, PID/mountinfo */
};

/* The caller frees them by cgroup_texts_finish(), whatever this returns. Errors: see
 * machine/os/procfs.h; GPUT_ERROR_UNSUPPORTED when the kernel has no cgroups. */
int cgroup_texts_read(
    const char *procfs, pid_t pid, struct cgroup_texts *texts, struct gput_error *error);

void cgroup_texts_finish(struct cgroup_texts *texts);

/*
 * Finds the directories of a process: <procfs>/PID/cgroup, and the mounts of
 * <procfs>/self/mountinfo (or, where there is no self, PID/mountinfo). A mount point below /sys is
 * searched for below `sysfs`. On success the caller frees it with cgroup_finish(); directories that
 * are not available are NULL, which is not an error. Errors: see machine/os/procfs.h;
 * GPUT_ERROR_UNSUPPORTED when the kernel has no cgroups; GPUT_ERROR_MEMORY.
 */
int cgroup_find(const char *procfs, const char *sysfs, pid_t pid, struct cgroup *cgroup,
    struct gput_error *error);

/* The same from the texts of both files. Accesses directories below `sysfs` only to check that they
 * exist. */
int cgroup_parse(
    const char *cgroup_text, const char *mountinfo_text, const char *sysfs, struct cgroup *cgroup);

void cgroup_finish(struct cgroup *cgroup);

/* The lowest of each in the group and its visible ancestors. NaN: no limit, or not available. */
struct cgroup_limits {
    double memory_max_bytes;
    double swap_max_bytes; /* swap alone; version 2 only */
    double cpu_cores;      /* quota / period: 1.5 is one and a half cores */
    double cpuset_cores;   /* number of CPUs that the group may run on */
    double pids_max;       /* processes and threads */
    /* The groups that have the tightest limits: lengths of the paths of `memory` and `cpu`; 0: none
     * has one. */
    size_t memory_length, cpu_length;
};

void cgroup_limits_read(const struct cgroup *cgroup, struct cgroup_limits *limits);

/* A group above this one, by the length of its path; path NULL: 0, or no memory. The caller frees
 * the path. */
struct cgroup_directory cgroup_above(const struct cgroup_directory *group, size_t length);

/* For how long a quota held its threads, all its CPUs together, since the group was made. NaN: not
 * available. The text is cpu.stat. */
double cgroup_throttled_parse(const char *text);
double cgroup_throttled_read(const struct cgroup_directory *cpu);

/* Usage of a group and all below it. NaN: not available. */
struct cgroup_usage {
    double memory_current_bytes; /* includes page cache */
    double memory_peak_bytes;    /* since the group was made; version 2: Linux 5.19 */
    double cpu_seconds;
    double cpu_user_seconds;
    double cpu_system_seconds;
};

void cgroup_usage_read(const struct cgroup *cgroup, struct cgroup_usage *usage);

/*
 * RAM of a group and all below it, each page once and at one moment. It may lag by
 * cgroup_lag_bytes(). File pages count only if the group brought them into RAM. NaN: not
 * available.
 */
struct cgroup_memory {
    double anonymous_bytes; /* that its processes have mapped */
    double mapped_bytes;    /* of files and shared memory, mapped by any process of the machine */
};

/* Both are known, or none. */
void cgroup_memory_parse(const char *memory_stat, bool is_v2, struct cgroup_memory *memory);
void cgroup_memory_read(const char *directory, bool is_v2, struct cgroup_memory *memory);

/* How many processes of a group the kernel killed because memory ran out, since the group was made;
 * version 2: of groups below it, too, which version 1 does not count. NaN: not available (version
 * 1: before Linux 4.13). The text is memory.events, or version 1's memory.oom_control. */
double cgroup_oom_kills_parse(const char *text);
double cgroup_oom_kills_read(const struct cgroup_directory *memory);

/* Maximum lag of the kernel's statistics of a group: each CPU batches some pages. It reads a
 * file: call it once. */
double cgroup_lag_bytes(void);

/* Appends the processes of one group, not those of groups below it (cgroup.procs). Pids are those
 * of the reader's pid namespace. Errors: as of files, GPUT_ERROR_MEMORY. */
int cgroup_processes_read(
    const char *directory, struct pid_vector *processes, struct gput_error *error);
