/*
 * What a session holds. Shared by the files of this folder only:
 *
 *   session.c          options, creation, destruction
 *   session_track.c    the four ways to begin, waiting, stopping
 *   session_ticks.c    what happens at a tick
 *   session_orphans.c  orphans of the command
 *   session_results.c  from samples and totals to results
 *   latest.c           the latest results and snapshot, for other threads
 *   session_energy.c   energy in the results
 *   session_limits.c   limits on what the tree may use
 *   session_gpus.c     figures of each GPU
 *   session_between.c  RAM between two samples
 *   session_totals.c   what the kernel counted, compared with samples
 *   session_exactness.c  what of it is proven to be exact
 *   session_starts.c   upper bound of processes started
 *   results_check.c    whether results contradict themselves
 *   session_processes.c  figures of each process
 *   session_peaks.c    peaks and their bounds
 *   session_state.c    shared by all of them
 */
#ifndef SESSION_SESSION_STATE_H
#define SESSION_SESSION_STATE_H

#include "os/cgroup.h"
#include "os/own_cgroup.h"
#include "process/process_log.h"
#include "session/gpu_usage.h"
#include "session/latest.h"
#include "session/sampler.h"
#include "session/schedule.h"
#include "session/session_accounting.h"
#include "session/session_events.h"
#include "session/session_settings.h"
#include "session/session_starts.h"
#include "session/sinks.h"
#include "session/usage.h"

#include <gputracker/session.h>

#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>

enum session_phase {
    SESSION_CREATED,
    SESSION_TRACKING,
    SESSION_STOPPED,
};

/* The highest RAM between two samples; NaN: it was not read. */
struct session_between {
    double group_bytes; /* thscans of the processes of the control group had mapped, at least */
    double main_bytes, descendants_bytes, combined_bytes;
    uint64_t scans; /* scans of the processes */
    int64_t group_not_before_ns, scan_not_before_ns;
};

struct gput_session {
    struct session_settings settings;
    pid_t owner; /* the process that created it: a forked child must not touch files or threads */

    enum session_phase phase;
    pid_t pid;
    const pid_t *others; /* to be tracked with it; while tracking starts */
    size_t n_others;
    int pid_fd;                  /* becomes readable when main ends; -1: not available */
    uint64_t main_start_ticks;   /* identifies main together with the pid */
    struct cgroup launch_cgroup; /* in which the command is started; until its limits are read */
    struct own_cgroup cgroup;    /* around a launched command, where one could be made */
    struct pid_vector foreign;   /* our children from before the launch */
    int64_t own_cpu_at_start_ns;
    bool has_wall_clock; /* its end is due: wall_clock_end_session() */
    int own_statm_fd;    /* of the calling process; -1: it is the tracked one, or not available */
    uint64_t forked_rss_bytes;      /* upper bound of our forked copy before execve() */
    struct session_counts at_start; /* of the calling process, for SESSION_SELF */
    int io_fd;                      /* of a launched command; -1: not available */
    struct session_events events;
    struct system_counters system_counters;
    struct session_starts starts_before, starts_after; /* where the kernel does not announce them */

    struct schedule schedule; /* its lock guards everything below */
    struct sampler sampler;
    bool has_sampler;
    struct process_log log;
    struct system_meter system;
    bool has_system;
    struct usage usage;
    double at_least_bytes; /* lower bound of the highest RAM of all together; NaN: not read */
    struct session_between between;
    struct gpu_usage gpu_usage;
    uint64_t gpu_holdings_version;   /* that the log has */
    double system_cpu_seconds;       /* of all processes since the start; never decreases */
    struct task_counts bytes_so_far; /* read and written, for monitoring; never decrease */
    int64_t last_sample_ns;
    int64_t results_ns;                 /* when results so far were last made; 0: of no tick yet */
    int64_t orphans_ns;                 /* CPU time of orphans that we collected */
    int64_t missing_in_exit_records_ns; /* see session_compare_exit_records() */
    uint64_t ends_compared;             /* processes that had ended by then */
    /* Of them; in the end also of main and all that it waited for, and of those that live on. */
    struct session_counts counts;
    int64_t sampler_cpu_ns;               /* of the thread so far, as of the last sample */
    struct session_counts sampler_counts; /* of the thread, when it has ended */
    uint64_t ticks;
    unsigned limits_passed;                            /* a bit for each kind */
    struct gput_limit_passed passed[GPUT_LIMIT_KINDS]; /* in order */
    uint32_t n_passed;
    int64_t gpu_ram_unknown_ns; /* since when no driver reports all of it; 0: one does */
    bool warned_of_gpu_limit;   /* that it cannot be watched */
    int64_t terminated_ns;      /* when SIGTERM was sent for a limit; 0: it was not */
    bool gave_up_ending;        /* even SIGKILL did not end the whole tree */
    bool warned_of_files;
    struct sinks sinks;
    struct latest latest; /* has a lock of its own */

