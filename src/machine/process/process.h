/*
 * One tracked process: which it is, what state it is in, what it used so far. What is known of some
 * processes alone is a struct of its own: what polls read while procfs has it, what its exit
 * records gave, what it had used before tracking began.
 *
 * A poll begins with the process's CPU clock, which costs a third of a microsecond. A clock that
 * stands still means that the process has not run: it cannot have started children or threads,
 * ended, called execve or touched memory, so everything else is as it was. Only processes that have
 * run are read further.
 */
#pragma once

#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"
#include "machine/os/task_counts.h"
#include "machine/process/memory.h"
#include "machine/process/process_state.h"
#include "machine/process/wall_account.h"

#include <gputracker/processes.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Its last exact reading. */
struct exact_reading {
    int64_t read_ns;              /* the scan that it belongs to */
    int64_t ranges_read_ns;       /* scan of the last reading of its file and shared mappings */
    int64_t not_before_ns;        /* when the next one may be */
    int64_t cost_ns;              /* what it took */
    int64_t family_not_before_ns; /* when all of its family may be read again, at any cost */
    uint64_t faults;              /* minor faults of that moment */
    uint64_t mapped_bytes; /* file and shared memory that came in that scan before the reading */
    uint64_t private_when_marked; /* private bytes when its sharers were last marked stale */
    bool was_refused;             /* its maps could not be read, now or before an execve */
};

/* What it has copied of memory that forks share (machine/process/copies.h). */
struct copies {
    bool has_begun, has_basis;
    uint64_t pool_bytes;            /* bytes that its family shared when all of it was read */
    uint64_t share_bytes;           /* its proportional share of that moment */
    uint64_t basis_anonymous_bytes; /* what it had in all then */
    uint64_t own_bytes;             /* bytes that count for it alone, as of its last reading */
    uint64_t alone_bytes, anonymous_bytes, faults; /* of that reading; a fork begins with 0 */
    uint64_t grown_bytes; /* what a fork that was not read yet certainly has of its own */
    uint64_t least_bytes; /* the least that another had of its own then */
    bool has_part;        /* the next is known: */
    double part;          /* of the faults, which were copies */
    int64_t part_ns;      /* when that was read */
};

/* Its forks of the same exec generation, in the last scan. */
struct fork_memory {
    bool any;
    bool any_unread;       /* with maps that were not read yet */
    uint64_t unseen_bytes; /* which they may have from it though no scan saw it */
    uint64_t family_bytes; /* the most that it or one of its forks has */
};

/* The RAM meter's state of a process. */
struct metered {
    uint32_t members;      /* of its exec generation in the tree, itself included */
    uint64_t members_hash; /* hash of the set of these */
    bool memory_is_stale;  /* processes that share its memory started, ended or changed it */
    bool ranges_are_stale; /* another process maps what was private when last read */
    uint64_t peak_anonymous_bytes; /* highest of all scans */
    struct exact_reading exact;
    struct copies copies;
    struct fork_memory forks;
};

/* When the kernel's peak and I/O were read, and page faults, RSS and exec generation of that moment
 * (process_readings). */
struct kernel_readings {
    bool peak_is_pending;    /* VmHWM may have risen and was not read yet */
    bool counts_are_pending; /* the same for its counters */
    uint64_t faults, rss_bytes, exec_generation;
    int64_t peak_read_ns, io_read_ns;
    uint64_t hwm_bytes; /* VmHWM as last read; 0: it was not */
};

/* Whether and when its environment was read: execve() replaces it. */
struct environment_reading {
    bool is_read;
    uint64_t exec_generation;
};

/* Descriptors of files of procfs that stay open to be read again; -1: it is not open. */
struct cached_files {
    int stat_fd, statm_fd, children_fd;
    int io_fd; /* after process_open_io() */
};

/* What polls have read: it is in procfs, also as a zombie. First what each poll of an idle process
 * needs: a large tree is not in the processor's caches. */
struct polled {
    int64_t cpu_ns;  /* CPU time used so far, all threads, user and system */
    int64_t read_ns; /* when stat and statm were last read */
    /*
     * Identifies the program image: processes that were forked from one another and have not called
     * execve since have the same. 0: not known.
     */
    uint64_t exec_generation;
    /* It is a vfork child: it runs in the memory of this process until it calls execve. As a rule
     * that is its parent. 0: it is not a vfork child, or its vfork
     * parent has ended. */
    pid_t vfork_parent;

