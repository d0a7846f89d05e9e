/*
 * The accounting of a session. It is fed by snapshots, by what the kernel announces of processes
 * and by what it gives for those that were waited for; results are a function of it, which changes
 * nothing.
 *
 *   ledger.c            what is fed to it, and everything as results
 *   ledger_totals.c     CPU time and counts of the kernel, compared with samples
 *   ledger_exactness.c  what of them is proven to be exact
 *   ledger_peaks.c      peaks and their bounds
 *   ledger_gpus.c       figures of each GPU and their sources
 *   ledger_energy.c     energy and its sources
 *   ledger_wall.c       where wall time went
 *   ledger_processes.c  the list of processes
 *   ledger_sources.c    where figures come from, or why they are missing
 */
#pragma once

#include "machine/os/cgroup.h"
#include "machine/os/own_cgroup.h"
#include "machine/process/process_log.h"
#include "model/processes.h"
#include "model/results.h"
#include "session/ledger/gpu_usage.h"
#include "session/ledger/node_reader.h"
#include "session/ledger/ram_between.h"
#include "session/ledger/session_cgroups.h"
#include "session/ledger/session_identity.h"
#include "session/ledger/session_settings.h"
#include "session/ledger/system_counters.h"
#include "session/ledger/tracker_cost.h"
#include "session/ledger/usage.h"
#include "session/sampler/session_counts.h"
#include "session/sampler/session_events.h"
#include "session/sampler/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/*
 * The kernel's counts for processes that this one waited for, and for itself.
 */

/* As of wait(2): neither exited nor killed. */
#define STATUS_UNKNOWN (-1)

struct collected {
    /* Counts of orphans; at the end also of main: all that it waited for, and those still
     * running. */
    struct session_counts counts;
    int64_t orphans_ns;             /* CPU time of orphans */
    struct session_counts at_start; /* of the calling process, for SESSION_SELF */
    uint64_t forked_rss_bytes;      /* upper bound of our forked copy before execve() */

    /* After the end of a launched command. */
    bool has_main_usage; /* false: it was collected elsewhere */
    struct rusage main_usage;
    int main_status;                  /* as of wait(2), or STATUS_UNKNOWN */
    struct cgroup_usage cgroup_usage; /* NaN: not available */
};

/* Notes what the calling process has used before it is tracked, or before it forks a command. */
void collected_begin_self(struct collected *collected);
void collected_begin_fork(struct collected *collected, const char *procfs_root);

/* Waits for a child of ours that has ended and adds what it used. `io_fd` gives its I/O counters;
 * -1: they are read from procfs. False: it was not waited for. */
bool collected_add_orphan(
    struct collected *collected, const char *procfs_root, pid_t pid, int io_fd);

/* Waits for a launched command and adds what it used, less what our fork wrote before it started.
 */
void collected_add_main(
    struct collected *collected, pid_t pid, int io_fd, const struct own_cgroup *cgroup);

/* Adds what the calling process used since collected_begin_self(). */
void collected_add_self(struct collected *collected);

/* Offset of timestamps from the monotonic clock, which stops while the machine is suspended:
 * more from then on. */

/* All zeroes: nothing is known yet. */
struct epochs {
    struct {
        int64_t since_ns; /* monotonic clock */
        int64_t ahead_ns;
    } * list; /* owned */
    size_t count;
};

/* Both clocks at one moment, later than those before. Without memory it is not noted. */
void epochs_add(struct epochs *epochs, int64_t monotonic_ns, int64_t time_ns);

/* The timestamp of a time of the monotonic clock, of which one moment at least was added. What was
 * just before or after a suspension, between two moments, is dated as if it were before. */
int64_t epochs_date_ns(const struct epochs *epochs, int64_t monotonic_ns);

void epochs_finish(struct epochs *epochs);

/* where wall time went, as of the last update (ledger_wall.c) */
struct ledger_wall {
    struct wall_account path; /* of main, with what its children did while it waited for them */
    struct wall_account main_thread, others, while_gpu_idle, others_while_gpu_idle;
    char programs[512]; /* the programs that worked most */
    char awaited[400];  /* the programs that main waited for in pipes */
};

