/*
 * taskstats: what the kernel tells about every task at its end: name, parent, times, peak of RAM,
 * I/O. It sends a record for each thread; those of one process add up (CPU time, I/O) or are the
 * same (peak).
 *
 * Takes the superuser (CAP_NET_ADMIN), the machine's own pid and user namespaces, and Linux 5.19,
 * the first to say to which process a thread belongs.
 */
#ifndef OS_TASKSTATS_H
#define OS_TASKSTATS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The end of one thread. */
struct taskstats_exit {
    pid_t thread;
    pid_t process;
    pid_t parent;        /* process that is its parent now: the adopting one for an orphan */
    char name[16];       /* of the thread */
    bool is_leader;      /* the first thread of its process: name and status are the process's */
    bool is_last;        /* nothing of the process is left */
    int status;          /* as wait(2) gives it */
    uint64_t elapsed_ns; /* the thread's life */
    uint64_t process_elapsed_ns; /* the process's life so far */
    /* Of this thread alone. */
    uint64_t cpu_ns;             /* to the nanosecond, as of its last clock tick or sleep */
    uint64_t user_ns, system_ns; /* by clock ticks: how it divides, roughly */
    uint64_t minor_faults, major_faults;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t read_call_bytes, write_call_bytes;
    uint64_t read_bytes, write_bytes, cancelled_write_bytes; /* see struct task_counts */
    /* Of the whole process: RSS at its highest; 0 when it had no memory left. */
    uint64_t peak_rss_bytes;
};

/*
 * Reads one message of the kernel. GPUT_ERROR_FORMAT: none about the end of a task, cut or damaged.
 * GPUT_ERROR_UNSUPPORTED: of a kernel that does not say to which process a thread belongs, or
 * arranges its record in a way that we do not know.
 */
int taskstats_parse(const unsigned char *bytes, size_t length, struct taskstats_exit *exit);

struct taskstats_socket {
    int fd;
    uint64_t overflows; /* times that records were lost because nobody read them in time */
    bool is_unknown;    /* a record came that this code cannot read */
};

/*
 * Asks for records. On success the caller calls taskstats_close().
 * Errors: GPUT_ERROR_UNSUPPORTED, GPUT_ERROR_PERMISSION, each with a reason for people.
 */
int taskstats_open(struct taskstats_socket *taskstats, struct gput_error *error);

void taskstats_close(struct taskstats_socket *taskstats);

/* Takes the next record, without waiting. False: there is none. */
bool taskstats_read(struct taskstats_socket *taskstats, struct taskstats_exit *exit);

#endif