    bool is_new;          /* found by the last scan */
    bool is_other;        /* a root besides main (process_tree_options.others) */
    bool is_counted;      /* the process log counts it */
    bool has_run;         /* its CPU clock moved between the last two scans */
    bool was_not_read;    /* it ran, and could not be read */
    bool was_unanswered;  /* some reading of it did not return in time */
    bool children_unread; /* it ran since its children were last read */
    bool is_reaped;       /* its parent has waited for it: the next scan removes it */
    bool is_stopped;      /* we have stopped it, to kill it */

    struct kernel_readings readings;
    struct proc_stat stat; /* as last read: its parent is another than the process that started it,
                              if that ended */

    struct cached_files files;
    /* The pid under which procfs shows its memory: its own, or, when its leader has exited, that of
     * another thread. Procfs has a folder for every thread, though it does not list them. */
    pid_t memory_pid;
    struct memory memory;
    uint64_t virtual_pages;       /* the size of its address space, of the last statm */
    uint64_t peak_resident_bytes; /* highest RSS polled, but as a vfork child */
    int64_t swap_read_ns;         /* when swap_meter tried to read the next; 0: never */
    uint64_t swapped_bytes;
    bool knows_swap;

    struct metered metered;
    struct environment_reading environment; /* kept by its reader */
};

/* What was known of a thread at the previous tick. The difference tells where its time since
 * then went. */
struct thread_before {
    int64_t wall_ns, run_ns, wait_ns;
    struct wall_samples samples;
    enum wall_cause cause;
};

/* The time that a thread ran, and the time that it was ready to run but waited for a CPU
 * (process_threads). */
struct thread {
    pid_t id;
    int schedstat_fd; /* -1: it is not open */
    bool is_listed;   /* by the last reading of the process */
    bool is_counted;  /* a figure of it is known */
    bool has_record;  /* it has ended, and its exit record has arrived */
    /* Before tracking. Negative: by which an earlier thread with that id is still to be counted. */
    int64_t before_run_ns, before_wait_ns;
    int64_t run_ns, wait_ns; /* since tracking began */

    int wchan_fd;        /* -1: it is not open */
    unsigned char cause; /* enum wall_cause, as of the last moment; process_states */
    int64_t began_ns;    /* not later than the first reading; of the first thread: not known */
    int64_t lived_ns;    /* by its exit record */
    /* Likewise, without what it ran and waited for while it ended. */
    int64_t record_run_ns, record_wait_ns;
    struct wall_samples samples;
    struct thread_before before;
};

/* true where it is known what its threads sleep in */
enum process_states {
    PROCESS_STATES_NEW,
    PROCESS_STATES_KNOWN,
    PROCESS_STATES_REFUSED, /* to this user */
};

/* Threads that live, or of which an exit record is awaited. */
struct process_threads {
    struct thread *threads; /* owned */
    size_t count, capacity;
    uint32_t last_count; /* how many there were at the last reading */
    bool is_stale;       /* it ran since */

    /* Its first reading, the one before the last one, and the last one that found it alive, or just
     * ended. */
    int64_t began_ns, before_ns, seen_ns;
    bool has_ended;
    enum process_states states;
    bool has_causes; /* of a moment before */
    bool any_ran;    /* at that moment */
    int64_t state_cpu_ns;
    struct wall_account ended;    /* threads that ended, all together */
    struct wall_account busiest;  /* of these, the one that ran most */
    struct wall_account living;   /* children that live, as last added up */
    struct wall_account children; /* processes that it started and that ended (process_accounts) */
    /* Since the tick before: its leading thread, and its children. */
    struct wall_account recent, recent_children;
};

/* What is kept of the last poll when procfs no longer has the process. */
struct last_poll {
    int64_t read_ns;
    pid_t parent;     /* another than the process that started it, if that has ended */
    bool child_ended; /* since its collected figures were read */
};