struct ledger {
    /* Borrowed; the accounting only reads them. */
    const struct session_settings *settings;
    const struct snapshot *snapshot;     /* the latest */
    const struct session_events *events; /* what is announced, or why it is not */
    const struct own_cgroup *cgroup;
    const struct node_reader *node;

    struct session_identity identity;
    struct epochs epochs; /* of timestamps */
    struct process_log log;
    uint64_t gpu_holdings_version; /* that are in the log */
    struct usage usage;
    struct gpu_usage gpu_usage;
    struct ram_between between;
    struct oom_kills oom_kills;
    struct limit_group limit_group;
    struct quota_group quota;
    struct ledger_wall wall;
    struct collected collected;
    struct tracker_cost cost;
    struct session_starts starts_before, starts_after; /* where the kernel does not announce them */
    unsigned own_threads; /* that the session has started between these */
    struct system_counters system_counters;
    int64_t missing_in_exit_records_ns; /* see ledger_compare_exit_records() */
    uint64_t ends_compared;             /* processes that had ended by then */
    bool has_kernel_cpu;                /* ledger_kernel_cpu_ns() was not 0 at the last update */
    double system_cpu_seconds;          /* of all processes since the start; never decreases */
    struct task_counts bytes_so_far;    /* read and written, for monitoring; never decrease */
    int64_t main_ended_ns; /* when the end of main was first seen (monotonic); 0: not yet */
    bool has_ended;        /* main has ended, or tracking was stopped: nothing more is counted */
    bool main_end_is_reported; /* to the caller */
};

/* Nothing was fed yet. The caller sets what is borrowed, and calls ledger_finish(). */
void ledger_init(struct ledger *ledger);
void ledger_finish(struct ledger *ledger);

/* ---- what is fed ---- */

/* Before tracking: counts starts of processes where the kernel does not announce them. */
void ledger_begin(struct ledger *ledger);

/* After a scan: its processes, and with `reads_counts` what they count while they run. */
void ledger_add_scan(struct ledger *ledger, bool reads_counts, int64_t now_ns);

void ledger_add_snapshot(struct ledger *ledger);

/* Notes by how much the CPU time of exit records was too low, compared with what parents have
 * collected. Where the first says so the caller has that read again, then events, and calls the
 * second. */
bool ledger_begin_comparison(struct ledger *ledger);
void ledger_compare_exit_records(struct ledger *ledger);

/* The end of main was seen; it was reported to the caller. */
void ledger_note_main_end(struct ledger *ledger);
void ledger_note_main_report(struct ledger *ledger);

/* Call it at the end, after process_log_read_counts(): adds the kernel's figures of processes
 * that were not collected. */
void ledger_close(struct ledger *ledger);

/* After that nothing is counted any more. `own_threads`: that the session has started. */
void ledger_end(struct ledger *ledger, unsigned own_threads);

/* Adds the bytes that the last scan has read. */
void ledger_update_bytes(struct ledger *ledger);

/* Before ledger_results(): reads what can have changed since the last tick. */
void ledger_update(struct ledger *ledger);

/* ---- what it gives ---- */

/* The GPUs that `results` has memory for are used again. */
void ledger_results(const struct ledger *ledger, struct gput_results *results);

/* The processes so far, to be freed by gput_processes_destroy(). Errors: GPUT_ERROR_MEMORY. */
int ledger_list_processes(struct ledger *ledger, struct gput_processes **processes);

/* After a scan of the sampler: a lower bound of the CPU time of all processes, from the control
 * group or exit records. 0: not known. */
int64_t ledger_kernel_cpu_ns(const struct ledger *ledger);

/* The same, but 0 unless some processes were auto-reaped. `ledger` is a struct ledger. */
int64_t ledger_auto_reaped_cpu_ns(const void *ledger);

/* ---- parts of the results ---- */

