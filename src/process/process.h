/*
 * One process of the tracked tree, and what the last poll of it gave.
 *
 * A poll begins with the process's CPU clock, which costs a third of a microsecond. A clock that
 * stands still means that the process has not run: it cannot have started children or threads,
 * ended, called execve or touched memory, so everything else is as it was. Only processes that have
 * run are read further.
 */
#ifndef PROCESS_PROCESS_H
#define PROCESS_PROCESS_H

#include "os/pid_vector.h"
#include "process/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_record;

struct process {
    pid_t pid;
    uint64_t start_time_ticks; /* identifies the process together with the pid */
    pid_t parent;
    char state;
    char name[16]; /* the kernel's comm, truncated */
    uint32_t thread_count;
    /*
     * Identifies the program image: processes that were forked from one another and have not called
     * execve since have the same. 0: not known.
     */
    uint64_t exec_generation;

    int64_t cpu_ns;                    /* CPU time used so far, all threads, user and system */
    uint64_t children_ticks;           /* CPU time of collected children (cutime and cstime) */
    uint64_t user_ticks, system_ticks; /* of itself and them, as of the last reading of stat */
    uint64_t minor_faults;             /* pages touched for the first time, or copied */
    uint64_t major_faults;             /* pages read from storage */
    /* Of collected children (cminflt and cmajflt). */
    uint64_t children_minor_faults, children_major_faults;
    /* Of both, what was used before tracking began. */
    int64_t cpu_before_ns;
    uint64_t children_before_ticks;

    /* The pid under which procfs shows its memory: its own, or, when its leader has exited, that of
     * another thread. Procfs has a folder for every thread, though it does not list them. */
    pid_t memory_pid;
    int stat_fd, statm_fd, children_fd; /* cached, or -1 */
    int io_fd;                          /* the same, after process_open_io() */

    bool is_main;
    bool is_other;        /* a root besides main (process_tree_options.others) */
    bool is_old;          /* it started before tracking began */
    bool is_new;          /* found by the last scan */
    bool is_gone;         /* it has ended; the tree is about to remove it */
    bool is_fork;         /* it has not called execve since its fork */
    bool has_run;         /* its CPU clock moved between the last two scans */
    bool children_unread; /* it ran since its children were last read */
    bool was_not_read;    /* it ran, and could not be read without a free descriptor */
    bool is_vfork_child;  /* it runs in its vfork parent's memory until it calls execve */

    pid_t vfork_parent; /* as a rule its parent; 0: it is no vfork child, or the vfork parent has
                           ended */
    struct memory memory;
    uint64_t peak_resident_bytes;  /* highest RSS polled, but as a vfork child */
    struct process_record *record; /* kept by the process log; NULL: none */
    /* Kept by the RAM meter. */
    uint32_t exec_generation_members; /* in the tree, itself included */
    uint64_t exec_generation_hash;    /* hash of the set of these */
    int64_t ranges_read_ns;           /* scan of the last reading of its file and shared mappings */
    uint64_t faults_when_read;        /* minor_faults at the last exact reading */
    uint64_t private_when_marked;     /* private bytes when its sharers were last marked stale */
    uint64_t peak_anonymous_bytes;    /* highest of all scans */
    uint64_t unseen_bytes; /* scratch: by which it may have had more than that between scans */
    bool has_forks;        /* scratch: a fork of it is in the same exec generation */
    bool has_unread_forks; /* scratch: of these, some with maps that were not read yet */
    uint64_t family_bytes; /* scratch: the most that it or one of its forks has */
    bool was_refused;      /* its maps could not be read, now or before an execve */
    bool memory_is_stale;  /* processes that share its memory started, ended or changed it */
    bool ranges_are_stale; /* another process maps what was private when last read */
    int64_t exact_read_ns; /* scan of the last exact reading */
    int64_t exact_not_before_ns;

    int64_t read_ns; /* when stat and statm were last read */
};

/* How processes are polled. */
struct process_view {
    const char *procfs_root;
    bool has_cpu_clocks; /* procfs_root has the pids of our namespace: CPU clocks are of the same
                            processes */
    int64_t ns_per_tick; /* unit of the times in stat */
    uint64_t page_bytes;
    uint64_t lag_bytes;  /* by which the kernel's RSS counters may lag */
    unsigned free_files; /* how many more descriptors may be cached */
};

/* The view of a procfs root: the caller sets `free_files`. */
struct process_view process_view_of(const char *procfs_root);

/*
 * Polls a process for the first time; `parent` may be NULL. With `is_old` what it has used so far
 * does not count. On success the caller calls process_finish(). Errors: GPUT_ERROR_GONE and others
 * of os/procfs.h.
 */
int process_init(struct process *process, pid_t pid, bool is_old, const struct process *parent,
    struct process_view *view);

/* Closes the cached descriptors. */
void process_close_cached_files(struct process *process, struct process_view *view);

/* Closes and frees what it holds. */
void process_finish(struct process *process, struct process_view *view);

/*
 * Polls it again; `vfork_parent` is NULL unless it is a vfork child. GPUT_ERROR_GONE: it has ended,
 * or its pid is another process's now. GPUT_ERROR_FILES: the next poll reads what this one could
 * not.
 */
int process_poll(struct process *process, const struct process *vfork_parent,
    struct process_view *view, int64_t now_ns);

/* Reads its memory exactly (see memory_read_exact()), and statm of that moment. */
int process_read_exact(struct process *process, bool rollup, struct process_view *view);

/* Reads again the CPU time that it has collected from its children, and nothing else. */
void process_read_collected(struct process *process, struct process_view *view);

/* Opens its I/O counters (/proc/PID/io) unless they are open. Once it has ended only the superuser
 * may open them. */
void process_open_io(struct process *process, struct process_view *view);

/* Reads statm again, after it was read exactly: zero where it has ended since. */
void process_refresh(struct process *process, struct process_view *view);

/* Appends the children of each of its threads. Errors: see os/proc_children.h. */
int process_read_children(
    struct process *process, struct process_view *view, struct pid_vector *children);

/*
 * Sends a signal to the very process that was polled, never to another that reuses its pid; number
 * 0 only checks. Returns 0 or an errno: ESRCH when it is gone, or cannot be proven to be the same.
 */
int process_signal(struct process *process, struct process_view *view, int number);

/* True when it has collected a child. */
bool process_has_collected(const struct process *process);

/* True when it has ended and its parent has not collected it yet. */
bool process_is_zombie(const struct process *process);

/* True when its first thread (the leader) has exited and others live. */
bool process_leader_has_exited(const struct process *process);

/* Number of its living threads. */
uint32_t process_thread_count(const struct process *process);

/* True when its memory is to be counted. */
bool process_has_memory(const struct process *process);

/* True when both share one address space. False also where that is not known. */
bool process_shares_memory(
    const struct process *process, const struct process *other, const struct process_view *view);

/*
 * True when only statm can be read of its memory: neither its maps nor its exec generation may be
 * read.
 */
bool process_is_opaque(const struct process *process);

/* Its own CPU time since tracking began. */
int64_t process_cpu_ns(const struct process *process);

/* CPU time of children that it collected, since tracking began. */
int64_t process_children_ns(const struct process *process, const struct process_view *view);

/* CPU time that it and the children it had collected used before tracking began. */
int64_t process_before_ns(const struct process *process, const struct process_view *view);

#endif