/* Figures of its exit records: the sum over its threads. */
struct exit_figures {
    unsigned records;
    bool is_complete;    /* the last one has arrived */
    bool last_is_leader; /* it was that of the first thread */
    int64_t cpu_ns;
    int64_t last_at_ns;        /* when the kernel made the last one, by the process's start */
    uint64_t peak_bytes;       /* since the last execve(); 0: it had no memory any more */
    struct task_counts counts; /* faults, switches, bytes */
};

/* Figures from before tracking began. */
struct baseline {
    bool is_old; /* the process started before tracking began */
    int64_t cpu_ns;
    uint64_t children_ticks;
    uint64_t peak_bytes;
    struct task_counts counts;
};

/* Its start. */
struct process_start {
    int64_t at_ns; /* monotonic clock */
    bool is_exact; /* an event announced it; else in clock ticks */
};

/* Its end, as far as it is known. */
struct process_end {
    int64_t at_ns;      /* unless `is_exact`, when it was last alive */
    bool is_exact;      /* from an event or an exit record */
    bool has_status;    /* `status` is known */
    int status;         /* as from wait(2) */
    unsigned round;     /* of the log, when it was seen */
    bool has_no_thread; /* no thread is left that could still send a record */
};

/* What it did, or what happened while it lived. */
struct process_history {
    bool has_execed;          /* it called execve() itself */
    bool has_replaced_memory; /* its memory before an execve(): the peak after the last reading is
                                 not known */
    bool had_own_memory;      /* a poll found it with memory of its own: no vfork child then */
    bool ignores_children;    /* it ignored SIGCHLD when its status was read */
    bool has_lost_events;     /* events were lost: exit records may be missing */
};

/* The program that it runs. */
struct program {
    char name[16]; /* the kernel's comm, at most 15 bytes; "" when it was never read */
    char *command; /* command line, separated by blanks; NULL: not wanted, or not read; owned */
    bool is_stale; /* it called execve() since both were read */
};

/* The most memory that it had. */
struct process_peak {
    enum gput_process_peak trust; /* of its RSS */
    uint64_t rss_bytes;
    uint64_t hwm_bytes;   /* highest VmHWM that was read: execve() resets it */
    double gpu_ram_bytes; /* the highest that drivers listed; NaN: not known */
};

/* How far its memory is in the sums of peaks, and what comes next: with a peak at a later time,
 * what it had before that is certain. */
struct summed_peak {
    int64_t until_ns;    /* 0: nothing of it yet */
    int64_t kept_ns;     /* when VmHWM was read since then; 0: it was not */
    uint64_t kept_bytes; /* which was this, of that exec generation */
    uint64_t exec_generation;
};

/* First what each tick needs. */
struct process {
    pid_t pid;
    enum process_state state; /* changed by the process log alone */
    bool is_main;
    struct process_history history;
    struct process *next; /* in the same slot of the table */

    /* Figures by kind of input. Each may be NULL; all are owned. */
    struct polled *polled;
    struct baseline *baseline; /* of main, and of those that are old */
    struct exit_figures *exits;
    struct process_threads *threads;

    struct process_end end;
    struct process_start start;
    uint64_t number;        /* in order of discovery */
    pid_t parent_pid;       /* the process that started it */
    struct process *parent; /* NULL: it is main, or not known */
    struct program program;
    struct last_poll last_poll;

    int64_t cpu_ns; /* since tracking began; of polls, or of its exit record; -1: not known */
    struct process_peak peak;
    struct summed_peak summed; /* with taskstats */
    /*
     * Faults, switches, bytes as last read. With taskstats: of the threads that were alive then.
     * Else, without switches, of the process and of the children that it collected.
     */
    struct task_counts counts;
    bool has_io; /* I/O bytes are known */

    /* State of the log and its archive: */
    bool is_in_ending; /* it is in the log's list `ending` */
    bool is_kept;      /* scratch */
};

/* Closes nothing: it must not be polled any more. NULL is allowed. */
void process_free(struct process *process);

/* Frees what is known of its threads. */
void process_free_threads(struct process *process);

/* Its parent as last read, or the process that started it. */
static inline pid_t process_parent_pid(const struct process *process)
{
    return process->last_poll.parent ? process->last_poll.parent : process->parent_pid;
}

/* True when it has ended as far as is known. */
static inline bool process_has_ended(const struct process *process)
{
    return process_state_has_ended(process->state);
}

