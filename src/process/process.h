/*
 * One process of the tracked tree, and what the last poll of it gave.
 *
 * A scan begins with the process's CPU clock, which costs a third of a microsecond. A clock that
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
    uint64_t start_time_ticks; /* with the pid it names a process for ever */
    pid_t parent;
    char state;
    char name[16]; /* as the kernel has it, cut */
    uint32_t thread_count;
    /*
     * Names the program image: processes that were forked from one another and have not called
     * execve since have the same. 0: the system does not tell.
     */
    uint64_t exec_generation;

    int64_t cpu_ns;                    /* CPU time used so far, all threads, user and system */
    uint64_t children_ticks;           /* CPU time of children that it has waited for, and theirs */
    uint64_t user_ticks, system_ticks; /* of it and them, as of the last reading of stat */
    uint64_t minor_faults; /* pages that it touched for the first time, or had to copy */
    uint64_t major_faults; /* pages that had to come from storage */
    /* Of children that it has waited for, and theirs. */
    uint64_t children_minor_faults, children_major_faults;
    /* How much of both was used before tracking began. */
    int64_t cpu_before_ns;
    uint64_t children_before_ticks;

    /* Whose files tell of its memory: its own, or, when its first thread has ended and others live
     * on, one of those. Procfs has a folder for every thread, though it lists them not. */
    pid_t memory_pid;
    int stat_fd, statm_fd, children_fd; /* kept open, or -1 */
    int io_fd;                          /* the same of one that process_open_io() was called for */

    bool is_main;
    bool is_other;        /* tracked along with main, and no child of one in the tree */
    bool is_old;          /* it began before tracking did */
    bool is_new;          /* found by the last scan */
    bool is_gone;         /* it has ended; the tree is about to drop it */
    bool is_fork;         /* it has not called execve since it was forked */
    bool has_run;         /* its CPU clock moved between the last two scans */
    bool children_unread; /* it ran since its children were last read */
    bool is_unread;       /* it ran, and could not be read for want of descriptors */
    bool is_vfork_child;  /* it runs in its vfork parent's memory (vfork) until it calls execve */

    pid_t vfork_parent; /* its parent, as a rule; 0: it never borrowed, or nobody is left to have
                           lent */
    struct memory memory;
    uint64_t peak_resident_bytes;  /* the highest RSS of all scans, of memory not borrowed */
    struct process_record *record; /* kept by the process log; NULL: none */
    /* Kept by the RAM meter. */
    uint32_t exec_generation_members; /* tracked processes with this image, itself included */
    uint64_t exec_generation_mark;    /* which ones these are */
    int64_t ranges_read_ns;           /* scan of the last reading of its file and shared mappings */
    uint64_t faults_when_read;        /* minor_faults at the last exact reading */
    uint64_t private_when_notified; /* what it had alone when those it shares with were last told */
    uint64_t peak_anonymous_bytes;  /* the most of all scans */
    uint64_t unseen_bytes; /* scratch: by which it may have had more than that between scans */
    bool has_forks;        /* scratch: some process has its image from it */
    bool has_unread_forks; /* scratch: of these, some whose maps were not read yet */
    uint64_t family_bytes; /* scratch: the most that one of its forks has, itself included */
    bool was_refused;      /* its memory could not be read, now or before an execve */
    bool memory_is_stale;  /* others who share its memory came, went or changed it */
    bool ranges_are_stale; /* another process maps what it had alone when last read */
    int64_t exact_read_ns; /* look of the last exact reading */
    int64_t exact_not_before_ns;

    int64_t read_ns; /* when stat and statm were last read */
};

/* Where looks are taken. */
struct process_view {
    const char *procfs_root;
    bool has_cpu_clocks; /* pids of procfs_root are ours: CPU clocks are of the same processes */
    int64_t ns_per_tick; /* of the times in stat */
    uint64_t page_bytes;
    uint64_t lag_bytes;  /* by which counters of memory may be after */
    unsigned free_files; /* descriptors that may still be kept open */
};

/* The view of a procfs root: `free_files` is left to the caller. */
struct process_view process_view_of(const char *procfs_root);

/*
 * Polls a process for the first time; `parent` may be NULL. With `is_old` what it used so far does
 * not count. On success the caller calls process_finish(). Errors: GPUT_ERROR_GONE and others of
 * os/procfs.h.
 */
int process_init(struct process *process, pid_t pid, bool is_old, const struct process *parent,
    struct process_view *view);

/* Closes the descriptors that are kept open to read it faster. */
void process_close_files(struct process *process, struct process_view *view);

/* Closes and frees what it holds. */
void process_finish(struct process *process, struct process_view *view);

/*
 * Polls it again; `vfork parent` is whose memory it borrows, or NULL. GPUT_ERROR_GONE: it has
 * ended, or its pid is another process's now. GPUT_ERROR_FILES: the next poll reads what this one
 * could not.
 */
int process_poll(struct process *process, const struct process *vfork_parent,
    struct process_view *view, int64_t now_ns);

/* Reads its memory exactly (see memory_read_exact()), and the cheap figures of that moment. */
int process_read_exact(struct process *process, bool rollup, struct process_view *view);

/* Reads again what it has collected from its children, and nothing else. */
void process_read_collected(struct process *process, struct process_view *view);

/* Opens what it has read and written, unless it is open, while it still may be read: of a process
 * that has ended only the superuser may open it. */
void process_open_io(struct process *process, struct process_view *view);

/* Its cheap figures anew, after it was read exactly: none where it has ended since. */
void process_refresh(struct process *process, struct process_view *view);

/* Appends the children that each of its threads started. Errors: see os/proc_children.h. */
int process_read_children(
    struct process *process, struct process_view *view, struct pid_vector *children);

/*
 * Sends a signal to the very process that was polled, never to another that has its number now;
 * 0 only asks. Returns 0 or an errno: ESRCH when it is gone, or cannot be proven to be the one.
 */
int process_signal(struct process *process, struct process_view *view, int number);

/* True when it has waited for some child that ended. */
bool process_has_collected(const struct process *process);

/* True when it has ended and only waits to be collected by its parent. */
bool process_is_zombie(const struct process *process);

/* True when its first thread has ended and others live on. */
bool process_leader_has_exited(const struct process *process);

/* Its threads that live. */
uint32_t process_thread_count(const struct process *process);

/* True when its memory is to be counted. */
bool process_has_memory(const struct process *process);

/* True when both run in the same memory. False also where the system does not tell. */
bool process_shares_memory(
    const struct process *process, const struct process *other, const struct process_view *view);

/*
 * True when nothing but statm tells of its memory: the system does not let us read its maps, nor
 * see whom it was forked from.
 */
bool process_is_opaque(const struct process *process);

/* CPU time of itself, since tracking began. */
int64_t process_cpu_ns(const struct process *process);

/* CPU time of children that it has waited for, since tracking began. */
int64_t process_children_ns(const struct process *process, const struct process_view *view);

/* CPU time that it and the children it had waited for used before tracking began. */
int64_t process_before_ns(const struct process *process, const struct process_view *view);

#endif