    int64_t main_ended_ns; /* when gput_session_wait() first saw the end of main; 0: not yet */
    bool has_ended;        /* main has ended, or tracking was stopped: nothing more is counted */
    bool main_end_is_reported; /* gput_session_wait() has reported its end */
    /* After the end of a launched command. */
    bool has_main_usage; /* false: it was collected elsewhere */
    struct rusage main_usage;
    struct cgroup_usage cgroup_usage; /* NaN: not available */
    int main_status;
};

/* session_track.c */

/* Ends the session. `is_abandoned`: the caller did not stop it, and its results are left in a file.
 */
void session_end(struct gput_session *session, bool is_abandoned);

/* session_ticks.c */

/* Takes the first sample and starts the schedule. */
int session_start_ticks(struct gput_session *session, struct gput_error *error);

/* session_orphans.c; the lock is held, or no thread runs */

/* Collects orphans that have ended (launched sessions). */
void session_reap_orphans(struct gput_session *session);

/* After a scan: opens the I/O counters of orphans, to read them when they have ended. */
void session_open_orphans_io(struct gput_session *session);

/* True for a child of ours that is no orphan but was started by the caller. `session` is a struct
 * gput_session. */
bool session_is_own_child(void *session, pid_t pid);

/* session_between.c; the lock is held */

void session_between_init(struct session_between *between);

/* Reads the memory that the control group's processes have mapped, unless it was read a moment ago.
 */
void session_read_group(struct gput_session *session);

/* After processes were started or have ended: the same, and a scan of all of them, unless one was
 * made a moment ago. */
void session_scan_between(struct gput_session *session);

/* CPU time of our other threads so far. */
int64_t session_helpers_cpu_ns(const struct gput_session *session);

/* session_results.c; the lock is held, or no thread runs */

/* Fills only as many of `results->gpus` as there are GPUs. */
void session_fill_results(struct gput_session *session, struct gput_results *results);

/* session_energy.c; the lock is held, or no thread runs */

void session_fill_energy(const struct gput_session *session, struct gput_energy *energy);
void session_add_energy_sources(const struct gput_session *session, struct gput_results *results);

/* session_exactness.c; the lock is held, or no thread runs */

/* Which figures of a session that has ended are proven to be exact; others are lower bounds ("at
 * least"). */
struct session_exactness {
    bool all_collected;   /* all have ended and were collected: nothing is missing */
    bool has_auto_reaped; /* some seem to be missing: they were auto-reaped */
    bool cpu;             /* CPU time; filled in by session_fill_accounting() */
    bool counts;          /* page faults, context switches, bytes */
    int64_t collected_ns; /* up to so much CPU time is missing that living processes have collected
                             from children, in clock ticks; set by session_fill_accounting(), too */
    const char *why_not;  /* why not all_collected, for people; borrowed from the session */
};

/* All but what session_fill_accounting() sets. */
struct session_exactness session_exactness_of(const struct gput_session *session);

/* True when main was the only process ever. */
bool session_is_alone(const struct gput_session *session);

/* After the session, without events: an upper bound of processes and threads started besides the
 * known ones. UINT64_MAX: not known. */
uint64_t session_unknown_starts(const struct gput_session *session);

/* session_totals.c; the lock is held, or no thread runs */