/* How its CPU time is divided into user and system time. */
enum cpu_split {
    CPU_SPLIT_NONE, /* it is not known */
    CPU_SPLIT_OF_GROUP,
    CPU_SPLIT_OF_PROCESSES,
    CPU_SPLIT_TOO_SHORT,  /* the processes were too short for the kernel to divide it */
    CPU_SPLIT_INCOMPLETE, /* it is not known of some processes */
};

/* Which figures of a session that has ended are proven to be exact; others are lower bounds ("at
 * least"). */
struct exactness {
    bool all_collected;   /* all have ended and were collected: nothing is missing */
    bool has_auto_reaped; /* some seem to be missing: they were auto-reaped */
    bool cpu;             /* CPU time; filled in by ledger_fill_accounting() */
    bool counts;          /* page faults, context switches, bytes */
    bool run_queue;       /* how long threads waited for a CPU */
    int64_t collected_ns; /* up to so much CPU time is missing that living processes have collected
                             from children, in clock ticks; set by ledger_fill_accounting(), too */
    const char *why_not;  /* why not all_collected, for people; borrowed from the ledger */
    enum cpu_split split; /* set by ledger_fill_accounting() */
};

/* All but what ledger_fill_accounting() sets. */
struct exactness ledger_exactness(const struct ledger *ledger);

/* True when main was the only process ever. */
bool ledger_is_alone(const struct ledger *ledger);

/* After the session, without events: an upper bound of processes and threads started besides the
 * known ones. UINT64_MAX: not known. */
uint64_t ledger_unknown_starts(const struct ledger *ledger);

struct exactness ledger_fill_accounting(
    const struct ledger *ledger, struct gput_accounting *accounting);

/* While tracking, where somebody wants them: bytes read and written, as of half a second ago. */
bool ledger_has_bytes_so_far(const struct ledger *ledger);

void ledger_fill_main_peak(const struct ledger *ledger, struct gput_peak *peak);

/* Whether programs are known to reset what the kernel keeps (VmHWM), with which ru_maxrss falls:
 * they said so, or main ended with less than it had. */
bool ledger_peaks_are_reset(const struct ledger *ledger);

/* Needs `all_collected` of ledger_fill_accounting(). */
void ledger_fill_peaks(
    const struct ledger *ledger, bool all_collected, struct gput_results *results);

/* After the maxima and means of all measurements. */
void ledger_fill_gpus(const struct ledger *ledger, struct gput_results *results);

/* GPU RAM that drivers listed, and its bounds. */
void ledger_fill_gpu_peaks(const struct ledger *ledger, struct gput_results *results);

/* Call after that: adds where the figures of GPUs come from, or why they are missing. */
void ledger_add_gpu_sources(const struct ledger *ledger, struct gput_results *results);

/* The part of the time that threads were ready to run for which a quota held them, of 1, as of the
 * last update. */
double ledger_quota_part(const struct ledger *ledger);
void ledger_update_wall(struct ledger *ledger);
void ledger_fill_wall(const struct ledger *ledger, struct gput_results *results);
void ledger_add_wall_source(const struct ledger *ledger, struct gput_results *results);

void ledger_fill_energy(const struct ledger *ledger, struct gput_energy *energy);
void ledger_add_energy_sources(const struct ledger *ledger, struct gput_results *results);

void ledger_add_sources(
    const struct ledger *ledger, const struct exactness *exactness, struct gput_results *results);

/* ---- what the kernel counted, as the accounting of the results ---- */

/* Sets bytes only where they are known. */
void session_accounting_set_counts(
    struct gput_accounting *accounting, const struct task_counts *counts);
void session_accounting_set_bytes(
    struct gput_accounting *accounting, const struct task_counts *counts);

/*
 * Makes user and system time add up to the total. The total was corrected for time that cannot be
 * split (children before tracking, truncated microseconds); it is divided in their proportion. The
 * kernel divides the time of each thread by clock ticks: where it is short, one part may be less
 * than that of our own threads. Parts that are unknown stay so.
 */
void session_accounting_fit_parts(struct gput_accounting *accounting);

/* Sets all figures to unknown. */
void session_accounting_clear(struct gput_accounting *accounting);
