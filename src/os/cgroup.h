/*
 * Control groups: in which groups a process is, how much they let it have, what they have used.
 * Versions 1 and 2 and both mounted next to each other ("hybrid"); cgroup namespaces and containers
 * that mount only their own part.
 */
#ifndef OS_CGROUP_H
#define OS_CGROUP_H

#include "base/error.h"

#include "os/pid_vector.h"

#include <stdbool.h>
#include <sys/types.h>

/* Where one hierarchy is mounted, and which directory of it a process is in. */
struct cgroup_directory {
    char *path;          /* "/sys/fs/cgroup/user.slice/x.scope", NULL: not to be had; owned */
    size_t mount_length; /* how much of `path` is the mount point: above it nothing can be seen */
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

/*
 * Finds the directories of a process: <procfs>/PID/cgroup, and the mounts of
 * <procfs>/self/mountinfo (or, where there is no self, PID/mountinfo). A mount point below /sys is
 * looked up below `sysfs`. On success the caller frees it with cgroup_finish(); directories that
 * are not to be had are NULL, which is no error. Errors: see os/procfs.h; GPUT_ERROR_UNSUPPORTED
 * when the kernel has no cgroups; GPUT_ERROR_MEMORY.
 */
int cgroup_find(const char *procfs, const char *sysfs, pid_t pid, struct cgroup *cgroup,
    struct gput_error *error);

/* The same from the texts of both files. Looks at directories below `sysfs` only to see whether
 * they are there. */
int cgroup_parse(
    const char *cgroup_text, const char *mountinfo_text, const char *sysfs, struct cgroup *cgroup);

void cgroup_finish(struct cgroup *cgroup);

/* The tightest of each over the group and all that can be seen above it. NaN: no limit, or not to
 * be had. */
struct cgroup_limits {
    double memory_max_bytes;
    double memory_high_bytes; /* above it the kernel slows the group down; version 2 only */
    double swap_max_bytes;    /* swap alone; version 2 only */
    double cpu_cores;         /* quota / period: 1.5 is one and a half cores */
    double cpuset_cores;      /* number of CPUs that the group may run on */
    double pids_max;          /* processes and threads */
};

void cgroup_limits_read(const struct cgroup *cgroup, struct cgroup_limits *limits);

/* What a group and all below it have used. NaN: not to be had. */
struct cgroup_usage {
    double memory_current_bytes; /* page cache is in it */
    double memory_peak_bytes;    /* since the group was made; version 2: Linux 5.19 */
    double cpu_seconds;
    double cpu_user_seconds;
    double cpu_system_seconds;
    double pids_current;
};

void cgroup_usage_read(const struct cgroup *cgroup, struct cgroup_usage *usage);

/*
 * What the processes of a group and of all below it have mapped, each page once and all of one
 * moment: anonymous memory, and what some of them map of files and shared memory. It may be off by
 * cgroup_lag_bytes(). NaN: not told. Of files only what was brought into RAM from the group itself.
 */
double cgroup_mapped_bytes_parse(const char *memory_stat, bool is_v2);
double cgroup_mapped_bytes_read(const char *directory, bool is_v2);

/* By which the kernel's statistics of a group may be after: each CPU holds back some pages. */
double cgroup_lag_bytes(void);

/* The same of one directory of version 2, for example one made for a tracked command. */
void cgroup_usage_read_v2(const char *directory, struct cgroup_usage *usage);

/* Appends the processes of one group, not those of groups below it (cgroup.procs). Pids are those
 * of the reader's pid namespace. Errors: as of files, GPUT_ERROR_MEMORY. */
int cgroup_processes_read(
    const char *directory, struct pid_vector *processes, struct gput_error *error);

#endif