/* True while neither an end nor its last exit record is known. */
static inline bool process_is_running(const struct process *process)
{
    return process_state_is_running(process->state);
}

/* True when its last exit record has arrived: its figures will not change. */
static inline bool process_has_last_record(const struct process *process)
{
    return process->exits && process->exits->is_complete;
}

/* True when it started before tracking began. */
static inline bool process_is_old(const struct process *process)
{
    return process->baseline && process->baseline->is_old;
}

/* All zeroes where nothing was used before tracking began. */
const struct baseline *process_baseline(const struct process *process);

/* The same to be changed; NULL without memory. */
struct baseline *process_add_baseline(struct process *process);

/* ---- polls ---- */

/* How processes are polled. */
struct process_view {
    const char *procfs_root;
    struct bounded_calls *calls; /* for readings that may never return; NULL: without a bound */
    bool has_cpu_clocks; /* procfs_root has the pids of our namespace: CPU clocks are of the same
                            processes */
    int64_t ns_per_tick; /* unit of the times in stat */
    uint64_t page_bytes;
    uint64_t lag_bytes;    /* by which the kernel's RSS counters may lag */
    bool has_hugetlb;      /* the machine has pages of hugetlbfs: processes may use some */
    bool has_exit_records; /* of every thread that ends (taskstats) */
    unsigned free_files;   /* how many more descriptors may be cached */
    pid_t launched; /* this process has called execve() for us: it shares no memory; 0: none */
};

/* The view of a procfs root: the caller sets `free_files` and `calls`. */
struct process_view process_view_of(const char *procfs_root);

/*
 * Polls a process for the first time: sets `polled`; `parent` may be NULL. On success the caller
 * calls process_end_polls(). Errors: GPUT_ERROR_GONE and others of machine/os/procfs.h; `polled` is
 * NULL then.
 */
int process_begin_polls(
    struct process *process, const struct process *parent, struct process_view *view);

/* After the first poll: it started before tracking, and what it has used so far does not count.
 * Errors: GPUT_ERROR_MEMORY. */
int process_set_baseline(struct process *process);

/* Closes a cached descriptor, if it is open. */
void process_close_cached(int *fd, struct process_view *view);

/* Closes all that are cached. */
void process_close_cached_files(struct process *process, struct process_view *view);

/* Closes and frees what polls have read. */
void process_end_polls(struct process *process, struct process_view *view);

/*
 * Polls it again; `vfork_parent` is NULL unless it is a vfork child. GPUT_ERROR_GONE: it has ended,
 * or its pid is another process's now. GPUT_ERROR_FILES: the next poll reads what this one could
 * not. GPUT_ERROR_IO: it does not answer; likewise.
 */
int process_poll(struct process *process, const struct process *vfork_parent,
    struct process_view *view, int64_t now_ns);

/*
 * Whether a reading of its stat or io may never return, as far as its memory shows: it is in an
 * execve(), or its memory cannot be read. To be asked right before, where it was not just polled.
 */
bool process_may_wait(struct process *process, struct process_view *view);

/* Reads its memory exactly (see memory_read_exact()), and statm of that moment. */
int process_read_exact(struct process *process, bool rollup, struct process_view *view);

/* Reads again the CPU time that it has collected from its children, and nothing else. */
void process_read_collected(struct process *process, struct process_view *view);

/* Opens its I/O counters (/proc/PID/io) unless they are open. Once it has ended only root
 * may open them. */
void process_open_io(struct process *process, struct process_view *view);

/* Reads statm again, after it was read exactly: zero where it has ended since. */
void process_refresh(struct process *process, struct process_view *view);

/* Appends the children of each of its threads. Errors: see machine/os/proc_list.h. */
int process_read_children(
    struct process *process, struct process_view *view, struct pid_vector *children);

/*
 * Sends a signal to the very process that was polled, never to another that reuses its pid; number
 * 0 only checks. Returns 0 or an errno: ESRCH when it is gone, or cannot be proven to be the same.
 */
int process_signal(struct process *process, struct process_view *view, int number);

/* True when it runs in its vfork parent's memory. */
static inline bool process_is_vfork_child(const struct process *process)
{
    return process->polled->vfork_parent != 0;
}

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

/* Whether kcmp_find_same_memory() is to say if both share one address space. */
bool process_may_share_memory(
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
