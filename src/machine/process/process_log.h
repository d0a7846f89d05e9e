/*
 * What every process of a tree was and used that was ever polled or announced.
 *
 * Fed by scans of the tree and, where the kernel gives them, by events and exit records: events say
 * which process descends from which, also of those that no scan ever saw, and exit records
 * (taskstats) what each had used at its end. Each input may change a process's state
 * (process_state). Memory is bounded: not all of those that ended are kept (process_archive).
 */
#pragma once

#include "machine/os/process_events.h"
#include "machine/os/taskstats.h"
#include "machine/process/process.h"
#include "machine/process/process_accounts.h"
#include "machine/process/process_archive.h"
#include "machine/process/process_totals.h"
#include "machine/process/process_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The inputs of a process log, and what it keeps. */
struct process_log_options {
    struct process_tree *tree; /* has the processes; borrowed */
    const char *procfs_root;
    int64_t ns_per_tick;
    bool has_events;      /* process_log_event() gets every event */
    bool has_taskstats;   /* process_log_exit() gets every exit record */
    bool keeps_ended;     /* processes that ended are kept */
    bool keeps_counts;    /* process_log_counts() is wanted */
    bool has_live_counts; /* while processes run, too */
    bool reads_commands;  /* command lines are read */
    size_t max_ended;     /* about how many */
};

struct process_log {
    struct process_log_options options;
    struct process_list ending; /* those that await more, or whose leader exited */
    struct process_archive ended;
    struct process *main; /* NULL before it was found */
    unsigned round;
    bool reads_counts;            /* the next scan reads them: with options.has_live_counts */
    size_t awaited;               /* of `ending`, those without an exact end after the last batch */
    bool has_lost_events;         /* events were lost: processes that no scan saw may be missing */
    bool ran_out;                 /* of memory: processes are missing */
    int64_t now_ns;               /* of the last scan */
    uint64_t seen;                /* processes so far */
    uint64_t ended_total;         /* of them, that have ended */
    struct process_totals totals; /* of these */
    struct program_accounts programs; /* of these */
};

void process_log_init(struct process_log *log, const struct process_log_options *options);
void process_log_finish(struct process_log *log);

/*
 * Merges what a scan of the tree found. The tree's `removed` callback must be process_log_remove()
 * with this log as its user.
 */
void process_log_scan(struct process_log *log, int64_t now_ns);

/*
 * After a scan: adds to the tree what it cannot find by itself, orphans adopted by a process
 * outside of it.
 */
void process_log_adopt_orphans(struct process_log *log);

/* Procfs has a process no more: ends its polls. */
void process_log_remove(void *log, struct process *process);

/* After a scan: GPU RAM that a process held at that time. NaN: not known. */
void process_log_set_gpu_ram(struct process_log *log, pid_t pid, double bytes, int64_t time_ns);

/* Adds an event, in order. */
void process_log_event(struct process_log *log, const struct process_event *event);

/* Adds the exit record of a thread. */
void process_log_exit(struct process_log *log, const struct taskstats_exit *exit);

/*
 * After a batch of all exit records and events that could be read, exit records first. `lost`: some
 * were lost. Reads the names of new processes.
 */
void process_log_end_batch(struct process_log *log, bool lost);

/* True when exits of threads are needed: some process has exited but for other threads, and only
 * the exit of the last one gives its end and status. */
bool process_log_needs_thread_exits(const struct process_log *log);

/* When tracking stops: ends processes of which no thread is left. True: the events of their exits
 * may still arrive, a moment after the process is gone. */
bool process_log_end_unannounced(struct process_log *log);

/* Updates the living from their last poll; call before figures are taken. */
void process_log_refresh(struct process_log *log);

/* The process with that pid that lives, or has just ended; or NULL. */
struct process *process_log_get(const struct process_log *log, pid_t pid);

/* Returns how many there are. */
static inline size_t process_log_count(const struct process_log *log)
{
    return (size_t)(log->seen - log->ended_total);
}

/* True when every process is in it: the kernel announced each one, and no event was lost. */
bool process_log_has_all(const struct process_log *log);

/* Facts so far about the ends of descendants and their peak RSS. */
struct process_peaks {
    uint64_t largest_bytes;  /* the largest process had at least this */
    uint64_t living;         /* how many have not ended */
    bool has_all;            /* every one has its last exit record */
    uint64_t without_faults; /* how many have exit records, but no page fault in them */
    uint64_t unbounded;      /* how many may have had more than known */
    /* Where that is higher, and higher than any peak when tracking began, some process of the tree
     * had it: main, if the descendant was main's vfork child to its end. */
    uint64_t largest_upper_bound_bytes;
    uint64_t before_bytes;
};

struct process_peaks process_log_descendants(const struct process_log *log);

/* How many processes have ended, main too, of which no last exit record has arrived. */
uint64_t process_log_without_exit_record(const struct process_log *log);

/*
 * All together never had more, given that main had at most `main_bytes`, and those whose peak is
 * unbounded at most `unbounded_bytes` each. NaN when the latter is NaN and there are any, when the
 * former is, without `has_all` and without memory.
 */
double process_log_peak_upper_bound(
    const struct process_log *log, double main_bytes, double unbounded_bytes);

/* True when descendants seem to have been auto-reaped: their parents ignore SIGCHLD, so that their
 * CPU time was not collected. Neither true nor false is proof: one in some thousands was collected
 * at once after all, and not every auto-reaped one is announced as such. Without events: some
 * process ignored SIGCHLD when it was read. */
bool process_log_has_auto_reaped(const struct process_log *log);

/* CPU time of all processes from their exit records; false when some of those are missing. */
bool process_log_cpu_ns(const struct process_log *log, int64_t *cpu_ns);

/* Lower bounds of how long the threads of all processes ran, and waited for a CPU. */
struct run_queue_times process_log_run_queue(const struct process_log *log);

/* Returns a lower bound of the CPU time of processes that used at least cpu_divisible_ns() each. */
int64_t process_log_divisible_ns(const struct process_log *log);

/*
 * CPU time of all processes but short-lived ones, and at most how much more they may have used
 * (process_cpu_lacks_ns()); of the living as of their last poll.
 */
bool process_log_others_at_most_ns(const struct process_log *log, int64_t *cpu_ns);

/* Reads counters and peaks of the living; call before process_log_counts(). */
void process_log_read_counts(struct process_log *log);

/*
 * Page faults, context switches and I/O bytes of all processes since tracking began: a lower bound.
 * Needs options.keeps_counts, after process_log_read_counts(); or, with options.has_live_counts, as
 * of the last scan with `reads_counts`: then it can be less than the last time. Without taskstats
 * there are no context switches, and what a process counted between its last reading and its end is
 * missing unless its parent has collected it.
 */
struct task_counts process_log_counts(const struct process_log *log);

/* All processes, in order of discovery. The caller frees the array, the processes stay the log's.
 * NULL without memory. */
struct process **process_log_list(const struct process_log *log, size_t *count);
