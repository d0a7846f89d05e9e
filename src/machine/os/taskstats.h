/*
 * taskstats: the exit record that the kernel sends for every task: name, parent, times, peak of
 * RAM, I/O. It sends a record for each thread; those of one process add up (CPU time, I/O) or are
 * the same (peak).
 *
 * Needs root (CAP_NET_ADMIN), the machine's own pid and user namespaces, and Linux 5.19,
 * the first that gives the process of a thread.
 */
#pragma once

#include "base/error.h"
#include "machine/os/task_counts.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Waits of a thread, as the kernel counted them. */
struct task_delays {
    bool has_cpu;    /* the kernel counts waiting for a CPU */
    uint64_t cpu_ns; /* it was ready to run, and waited for a CPU */
    /* 0 unless accounting of delays was on (kernel.task_delayacct) when the thread started. */
    uint64_t block_ns; /* for storage */
    uint64_t swapin_ns, reclaim_ns, thrashing_ns, compaction_ns;
};

/* The exit record of one thread. */
struct taskstats_exit {
    pid_t thread;
    pid_t process;
    pid_t parent;        /* its current parent process: the adopting one for an orphan */
    char name[16];       /* of the thread */
    bool is_leader;      /* it is the first thread of its process: name and status are those of the
                            process */
    bool is_last;        /* the last thread of its process */
    int status;          /* as from wait(2) */
    uint64_t elapsed_ns; /* lifetime of the thread */
    uint64_t process_elapsed_ns; /* lifetime of the process so far */
    int64_t read_ns;             /* set by who reads it: when (monotonic clock); 0: not known */
    /* Figures of this thread alone: */
    uint64_t cpu_ns;             /* to the nanosecond, as of its last clock tick or sleep */
    uint64_t user_ns, system_ns; /* by clock ticks: an approximate division */
    struct task_counts counts;
    struct task_delays delays;
    /* Figures of the whole process: peak RSS; 0 when it had no memory any more. */
    uint64_t peak_rss_bytes;
};

/*
 * Reads one message of the kernel. GPUT_ERROR_FORMAT: no exit record, truncated or damaged.
 * GPUT_ERROR_UNSUPPORTED: from a kernel that does not give the process of a thread, or has an
 * unknown layout.
 */
int taskstats_parse(const unsigned char *bytes, size_t length, struct taskstats_exit *exit);

struct taskstats_socket {
    int fd;
    uint64_t overflows; /* how often records were lost because they were not read in time */
    bool is_unknown;    /* a record came that this code cannot read */
};

/*
 * Asks for records. On success the caller calls taskstats_close().
 * Errors: GPUT_ERROR_UNSUPPORTED, GPUT_ERROR_PERMISSION, those of reading which CPUs there may be,
 * each with a reason for people.
 */
int taskstats_open(struct taskstats_socket *taskstats, struct gput_error *error);

void taskstats_close(struct taskstats_socket *taskstats);

/* Reads available records without waiting, up to `max`. Returns the number; fewer: there are no
 * more. */
size_t taskstats_read(struct taskstats_socket *taskstats, struct taskstats_exit *exits, size_t max);

/*
 * The kernel's exit record of a thread in the layout of version 13, whatever kernel headers we are
 * built with: those of Linux before 5.17 end too early, those since 6.14 have another layout.
 */
/* Times in microseconds where no unit is named, delays and runs in nanoseconds, sizes in KiB. */
struct taskstats_record {
    uint16_t version;
    uint32_t exit_status;
    uint8_t flags, nice;
    _Alignas(8) uint64_t cpu_delays, cpu_delay_ns;
    uint64_t block_delays, block_delay_ns;
    uint64_t swapin_delays, swapin_delay_ns;
    uint64_t run_real_ns, run_virtual_ns;
    char name[32];
    _Alignas(8) uint8_t scheduling;
    uint8_t padding[3];
    _Alignas(8) uint32_t uid;
    uint32_t gid, thread, parent, begin_s;
    _Alignas(8) uint64_t elapsed_us;
    uint64_t user_us, system_us;
    uint64_t minor_faults, major_faults;
    uint64_t resident_mb_us, virtual_mb_us;
    uint64_t peak_rss_kib, peak_virtual_kib;
    uint64_t read_call_bytes, write_call_bytes, read_calls, write_calls;
    uint64_t read_bytes, write_bytes, cancelled_write_bytes;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t user_scaled_us, system_scaled_us, run_real_scaled_ns;
    uint64_t reclaim_delays, reclaim_delay_ns;
    uint64_t thrashing_delays, thrashing_delay_ns;
    uint64_t begin64_s;
    uint64_t compaction_delays, compaction_delay_ns;
    /* Since version 12. */
    uint32_t process;
    _Alignas(8) uint64_t process_elapsed_us;
    uint64_t file_device, file_inode;
    /* Since version 13. */
    uint64_t write_copy_delays, write_copy_delay_ns;
};

static_assert(offsetof(struct taskstats_record, cpu_delays) == 16, "as in the kernel");
static_assert(offsetof(struct taskstats_record, name) == 80, "as in the kernel");
static_assert(offsetof(struct taskstats_record, thread) == 128, "as in the kernel");
static_assert(offsetof(struct taskstats_record, voluntary_switches) == 272, "as in the kernel");
static_assert(offsetof(struct taskstats_record, process) == 368, "as in the kernel");
static_assert(sizeof(struct taskstats_record) == 416, "as in the kernel");
