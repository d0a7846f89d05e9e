/*
 * A mounted procfs of an outer pid namespace, as in containers with the host's /proc (-v
 * /proc:/host/proc): it translates pids of the host to ours.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* All zeroes: none. */
struct outer_procfs {
    char *root;     /* owned; NULL: none is mounted, or none is readable */
    uint32_t depth; /* how many levels our namespace is below its own */
};

/* Searches the mounts of this process and uses the outermost one. `procfs_root` is the procfs whose
 * pids are meant by "ours". Release with outer_procfs_finish(). */
void outer_procfs_find(const char *procfs_root, struct outer_procfs *outer);

void outer_procfs_finish(struct outer_procfs *outer);

/*
 * The process of `procfs_root` that has `outer_pid` in the outer namespace, verified by start time
 * and namespace. 0: that process is not visible in `procfs_root`; -1: the outer procfs has no such
 * process.
 */
pid_t outer_procfs_translate(
    const struct outer_procfs *outer, const char *procfs_root, pid_t outer_pid);
