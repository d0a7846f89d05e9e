/*
 * What is known of one process: who it was, and what it used, with how far each figure can be
 * trusted. Figures come from scans, from files of the kernel's own, and from what it tells at the
 * end; a record takes them over so that none counts twice and none goes back.
 */
#ifndef PROCESS_PROCESS_RECORD_H
#define PROCESS_PROCESS_RECORD_H

#include "os/task_counts.h"
#include "os/taskstats.h"
#include "process/peak_sums.h"
#include "process/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How far the peak of a process's RSS can be trusted. */
enum process_peak {
    PROCESS_PEAK_UNKNOWN, /* nobody ever polled it */
    PROCESS_PEAK_SAMPLED, /* the highest of the looks */
    PROCESS_PEAK_KEPT,    /* kept by the kernel (VmHWM), as of the last reading; or told at its end
                             (taskstats), but of the program alone that it was then */
    PROCESS_PEAK_FINAL,   /* told by the kernel at its end (taskstats) */
};

struct process_record {
    pid_t pid, parent_pid;
    pid_t last_parent; /* as of the last scan: another than parent_pid's when that ended */
    struct process_record *parent; /* NULL: main's, or not known */
    struct process *process;       /* where the tree has it, NULL: nowhere */
    struct process_record *next;   /* of the same slot of the table */
    uint64_t number;               /* in order of discovery */
    bool is_main;
    bool is_old;            /* it began before tracking did */
    bool is_announced;      /* an event told its start */
    bool has_ended;         /* for all that is known so far: others of its threads may live */
    bool leader_has_exited; /* its first thread has ended, others live */
    bool is_final;          /* its figures are those of its end */
    bool has_gap;          /* events were lost while it lived: ends of its threads may be missing */
    bool ignores_children; /* SIGCHLD was ignored when its status was read */
    bool child_ended;      /* since what it has collected was read last */
    bool is_kept;          /* scratch */
    unsigned ended_round;
    unsigned threads_reported; /* how many threads' ends the kernel told */

    char name[16];    /* as the kernel has it, at most 15 bytes; "" when it was never read */
    bool name_is_old; /* it called execve() since its name and command line were read */
    char *command; /* its command line, blanks between; NULL: not asked for, or not seen; owned */
    uint64_t exec_generation; /* that both are of, as process.h names it */
    int64_t start_ns;         /* monotonic clock */
    int64_t end_ns;    /* with has_ended: when; or, unless end_is_exact, when it still lived */
    bool end_is_exact; /* by an event, or by taskstats */
    bool is_watched;   /* whether it ends, and what is told of it then */
    bool is_over;      /* nothing of it is left: its end needs no other look */
    int64_t polled_ns; /* when its process was last read */
    int64_t cpu_ns;    /* since tracking began; of scans, or of its end; -1: not known */
    int64_t exited_ns; /* CPU time of its threads that ended, as told by taskstats */
    int64_t before_ns; /* CPU time used before tracking began */
    bool has_execed;   /* it called execve() itself */
    bool
        has_replaced_memory; /* that is gone: what it came to after its last reading nobody tells */
    bool was_apart; /* a scan saw it with memory that is not its parent's own, as after vfork() */
    uint64_t peak_rss_bytes;
    enum process_peak peak;
    double peak_gpu_ram_bytes; /* the highest of what drivers listed; NaN: not known */
    /*
     * Faults, switches, bytes. Where taskstats are: of its own threads. Else, without switches, of
     * the process and of the children that it waited for.
     */
    struct task_counts ended;  /* by threads that ended, as taskstats told */
    struct task_counts now;    /* by what lived when last read */
    struct task_counts before; /* that of `now` when tracking began */
    bool has_io;               /* bytes are known */
    bool has_status;
    int status; /* as of wait(2) */

    /* When the kernel's peak and I/O were read; how many pages had been touched by then, and what
     * they came to. */
    uint64_t kept_peak_bytes;   /* the highest that was read: execve() begins another */
    uint64_t before_peak_bytes; /* reached before tracking began */
    uint64_t faults_when_read, rss_when_read;
    int64_t peak_read_ns, io_read_ns;
    bool peak_is_pending;    /* the kernel's peak may have moved and was not read yet */
    bool counts_are_pending; /* the same of what it counts */
};

/* Frees the record and what it owns. */
void process_record_free(struct process_record *record);

/* Events were lost while it lived, or told of its end: threads that ended, and execve(). */
void process_record_take_gap(struct process_record *record);

/* Takes over the figures of the last poll of its process. */
void process_record_update(struct process_record *record);

/* The name it goes by now; reads its command line again where one is wanted and the name is new. */
void process_record_update_name(
    struct process_record *record, const char *name, const char *procfs_root, bool reads_command);

/* What the kernel tells at the end of one of its threads; the name is not polled. */
void process_record_add_exit(struct process_record *record, const struct taskstats_exit *exit);

/* Whether anything of it is left; `leader_has_exited`: others of its threads than the first one.
 * Where that cannot be read, it is as before. */
bool process_record_lives(const struct process_record *record, const char *procfs_root,
    int64_t ns_per_tick, bool *leader_has_exited);

/* Reads the kernel's own peak of its RSS. */
void process_record_read_peak(struct process_record *record, const char *procfs_root);

/* Reads what its living threads have counted. */
void process_record_read_threads(struct process_record *record, const char *procfs_root);

/* Takes over page faults of it and of the children that it waited for, as of the last scan. */
void process_record_update_faults(struct process_record *record);

/* Reads what it and the children that it waited for have read and written. */
void process_record_read_io(struct process_record *record, const char *procfs_root);

/* What was counted since tracking began. */
struct task_counts process_record_counts(const struct process_record *record);

/* Its peak, to be summed up: open unless it is known to the end. */
struct peak_sum process_record_peak_sum(const struct process_record *record);

/* Whether the kernel's peak is likely to be higher than when it was last read. */
bool process_record_may_have_risen(const struct process_record *record);

/*
 * False for a child that ended as it began: after vfork() its peak is its parent's, and so no peak
 * of a descendant; after fork() it is its own. Which it was cannot be known where no scan saw it.
 */
bool process_record_has_own_memory(const struct process_record *record);

/* An array that grows. Zeroes are an empty one; the records are not its own. */
struct process_record_list {
    struct process_record **records;
    size_t count, capacity;
};

/* False without memory. */
bool process_record_list_append(struct process_record_list *list, struct process_record *record);

void process_record_list_finish(struct process_record_list *list);

#endif
