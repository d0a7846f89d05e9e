/*
 * The tracked processes: main and everything that descends from it, also through threads that fork,
 * parents that have ended, and daemons. Other processes can be tracked along with it: they count as
 * descendants, whatever their parents are. Or it is all processes of the machine, without a main.
 */
#pragma once

#include "machine/os/proc_list.h"
#include "machine/os/procfs.h"
#include "machine/process/process.h"
#include "machine/process/process_table.h"
#include "machine/process/process_threads.h"

#include <stddef.h>
#include <stdint.h>

struct process_tree_options {
    const char *procfs_root;
    struct bounded_calls *calls; /* for readings that may never return; NULL: without a bound */
    pid_t main;                  /* 0: all processes of the machine, the calling one too */
    /* Tracked too, with what they start; those that do not exist are skipped. */
    const pid_t *others;
    size_t n_others;
    bool main_is_old;  /* what main, the others and their descendants used so far does not count */
    bool is_subreaper; /* the calling process is main's child subreaper: orphans become its children
                        */
    /* True for a child of the calling process that is its own, not an adopted orphan; NULL: no
     * child is. */
    bool (*is_own_child)(void *caller, pid_t pid);
    void *caller;
    unsigned kept_files;   /* how many descriptors may be cached */
    bool has_hugetlb;      /* see struct process_view */
    bool has_exit_records; /* likewise */
    /* Pids may be chosen, and nothing announces starts: processes may be started without a change
     * of the last pid. */
    bool may_choose_pids;
    /* Called with `user` and each process that procfs has no more, unless its state is
     * PROCESS_FOUND: calls process_end_polls(), and may take the process out of the table. NULL: no
     * process leaves that state. */
    void (*removed)(void *user, struct process *process);
    void *user;
};

/* CPU time of processes that a tree has removed. */
struct removed_cpu {
    int64_t descendants_ns; /* of descendants, when last polled */
    int64_t before_ns;      /* and before tracking began, which their parents collected, too */
    int64_t others_ns; /* used and collected by other roots: no process of the tree collects it */
};

struct process_tree {
    struct process_view view;
    struct process_tree_options options;
    pid_t own_pid; /* 0 where procfs_root has the pids of another namespace */

    /* All processes, also those that procfs does not have (yet, or any more): what the process log
     * knows of them. */
    struct process_table table;
    /*
     * The processes in procfs, which are polled. Main is first, and each process comes after its
     * parent: what a parent has collected from a child is read before the child's end is seen,
     * so CPU time never counts twice.
     */
    struct process **processes; /* the array is owned */
    size_t count, capacity;

    bool has_others;     /* options.others was not empty */
    bool has_changed;    /* the last scan found processes or lost some */
    uint64_t generation; /* increases whenever has_changed */
    uint64_t seen;       /* distinct processes so far, main included */
    struct removed_cpu removed;
    struct run_queue_times run_queue; /* by readings of threads */
    size_t turn;                      /* of processes whose states are sampled */
    int loadavg_fd;                   /* -1: not available */
    int own_children_fd;              /* of the calling process; -1: not open */
    pid_t last_pid;                   /* last pid allocated before the last reading of children */
    pid_t lowest_new_pid, highest_new_pid; /* of those found that are not old; 0: none */
    bool has_children_files;               /* this kernel has task/T/children */
    bool lacks_descriptors;                /* the last scan could not open what it needed */
    uint64_t scans_without_files;          /* how many scans could not */
    uint64_t unanswered;     /* processes so far of which a reading did not return in time */
    struct pid_vector found; /* scratch */
    struct proc_list list;   /* scratch, for kernels without children files */
};

/* A reading of it did not return in time. */
void process_tree_note_unanswered(struct process_tree *tree, struct process *process);

/*
 * Begins with a first scan. On success the caller calls process_tree_finish(). Errors:
 * GPUT_ERROR_NOT_FOUND when there is no such process; GPUT_ERROR_MEMORY.
 */
int process_tree_init(struct process_tree *tree, const struct process_tree_options *options,
    struct gput_error *error);

void process_tree_finish(struct process_tree *tree);

/*
 * Polls every process again, drops those that have ended and finds those that were started.
 * `none_started`: the caller knows that no process was started on the machine since the last scan,
 * and none is searched for. Errors: GPUT_ERROR_MEMORY; the tree stays valid, but new processes may
 * be missing from it.
 */
int process_tree_scan(struct process_tree *tree, bool none_started, int64_t now_ns);

/* A process was started: the next scan searches for it, even where the last pid is what it was,
 * because a program chose the pid (set_tid of clone3()). */
void process_tree_note_start(struct process_tree *tree);

/*
 * Adds a process that is known to be a descendant though its parent is not in the tree: an orphan
 * that another process adopted. Its children are found by later scans. GPUT_ERROR_GONE and others
 * of machine/os/procfs.h.
 */
int process_tree_adopt(struct process_tree *tree, pid_t pid);

/*
 * After a scan: reads how long threads ran and waited for a CPU, of processes that ran. `is_brief`:
 * those with several threads are left to the next reading.
 */
void process_tree_read_threads(struct process_tree *tree, bool is_brief, int64_t now_ns);

/* Looks at what threads sleep in at one moment, which stands for `weight_ns`. Where there are
 * many processes, it looks at main and a part of the others, which stand for all others. */
void process_tree_sample_states(struct process_tree *tree, int64_t weight_ns);

/*
 * For when no file can be opened any more: closes all cached descriptors and caches none from then
 * on. True when that freed anything.
 */
bool process_tree_close_cached_files(struct process_tree *tree);

/* Reads again what parents have collected of which a child has ended since. */
void process_tree_read_collected(struct process_tree *tree);

/* The process with that pid that procfs has, or NULL. */
struct process *process_tree_get(const struct process_tree *tree, pid_t pid);

/* Its parent, where it was forked from that and neither has called execve() since; or NULL. */
struct process *process_tree_forked_from(
    const struct process_tree *tree, const struct process *process);

/* Main, or NULL when it has been removed, or there is none. */
struct process *process_tree_main(const struct process_tree *tree);

/*
 * CPU time by scans: the CPU clocks of living processes, and what parents have collected from those
 * that ended, whether a scan ever saw them or not. It lacks:
 *
 *   - what a process used after its last poll, if no tracked process collected that. Its parent
 *     ignores SIGCHLD (auto-reaped); or it had ended, and the process that adopted the child is not
 *     tracked.
 *   - up to two clock ticks for each parent, as collected time is in clock ticks.
 *
 * At the end of a session it is compared with what the kernel counted (process_log_cpu_ns(),
 * ledger.h).
 */

/* CPU time used since tracking began; never decreases. */
struct cpu_totals {
    int64_t main_ns;        /* by the main process itself, all its threads */
    int64_t descendants_ns; /* by all others, including ended ones */
};

/*
 * Updates the totals from the last scan. `orphans_ns` is what the calling process has collected
 * from orphans that it adopted. `own_ns` is what the tracker itself used inside the main process (0
 * when it is a process of its own): that is subtracted.
 *
 * Collected time comes in clock ticks, so the figure for ended processes may lag by up to two ticks
 * for each parent. The lag does not accumulate, because the kernel's counters are totals.
 */
void cpu_totals_update(
    struct cpu_totals *totals, const struct process_tree *tree, int64_t orphans_ns, int64_t own_ns);
