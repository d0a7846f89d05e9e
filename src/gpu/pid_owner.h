/*
 * Whose a pid is that a driver answered: main's, a descendant's, somebody else's, or nobody's in
 * sight. Drivers can answer the pids of another namespace than ours. Those of an inner one are
 * matched by the NSpid of /proc/PID/status, and only when no process here has that very pid. Those
 * of the host, which older drivers answer inside a container, are looked up in a procfs of the
 * host, where one is mounted.
 */
#ifndef GPU_PID_OWNER_H
#define GPU_PID_OWNER_H

#include "gpu/source.h"
#include "os/outer_procfs.h"

enum pid_owner {
    PID_OWNER_MAIN,
    PID_OWNER_DESCENDANT,
    PID_OWNER_STRANGER, /* a process that is not tracked */
    PID_OWNER_UNKNOWN,  /* no process that can be seen from here */
};

/* What is known of the pids of one driver. Those that tracked processes have in other namespaces
 * are read when first needed, and once for each process. All zeroes is an empty book. */
struct pid_owner_cache {
    struct pid_alias {
        pid_t alias; /* in a namespace below the one of procfs */
        pid_t pid;   /* in procfs */
    } * aliases;     /* owned */
    size_t n_aliases, alias_capacity;
    pid_t *known; /* tracked pids whose status was read, ascending; owned */
    size_t n_known;
    uint64_t generation; /* of the tree that `known` is about */
    bool filled;
    struct outer_procfs outer; /* searched for when first needed */
    bool outer_sought;
    bool lists_outer; /* the driver answers pids of that namespace, where it has them */
};

void pid_owner_cache_finish(struct pid_owner_cache *book);

/* Notes from a list of processes whether its pids are those of the outer namespace: then they mean
 * nothing in ours, also where a process here has the same number. */
void pid_book_learn(struct pid_owner_cache *book, const char *procfs_root,
    const struct gpu_tree *tree, const struct gpu_process_list *list);

/* Whether the pid of an entry is one of our procfs: clients are found there, and most drivers
 * answer such. */
bool pid_book_has_own_pids(const struct pid_owner_cache *book, const struct gpu_process *entry);

/* Looks the pid of an entry up in the tree; reads procfs only for pids that are not in it. Main's
 * or a descendant's is `*tracked` there; `tracked` may be NULL. */
enum pid_owner pid_owner_find(struct pid_owner_cache *book, const char *procfs_root,
    const struct gpu_tree *tree, const struct gpu_process *entry, pid_t *tracked);

#endif
