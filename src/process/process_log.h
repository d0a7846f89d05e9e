/*
 * A record of every process of a tree that was ever polled or announced: who it was, how long it
 * lived, what it used.
 *
 * Fed by scans of the tree, and, where the kernel gives them, by events: process events say who
 * descends from whom, also of processes that no scan ever saw, and taskstats what they had used at
 * their end. Memory is bounded: not all of those that ended are kept (process_archive).
 */
#ifndef PROCESS_PROCESS_LOG_H
#define PROCESS_PROCESS_LOG_H

#include "os/process_events.h"
#include "os/taskstats.h"
#include "process/peak_sums.h"
#include "process/process_archive.h"
#include "process/process_table.h"
#include "process/process_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_log_options {
    const char *procfs_root;
    int64_t ns_per_tick;
    bool has_events;     /* process_log_event() will be called with every event */
    bool has_taskstats;  /* and process_log_exit() */
    bool keeps_ended;    /* records of processes that ended are kept */
    bool keeps_counts;   /* process_log_counts() is wanted */
    bool follows_counts; /* while it all goes on, too */
    bool reads_commands; /* command lines too */
    size_t max_ended;    /* how many, about */
};

struct process_log {
    struct process_log_options options;
    struct process_table living;       /* those that have not ended; owned, each too */
    struct process_record_list ending; /* ended, but more may be told about them; or outlived;
                                          borrowed */
    struct process_archive ended;
    struct process_record *main; /* NULL when it was not kept */
    unsigned round;
    size_t awaited;           /* of `ending`, those whose last end was not told in the last batch */
    bool has_gap;             /* events were lost: who was not polled may be missing */
    bool ran_out;             /* of memory: processes are missing */
    int64_t now_ns;           /* of the last scan */
    uint64_t seen;            /* processes so far */
    uint64_t ended_total;     /* of them, that have ended */
    int64_t ended_cpu_ns;     /* what those had used, as far as it is known */
    int64_t ended_outside_ns; /* of that, by orphans that nobody here collects, as taskstats told */
    uint64_t auto_reaped;     /* of them, descendants that nobody could wait for, as it seems */
    bool ignores_children;    /* one of them ignored SIGCHLD */
    uint64_t unreported;      /* of them, descendants whose end the kernel did not tell */
    uint64_t open_peaks;      /* and those that may have had more than is known */
    /* Where there are no taskstats: what was counted by processes that ended and that no process of
     * the tree has collected. And what the collected ones had counted before tracking began. */
    struct task_counts uncollected, collected_before;
    /* Peak RSS of descendants that ended: of the largest for sure; of the largest that may have
     * run in its parent's memory; and of all together. */
    uint64_t largest_descendant_bytes, largest_unsure_bytes;
    struct peak_sums descendants_sums;
    uint64_t before_peak_bytes; /* of the largest single process when tracking began */
};

void process_log_init(struct process_log *log, const struct process_log_options *options);
void process_log_finish(struct process_log *log);

/*
 * Takes over what a scan of the tree found. The tree's `gone` must be process_log_remove() with
 * this log as its user.
 */
void process_log_scan(struct process_log *log, struct process_tree *tree, int64_t now_ns);

/*
 * After a scan: gives the tree those that it cannot find by itself, orphans that were adopted by a
 * process outside of it.
 */
void process_log_adopt_orphans(struct process_log *log, struct process_tree *tree);

/* A process is about to leave the tree. */
void process_log_remove(void *log, struct process *process);

/* After a scan: GPU RAM that a process held at that time. NaN says nothing. */
void process_log_set_gpu_ram(struct process_log *log, pid_t pid, double bytes, int64_t time_ns);

/* An event, in order. */
void process_log_event(struct process_log *log, const struct process_event *event);

/* What the kernel tells at the end of a thread. */
void process_log_exit(struct process_log *log, const struct taskstats_exit *exit);

/*
 * After all events and ends that were there to read, ends before events. `lost`: there were more.
 * Reads the names of those that began.
 */
void process_log_end_batch(struct process_log *log, bool lost);

/* The ends of threads are wanted: of some process only the last one's tells when it ends, and how.
 */
bool process_log_waits_for_threads(const struct process_log *log);

/* When no more is tracked: ends those of whom nothing is left. True: events that are still to tell
 * of an end may come a moment after the process is gone. */
bool process_log_end_unannounced(struct process_log *log);

/* The last figures of the living; call before records are polled. */
void process_log_refresh(struct process_log *log);

/* The process that has not ended, or ended in this batch, with that pid; or NULL. */
struct process_record *process_log_get(const struct process_log *log, pid_t pid);

/* Every process is in it: the kernel announced each one, and all that was read in time. */
bool process_log_has_all(const struct process_log *log);

/* Peak RSS of descendants so far. */
struct process_peaks {
    uint64_t largest_bytes; /* the largest had at least this */
    bool has_living;        /* some have not ended */
    bool has_all;           /* the kernel told the end of every one */
    uint64_t open;          /* how many may have had more than is known */
    /* Where that is more, and more than any had when tracking began, one of the tree had it: main,
     * if a descendant ran in main's memory all the time (vfork). */
    uint64_t largest_at_most_bytes;
    uint64_t before_bytes;
};

struct process_peaks process_log_descendants(const struct process_log *log);

/* With `has_all`: descendants together never had more, where those that may have had more than is
 * known had at most `open_bytes` each. NaN when that is not known, and there are such. */
double process_log_peak_upper_bound(const struct process_log *log, double open_bytes);

/* Signs that descendants ended and nobody was given what they had used: their parents ignore
 * SIGCHLD. Neither true nor false proves anything: one in some thousands was collected at once, and
 * not every one that nobody waits for is announced so. Without events: some process was seen to
 * ignore it. */
bool process_log_has_auto_reaped(const struct process_log *log);

/* CPU time of all processes, as told at their ends by the kernel; false when that is not known of
 * every one. */
bool process_log_cpu_ns(const struct process_log *log, int64_t *cpu_ns);

/* Reads what the living have counted and their peaks; call before these are polled. */
void process_log_count(struct process_log *log);

/*
 * Page faults, context switches and bytes of all processes since tracking began: at least these.
 * Only with options.keeps_counts, after process_log_count(); or, with options.follows_counts, as of
 * a second ago: then it can be less than it was the last time. Without taskstats there are no
 * context switches, and what a process had not yet counted when last read before its end is
 * missing, unless its parent has collected it.
 */
struct task_counts process_log_counts(const struct process_log *log);

/* All records, in order of discovery. The caller frees the array, the records stay the log's. NULL
 * without memory. */
struct process_record **process_log_list(const struct process_log *log, size_t *count);

#endif
