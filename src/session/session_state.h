/*
 * A session, as the files named session*.c see it. Every part is a struct of its own that only its
 * own file changes:
 *
 *     sources -> sampler -> ledger -> sinks
 *
 *   session.c        creation, destruction
 *   session_track.c  the four ways to begin
 *   session_ticks.c  what happens at a tick: the pipeline
 *   session_wait.c   waiting, the last figures, stopping
 *   session_state.c  what several of these ask: main's end, our own threads, the clock, limits of
 *                    the process, orphans, descriptors; and what the session gives to its caller
 */
#pragma once

#include "base/error.h"
#include "machine/os/cgroup.h"
#include "machine/os/launcher.h"
#include "machine/os/mountinfo.h"
#include "session/ledger/ledger.h"
#include "session/ledger/limits.h"
#include "session/ledger/node_reader.h"
#include "session/ledger/session_settings.h"
#include "session/sampler/sampler.h"
#include "session/sampler/schedule.h"
#include "session/sampler/session_events.h"
#include "session/session_shared.h"
#include "session/sinks/sink.h"
#include "session/sinks/sinks.h"

#include <gputracker/session.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum session_phase {
    SESSION_CREATED,
    SESSION_TRACKING,
    SESSION_STOPPED,
};

/* What is tracked. */
struct session_target {
    pid_t pid;           /* of main; 0: the machine alone */
    const pid_t *others; /* to be tracked with it; while tracking starts */
    size_t n_others;
    char *const *argv;                  /* of a command that is launched; while tracking starts */
    int pid_fd;                         /* becomes readable when main ends; -1: not available */
    int io_fd;                          /* of a launched command; -1: not available */
    uint64_t main_start_ticks;          /* identifies main together with the pid */
    struct cgroup launch_cgroup;        /* in which the command is started; until its own is made */
    bool has_cgroups;                   /* the kernel has them */
    struct container container;         /* that it runs in */
    struct own_cgroup cgroup;           /* around a launched command, where one could be made */
    struct pid_vector earlier_children; /* our own, from before the launch */
};

struct gput_session {
    pid_t owner; /* the process that created it: a forked child must not touch files or threads */
    enum session_phase phase;
    struct session_shared *shared; /* NULL: nothing is; borrowed */
    struct session_settings settings;
    struct session_target target;

    struct schedule schedule; /* its lock guards what follows */
    struct session_events events;
    struct system_meter system; /* the sampler's, for its first reading comes early */
    struct sampler sampler;
    struct ledger ledger;
    struct limits limits;
    struct sinks sinks;
    struct node_reader node;
    struct latest latest; /* has a lock of its own */

    int64_t counts_ns;    /* when counts of processes were last read */
    int64_t results_ns;   /* when results so far were last made; 0: of no tick yet */
    bool ignores_sigchld; /* as the program that created it did then */
    int64_t early_ns;     /* when RAM is to be read between two ticks; INT64_MAX: not at all */
    bool has_system, has_sampler;
    bool has_wall_clock; /* its end is due: wall_clock_end_session() */
    bool warned_of_files, warned_of_unanswered;
};

/* session_wait.c */

/* Ends the session. `is_abandoned`: the caller did not stop it, and its results are left in a file.
 */
void session_end(struct gput_session *session, bool is_abandoned);

/* session_ticks.c */

/* Takes the first sample and starts the schedule; without a thread where main has ended already, or
 * where none can be started. */
void session_start_ticks(struct gput_session *session);

/* Orphans; the lock is held, or no thread runs */

/* Collects orphans that have ended (launched sessions). */
void session_reap_orphans(struct gput_session *session);

/* After a scan: opens the I/O counters of orphans, to read them when they have ended. */
void session_open_orphans_io(struct process_tree *tree);

/* True for a child of ours that is not an orphan but was started by the caller. `session` is a
 * struct gput_session. */
bool session_is_own_child(void *session, pid_t pid);

/* Results; the lock is held, or no thread runs */

/* The GPUs that `results` has memory for are used again. */
void session_make_results(struct gput_session *session, struct gput_results *results);

/* session_state.c */

/* True when main has ended; it is not collected yet. */
bool session_main_has_ended(const struct gput_session *session);

/* The same, after `timeout_ms` at most: as soon as it has ended. */
bool session_await_end(const struct gput_session *session, int timeout_ms);

/* Our threads other than the sampling one, and their CPU time so far. */
unsigned session_own_threads(void *session);
int64_t session_own_threads_cpu_ns(const struct gput_session *session);

/*
 * GPUT_ERROR_STATE in a fork of the process that created the session: it has no sampling thread,
 * which may have held the lock at the fork.
 */
int session_check_owner(const struct gput_session *session, struct gput_error *error);

/* Warns at the end where the system's time was set since the start. */
void session_warn_of_set_clock(const struct gput_session *session);

/* The session no longer needs its timestamps to be on one clock. */
void session_leave_wall_clock(struct gput_session *session);

/* Limits of a process: control groups, CPU affinity, Slurm's allocation. */

/* Sets `settings->allowed`, and the least of it in the static data where that is less than the
 * machine has. `limits`: those of its control groups. */
void session_allowed_read(struct session_settings *settings, pid_t pid,
    const struct cgroup_limits *limits, launcher_variable *variable, void *environment);

/* The same of GPUs alone, again when they were found later. Those that the caller named are not
 * limited by what the process sees. */
void session_allowed_read_gpus(
    struct session_settings *settings, launcher_variable *variable, void *environment);

/* Nothing limits. */
void session_allowed_forget(struct session_settings *settings);

/* Sets the cores that hardware percent is relative to: those asked for, else those allowed, rounded
 * up to whole cores. */
void session_allowed_expect(struct session_settings *settings);

/*
 * Descriptors of a session: whether there are enough to begin, and how many files of procfs may
 * stay open, which takes half of what opening them again would.
 */

/* How many may be kept. Half of what may still be opened is left to the caller. With `raises_limit`
 * the soft limit of this process is raised first, towards the hard one, and an eighth is left. */
unsigned session_files_kept(bool raises_limit);

/* Checked before a command is started: without them it could be started but not read. */
int session_files_check(struct gput_error *error);