/* Notes by how much the CPU time of exit records was too low, compared with what parents have
 * collected. Only needed by attached sessions. */
void session_compare_exit_records(struct gput_session *session);

/* After a scan of the sampler: a lower bound of the CPU time of all processes, from the control
 * group or exit records. 0: not known. */
int64_t session_kernel_cpu_ns(const struct gput_session *session);

/* The same, but 0 unless some processes were auto-reaped. `session` is a struct gput_session. */
int64_t session_auto_reaped_cpu_ns(const void *session);

/* At the end, after process_log_read_counts(): adds what the kernel gives for processes that were
 * not collected. */
void session_close_totals(struct gput_session *session);

struct session_exactness session_fill_accounting(
    const struct gput_session *session, struct gput_accounting *accounting);

/* While tracking with options.listen: bytes read and written, as of a second ago. */
bool session_has_bytes_so_far(const struct gput_session *session);
void session_fill_bytes_so_far(struct gput_session *session, struct gput_accounting *accounting);

/* session_processes.c */

/* After a scan: passes the GPU RAM of processes to the log. The lock is held, or no thread runs. */
void session_update_gpu_holdings(struct gput_session *session);

/* The list, to be freed by gput_processes_destroy(). The lock is held, or no thread runs. Errors:
 * GPUT_ERROR_MEMORY. */
int session_list_processes(struct gput_session *session, struct gput_processes **processes);

/* session_peaks.c; the lock is held, or no thread runs */

void session_fill_main_peak(const struct gput_session *session, struct gput_peak *peak);

/* `all_collected` comes from session_fill_accounting(). */
void session_fill_peaks(
    const struct gput_session *session, bool all_collected, struct gput_results *results);

/* session_limits.c; the lock is held */

/* At the start: warns of limits that cannot be checked. */
void session_warn_of_unwatched_limits(struct gput_session *session);
/* After a sample: warns once where what is tracked may hold GPU RAM that no driver reports, so that
 * its limit can be passed unseen. `is_end`: not to be known any more. */
void session_warn_of_unknown_gpu_ram(struct gput_session *session, int64_t now_ns, bool is_end);

/* After a sample: warns of exceeded limits, or ends the tree. */
void session_check_limits(struct gput_session *session);

/* The latest time of the next sample that a limit needs (monotonic clock); INT64_MAX: none. */
int64_t session_next_limit_ns(const struct gput_session *session);

/* Whether the tree is being ended for a limit and some of it is alive, as of a scan after
 * `since_ns`. False once nothing more can be done, which is warned of. */
bool session_is_ending_tree(struct gput_session *session, int64_t since_ns);

/* session_gpus.c; the lock is held, or no thread runs */

/* Warns of GPUs that cannot be read, and when there is none, unless the recording warns. */
void session_gpus_warn(const struct gput_session *session);

/* Adds the last sample, which stands for `seconds`, to the usage of each GPU. */
void session_gpus_add_sample(struct gput_session *session, double seconds);

/* Sets the number of GPUs and their RAM: GPUs can appear later. */
void session_gpus_fill_static(const struct gput_session *session, struct gput_static_data *data);

/* After the maxima and means of all measurements. */
void session_gpus_fill_results(const struct gput_session *session, struct gput_results *results);
/* GPU RAM that drivers listed, and its bounds. */
void session_fill_gpu_peaks(const struct gput_session *session, struct gput_results *results);

/* After that: the source of the figures of GPU RAM, and their age at the end. */
void session_gpus_add_list_source(const struct gput_session *session, struct gput_results *results);

/* session_state.c */

/*
 * GPUT_ERROR_STATE in a fork of the process that created the session: it has no sampling thread,
 * which may have held the lock at the fork.
 */
int session_check_owner(const struct gput_session *session, struct gput_error *error);

/* Warns at the end where the system's time was set since the start. */
void session_warn_of_set_clock(const struct gput_session *session);

/* The session needs its time stamps to be on one clock no more. */
void session_leave_wall_clock(struct gput_session *session);

/* Adds the source of a kind of figure, or why it is missing. */
void session_add_source(struct gput_results *results, const char *name,
    enum gput_source_state state, const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
