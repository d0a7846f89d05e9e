/*
 * The owner of a pid that a driver lists: main, a descendant, an untracked process, or no visible
 * process. Drivers can list pids of another namespace than ours. Those of a nested one are matched
 * by the NSpid of /proc/PID/status, and only when no process of our namespace has the same pid.
 * Those of the host, which older drivers list inside a container, are looked up in a procfs of the
 * host, where one is mounted.
 */
#pragma once

#include "machine/gpu/source.h"
#include "machine/os/mountinfo.h"

#include <stdbool.h>

enum pid_owner {
    PID_OWNER_MAIN,
    PID_OWNER_DESCENDANT,
    PID_OWNER_UNTRACKED, /* a process that is not tracked */
    PID_OWNER_UNKNOWN,   /* no visible process */
};

/* A cache for the pids of one driver. The pids of tracked processes in nested namespaces are read
 * when first needed, once for each process. All zeroes is an empty cache. */
struct pid_owner_cache {
    struct pid_alias {
        pid_t alias; /* in a namespace below the one of procfs */
        pid_t pid;   /* in procfs */
    } * aliases;     /* owned */
    size_t n_aliases, alias_capacity;
    pid_t *known; /* tracked pids whose status was read, ascending; owned */
    size_t n_known;
    uint64_t generation; /* of the tree from which `known` was read */
    bool filled;
    struct outer_procfs outer; /* searched for when first needed */
    bool outer_searched;
    bool is_unproven; /* pids of the last list may be of a namespace around ours */
    bool lists_outer; /* the driver lists pids of that namespace, except those of clients */
};

void pid_owner_cache_finish(struct pid_owner_cache *pid_owners);

/* Among which processes owners are found; all of it borrowed. */
struct pid_owner_search {
    struct pid_owner_cache *pid_owners; /* of the driver */
    const char *procfs_root;
    const struct gpu_tree *tree;
};

/* Detects from a list of processes whether its pids are those of the outer namespace: then they do
 * not refer to processes of ours, even when the number exists. */
void pid_owner_learn(const struct pid_owner_search *search, const struct gpu_process_list *list);

/* Whether the pid of an entry is one of our namespace, as those of clients are, and those of most
 * drivers. */
bool pid_owner_cache_has_our_pid(
    const struct pid_owner_cache *pid_owners, const struct gpu_process *entry);

/* Finds the owner of an entry; reads procfs only for pids that are not in the tree. For main or a
 * descendant `*tracked` is its pid in the tree; `tracked` may be NULL. */
enum pid_owner pid_owner_find(
    const struct pid_owner_search *search, const struct gpu_process *entry, pid_t *tracked);

/*
 * Which processes have the device files of a GPU driver open. A process without one does not use
 * the GPU, whatever pids the driver lists.
 */

/* Whether this process has a file of that name, in any folder, open. */
bool device_files_are_own(const char *name);

/*
 * Whether it is certain that no tracked process has a file open whose name begins so, except the
 * file called `but` (NULL: no exception). False also when the files of some process may not be
 * listed, or there is no process.
 */
bool device_files_none_open(const char *procfs_root, const struct gpu_tracked *tracked,
    const char *prefix, const char *but);

/*
 * Whether the pids of a list are proven to be those of this procfs: each is there, and one of them
 * has a file open whose name begins so. This process, which may have them open only to ask the
 * driver, has to have one whose name begins with `own_prefix`. True of an empty list.
 */
bool device_files_prove_pids(const char *procfs_root, const struct gpu_process_list *list,
    const char *prefix, const char *but, const char *own_prefix);
