/*
 * The tracked processes: main and everything that descends from it, also through threads that fork,
 * parents that have ended, and daemons. Others can be tracked along with it: they count as
 * descendants, wherever they come from.
 */
#ifndef PROCESS_PROCESS_TREE_H
#define PROCESS_PROCESS_TREE_H

#include "os/pid_vector.h"
#include "os/proc_list.h"
#include "process/process.h"

#include <stddef.h>
#include <stdint.h>

struct process_tree_options {
    const char *procfs_root;
    pid_t main;
    const pid_t *others; /* tracked too, with what they start; those that are not there are left
                            out */
    size_t n_others;
    bool main_is_old; /* what it, the others and their descendants used so far does not count */
    bool adopts;      /* the calling process is main's child subreaper: orphans become its own
                         children */
    /* Tells which children of the calling process are its own, and no orphans; NULL: none is. */
    bool (*is_callers)(void *caller, pid_t pid);
    void *caller;
    unsigned kept_files; /* descriptors that may be kept open */
    /* Called with `user` and each process that is about to leave the tree; NULL: nobody is. */
    void (*gone)(void *user, struct process *process);
    void *user;
};

struct process_tree {
    struct process_view view;
    struct process_tree_options options;
    pid_t own_pid; /* 0 where the pids of procfs_root are not ours */

    /* Main first, and every process after its parent, so that what a parent has collected from a
     * child is read before the child is found gone: CPU time is never counted twice. */
    struct process **processes; /* owned, each too */
    size_t count, capacity;
    struct process **by_pid; /* hash table, linear probing; size is a power of two */
    size_t table_size;

    bool main_is_gone;
    bool has_others;         /* main is not the only one that was to be tracked */
    bool has_changed;        /* the last scan found processes or lost some */
    uint64_t generation;     /* goes up whenever has_changed */
    uint64_t seen;           /* distinct processes so far, main included */
    int64_t gone_cpu_ns;     /* what descendants that are gone had used when last seen */
    int64_t gone_before_ns;  /* what they had used before tracking began: their parents have
                                collected that, too */
    int64_t gone_others_ns;  /* what others that are gone had used and collected: nobody in the tree
                                collects it from them */
    int loadavg_fd;          /* -1: not to be had */
    pid_t last_pid;          /* given out by the kernel before the last reading of children */
    bool has_children_files; /* this kernel has task/T/children */
    bool lacks_files;        /* the last poll could not open what it needed */
    uint64_t polls_without_files; /* how many could not */
    struct pid_vector found;      /* scratch */
    struct proc_list list;        /* scratch, for kernels without children files */
};

/*
 * Scans for the first time. On success the caller calls process_tree_finish().
 * Errors: GPUT_ERROR_NOT_FOUND when there is no such process; GPUT_ERROR_MEMORY.
 */
int process_tree_init(struct process_tree *tree, const struct process_tree_options *options,
    struct gput_error *error);

void process_tree_finish(struct process_tree *tree);

/*
 * Polls every process again, drops those that have ended and finds those that were started.
 * `none_started`: no process was started on the machine since the scan before, as far as the caller
 * knows; then none are looked for. Errors: GPUT_ERROR_MEMORY; the tree is then whole, but new
 * processes may be missing from it.
 */
int process_tree_scan(struct process_tree *tree, bool none_started, int64_t now_ns);

/*
 * Adds a process that is known to be a descendant, though no parent in the tree has it: an orphan
 * that another process adopted. What it starts is found by later scans. GPUT_ERROR_GONE and others
 * of os/procfs.h.
 */
int process_tree_adopt(struct process_tree *tree, pid_t pid);

/*
 * For when no file can be opened any more: closes all that is kept open to read faster, and keeps
 * none from then on. True when that was something.
 */
bool process_tree_give_way(struct process_tree *tree);

/* The tracked process with that pid, or NULL. */
struct process *process_tree_get(const struct process_tree *tree, pid_t pid);

/* Main, or NULL when it is gone. */
struct process *process_tree_main(const struct process_tree *tree);

#endif
