/*
 * A procfs of a pid namespace around ours that is mounted too, as containers have one that are
 * given the host's /proc (-v /proc:/host/proc): it tells which of our processes a pid of the host
 * means.
 */
#ifndef OS_OUTER_PROCFS_H
#define OS_OUTER_PROCFS_H

#include <stdint.h>
#include <sys/types.h>

/* All zeroes: none. */
struct outer_procfs {
    char *root;     /* owned; NULL: none is mounted, or none may be read */
    uint32_t depth; /* how many namespaces ours is below its own */
};

/* Looks through the mounts that this process sees; the outermost one is taken. `procfs_root` is the
 * procfs whose pids are meant by "ours". Release with outer_procfs_finish(). */
void outer_procfs_find(const char *procfs_root, struct outer_procfs *outer);

void outer_procfs_finish(struct outer_procfs *outer);

/*
 * The process of `procfs_root` that the outer namespace calls `outer_pid`, proven by start time and
 * namespace. 0: it is a process that is not in sight there; -1: the outer procfs has no such
 * process.
 */
pid_t outer_procfs_translate(
    const struct outer_procfs *outer, const char *procfs_root, pid_t outer_pid);

#endif
