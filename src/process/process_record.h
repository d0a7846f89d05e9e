/*
 * What is known of one process: which it was and what it used, and how far each figure can be
 * trusted. Figures come from scans, from other files of procfs and from exit records. A record
 * merges them so that none counts twice and none decreases.
 */
#ifndef PROCESS_PROCESS_RECORD_H
#define PROCESS_PROCESS_RECORD_H

#include "os/task_counts.h"
#include "os/taskstats.h"
#include "process/peak_sums.h"
#include "process/process.h"
#include "process/process_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How far the peak of a process's RSS can be trusted. */
enum process_peak {
    PROCESS_PEAK_UNKNOWN, /* it was never polled */
    PROCESS_PEAK_SAMPLED, /* the highest of all polls */
    PROCESS_PEAK_HWM,   /* the kernel's (VmHWM), as of the last reading; or of its exit record, but
                           for its last exec generation alone */
    PROCESS_PEAK_FINAL, /* of its exit record (taskstats) */
};

struct process_record {
    pid_t pid, parent_pid;
    pid_t last_parent; /* as of the last scan: not parent_pid when that process has ended */
    struct process_record *parent; /* NULL: it is main, or not known */
    struct process *process;       /* in the tree; NULL: not there */
    struct process_record *next;   /* in the same slot of the table */
    uint64_t number;               /* in order of discovery */
    enum process_state state;
    bool is_main;
    bool is_old;           /* it started before tracking began */
    bool is_announced;     /* an event announced its start */
    bool has_last_record;  /* its last exit record has come: figures will not change */
    bool has_lost_events;  /* events were lost while it lived: exit records may be missing */
    bool ignores_children; /* it ignored SIGCHLD when its status was read */
    bool child_ended;      /* since its collected figures were last read */
    bool is_kept;          /* scratch */
    unsigned ended_round;
    unsigned exit_records; /* exit records of its threads so far */

    char name[16];      /* the kernel's comm, at most 15 bytes; "" when it was never read */
    bool name_is_stale; /* it called execve() since both were read */
    char *command; /* command line, separated by blanks; NULL: not wanted, or not read; owned */
    uint64_t exec_generation; /* of both, see process.h */
    int64_t start_ns;         /* monotonic clock */
    int64_t end_ns;           /* its end; unless end_is_exact, when it was last alive */
    bool end_is_exact;        /* from an event or an exit record */
    bool is_in_ending;        /* it is in the log's list `ending` */
    int64_t polled_ns;        /* when its process was last read */
    int64_t cpu_ns;    /* since tracking began; of polls, or of its exit record; -1: not known */
    int64_t exited_ns; /* CPU time of its threads that ended, from exit records */
    int64_t before_ns; /* CPU time used before tracking began */
    bool has_execed;   /* it called execve() itself */
    bool has_replaced_memory; /* its memory before an execve(): the peak after the last reading is
                                 not known */
    bool had_own_memory; /* a poll found it with memory of its own: it was no vfork child then */
    uint64_t peak_rss_bytes;
    enum process_peak peak;
    double peak_gpu_ram_bytes; /* the highest that drivers listed; NaN: not known */
    /*
     * Faults, switches, bytes. With taskstats: of its own threads. Else, without switches, of the
     * process and of the children that it collected.
     */
    struct task_counts ended;  /* by threads that ended, from exit records */
    struct task_counts now;    /* by threads alive when last read */
    struct task_counts before; /* `now` when tracking began */
    bool has_io;               /* I/O bytes are known */
    bool has_status;
    int status; /* as from wait(2) */

    /* When VmHWM and I/O were read, and minor faults and RSS of that moment. */
    uint64_t peak_hwm_bytes;    /* highest VmHWM that was read: execve() resets it */
    uint64_t before_peak_bytes; /* reached before tracking began */
    uint64_t faults_when_read, rss_when_read;
    int64_t peak_read_ns, io_read_ns;
    bool peak_is_pending;    /* VmHWM may have risen and was not read yet */
    bool counts_are_pending; /* the same for its counters */
};

/* Frees the record and what it owns. */
void process_record_free(struct process_record *record);

/* Events were lost while it lived: exits of its threads, or execve(), may be missing. */
void process_record_note_lost_events(struct process_record *record);

/* Merges the figures of the last poll of its process. */
void process_record_update(struct process_record *record);

/* Sets its current name; reads its command line again where that is wanted and the name is new. */
void process_record_update_name(
    struct process_record *record, const char *name, const char *procfs_root, bool reads_command);

/* Adds the exit record of one of its threads; its name is not used. */
void process_record_add_exit(struct process_record *record, const struct taskstats_exit *exit);

/* What its stat says: runs, leader exited or dead. Where that cannot be read, it is as before. */
enum process_input process_record_read_state(
    const struct process_record *record, const char *procfs_root, int64_t ns_per_tick);

/* Reads VmHWM, the kernel's own peak of its RSS. */
void process_record_read_peak(struct process_record *record, const char *procfs_root);

/* Reads the counters of its living threads. */
void process_record_read_threads(struct process_record *record, const char *procfs_root);

/* Sets the page faults of it and of the children that it collected, as of the last poll. */
void process_record_update_faults(struct process_record *record);

/* Reads the I/O counters of it and of the children that it collected. */
void process_record_read_io(struct process_record *record, const char *procfs_root);

/* Counts since tracking began. */
struct task_counts process_record_counts(const struct process_record *record);

/* Its peak, to be summed up: unbounded unless its final peak is known. */
struct peak_sum process_record_peak_sum(const struct process_record *record);

/* Whether VmHWM is likely to be higher than when it was last read. */
bool process_record_may_have_risen(const struct process_record *record);

/*
 * False for a child that ended without execve() and was never seen with memory of its own. After
 * vfork() its peak is its parent's, after fork() its own: where no poll saw it, which of them is
 * not known.
 */
bool process_record_has_own_memory(const struct process_record *record);

/* An array that grows. All zeroes is empty; it does not own the records. */
struct process_record_list {
    struct process_record **records;
    size_t count, capacity;
};

/* False without memory. */
bool process_record_list_append(struct process_record_list *list, struct process_record *record);

void process_record_list_finish(struct process_record_list *list);

#endif
