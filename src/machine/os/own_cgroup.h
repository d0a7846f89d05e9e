/*
 * A control group of our own around a command, below the group we are in, so that every limit stays
 * as it is. It counts exactly what the command and all it starts use: nothing between two polls is
 * lost.
 *
 * Only root may create one, and users to whom a part of the hierarchy was delegated. Nothing here
 * is required, so nothing here fails: what is not available is skipped.
 */
#pragma once

#include "machine/os/cgroup.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A directory that we made in one hierarchy. All zero: none. */
struct own_group {
    char *path;       /* NULL: none; owned */
    int directory_fd; /* of it */
};

struct own_cgroup {
    struct own_group v2;  /* counts CPU time, and memory where its parent has enabled it */
    struct own_group v1;  /* counts memory, if its controller is version 1's */
    char why_not[256];    /* why no group counts memory; "" when one does */
    uint64_t entry_bytes; /* written by the last child to move itself in, before execve() */
};

/*
 * Makes a directory "gpu-tracker-PID-RANDOM" below that of `here` in each hierarchy that is worth
 * it: that of version 2, and version 1's of memory; the previous contents of `own` are ignored. The
 * caller ends it by own_cgroup_remove(), whether one was made or not.
 *
 * A process may have several, and so may processes of the same pid in pid namespaces of their own.
 * While it is in use its directory is locked (flock of directory_fd). One that is not locked was
 * left by a tracker that was killed: it is removed on the way, nested ones first, where
 * no process is in them. Other names are never touched.
 */
void own_cgroup_create(struct own_cgroup *own, const struct cgroup *here, pid_t pid);

/*
 * fork(), with the child in the groups from its first instruction where the kernel can do that
 * (version 2); else the child moves itself. In the child only what is
 * allowed between fork and execve may be called. `own` may be NULL.
 *
 * *without_handlers, in the child: signals that had a handler have their default action, as
 * execve() would give it to them. Kernels before 5.5 leave that to the caller.
 */
pid_t own_cgroup_fork(struct own_cgroup *own, bool *without_handlers);

/* Its usage so far. NaN: not available, or the command was not moved into it. */
void own_cgroup_usage(const struct own_cgroup *own, struct cgroup_usage *usage);

/* Reads the RAM of the group; NaN: not available. */
void own_cgroup_memory(const struct own_cgroup *own, struct cgroup_memory *memory);

/* The memory of own_cgroup_usage() alone, which reads more files. */
void own_cgroup_charged(const struct own_cgroup *own, struct cgroup_usage *usage);

/* How many of its processes the kernel killed because memory ran out; NaN: not available. */
double own_cgroup_oom_kills(const struct own_cgroup *own);

/* Whether it has living processes. Also false where that is not known: without version 2. */
bool own_cgroup_has_living(const struct own_cgroup *own);

/* Kills all its processes by SIGKILL, including those forked meanwhile. False, and nothing is done,
 * without version 2, and before Linux 5.14. */
bool own_cgroup_kill(const struct own_cgroup *own);

/*
 * Moves processes that are left (daemons), also in groups below that killed trackers left, to where
 * they would be without us, removes the directories and frees. The group of a tracker that still
 * runs below stays, and with it ours; that tracker removes both at its end. All zero afterwards.
 */
void own_cgroup_remove(struct own_cgroup *own);
