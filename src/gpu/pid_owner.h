/*
 * Whose a pid is that a driver answered: main's, a descendant's, somebody else's, or nobody's in
 * sight. Drivers can answer the pids of another namespace than ours: those are matched by the NSpid
 * of /proc/PID/status, and only when no process here has that very pid.
 */
#ifndef GPU_PID_OWNER_H
#define GPU_PID_OWNER_H

#include "gpu/gpu.h"

enum pid_owner {
    PID_OWNER_MAIN,
    PID_OWNER_DESCENDANT,
    PID_OWNER_STRANGER, /* a process that is not tracked */
    PID_OWNER_UNKNOWN,  /* no process that can be seen from here */
};

/* The pids that tracked processes have in other namespaces; read when first needed, and once for
 * each process. All zeroes is an empty book. */
struct pid_book {
    struct pid_alias {
        pid_t alias; /* in a namespace below the one of procfs */
        pid_t pid;   /* in procfs */
    } * aliases;     /* owned */
    size_t n_aliases, alias_capacity;
    pid_t *known; /* tracked pids whose status was read, ascending; owned */
    size_t n_known;
    uint64_t generation; /* of the tree that `known` is about */
    bool filled;
};

void pid_book_finish(struct pid_book *book);

/* Looks a driver's pid up in the tree; reads procfs only for pids that are not in it. Main's or a
 * descendant's is `*tracked` there; `tracked` may be NULL. */
enum pid_owner pid_owner_find(struct pid_book *book, const char *procfs_root,
    const struct gpu_tree *tree, pid_t pid, pid_t *tracked);

#endif
