/*
 * Tracking: options, a session, its results.
 *
 * A session samples a process and everything it started, from a thread of its own (no fork, nothing
 * shared with the program's own threads):
 *
 *     struct gput_session_options options = gput_session_options_default();
 *     struct gput_session *session;
 *     if (gput_session_create(&options, &session, &error) == GPUT_OK &&
 *         gput_session_track_self(session, &error) == GPUT_OK) {
 *         work();
 *         gput_session_stop(session, &error);
 *         struct gput_results *results;
 *         if (gput_session_results(session, &results, &error) == GPUT_OK)
 *             printf("%.0f bytes\n", gput_results_max(results, GPUT_COMBINED_RAM));
 *         gput_results_destroy(results);
 *     }
 *     gput_session_destroy(session);
 *
 * A session is used once: create, one of the gput_session_track_*() calls, stop, results, destroy.
 * Its functions are called from one thread at a time; gput_session_results_so_far() and
 * gput_session_latest_snapshot() (gputracker/snapshot.h) from any.
 */
#ifndef GPUTRACKER_SESSION_H
#define GPUTRACKER_SESSION_H

#include <gputracker/energy.h>
#include <gputracker/error.h>
#include <gputracker/limits.h>
#include <gputracker/results.h>
#include <gputracker/units.h>

#include <stdbool.h>
#include <sys/types.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How much time is spent on measuring the private and shared parts of RAM. */
enum gput_ram_mode {
    GPUT_RAM_ADAPTIVE, /**< expensive readings only when they can have changed, at a bounded rate */
    GPUT_RAM_EXACT,    /**< expensive readings at every tick */
    GPUT_RAM_TOTALS,   /**< as adaptive, but without expensive readings of a process that is alone:
                          its total is RSS, of which anonymous memory counts as private and that
                          of files as shared */
};

/** What a session does. Sized: see gputracker/sized.h. */
struct gput_session_options {
    size_t size; /**< set by gput_session_options_default() */

    /* ---- What is measured ---- */

    double sleep_time_seconds; /**< interval between samples, from 0.001; default 1.0 */
    enum gput_ram_mode ram_mode;
    bool processes;     /**< keep a record of every process; see gput_session_processes() */
    bool command_lines; /**< their command lines, too, which may contain secrets */
    bool snapshots;     /**< make one at each tick; see gput_session_latest_snapshot() */
    /** For gput_session_track_machine() with `listen`: the page also shows the use by each user and
     * each job (CPU, RAM, GPUs), at most 63 of each by name. All processes are read at each tick.
     * Jobs are found by Slurm's control groups, by the environment where it may be read, and as
     * pods and containers. */
    bool owners;
    /** True: hardware percent refers to all cores and GPUs of the machine, as in the older
     * gpu_tracker. False: it refers to those that the process may use, by CPU affinity, control
     * groups, Slurm's allocation, CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES and
     * ZE_AFFINITY_MASK. */
    bool whole_machine;
    unsigned n_expected_cores; /**< divisor of "hardware percent"; 0: see `whole_machine` */
    const char *gpu_uuids; /**< comma-separated UUIDs, indexes or PCI addresses; NULL: all GPUs */
    const char *gpu_brand; /**< "nvidia", "amd" or "intel"; NULL: any */
    bool gpu_optional;     /**< no warning when there is no GPU; the results say so in any case */
    const struct gput_limits *limits; /**< upper limits on the use of the tree; NULL: none */

    /* ---- What the session may assume and do ---- */

    /** The caller starts no other process while a launched command is tracked: every further child
     * of the caller is an orphan of the command; see gput_session_launch(). */
    bool no_other_children;
    /** Programs may reset the kernel's peak of their RSS, as marks with
     * gput_blocks_options.block_peaks do: the kernel's peaks are then no upper bounds. */
    bool rss_peaks_may_be_reset;
    /** The calling process may raise its soft limit of open files (RLIMIT_NOFILE) up to the hard
     * one, to keep files of tracked processes open. A command that the session launches keeps the
     * limit from before; processes that the caller starts later inherit the raised one. */
    bool raise_nofile_limit;

    /* ---- Units of reports and files ---- */

    enum gput_ram_unit ram_unit;       /**< default gigabytes */
    enum gput_ram_unit gpu_ram_unit;   /**< default gigabytes */
    enum gput_time_unit time_unit;     /**< default hours */
    enum gput_energy_unit energy_unit; /**< default joules */
    double carbon_intensity;    /**< grams of CO2e per kWh of the grid; default NaN: unknown */
    const char *carbon_country; /**< country code ("FR") whose grid counts where
                                     `carbon_intensity` is NaN; NULL: none */

    /* ---- Files ---- */

    const char *tracking_file; /**< path ending in .csv or .sqlite; NULL: none */
    bool overwrite;            /**< replace an existing tracking file */
    /** File of the results so far, kept while tracking runs; NULL: a hidden file with a random name
     * in the working directory; a name that ends in '/' ("results/"): such a file in that folder;
     * "": none. */
    const char *resource_usage_file;
    /** Keep the resource usage file of a stopped session until gput_session_destroy(), for callers
     * that write their results to a file first. Default: gput_session_stop() removes it. */
    bool keep_resource_usage_file;
    /** Folder of a recording of power, in the form of gputracker/energy_recording.h; created with
     * missing parents; NULL: none. */
    const char *energy_folder;
    enum gput_energy_driver energy_driver; /**< file format of the recording; default JSON lines */
    double energy_period_seconds;          /**< averaging period of each line; default 2 */
    bool energy_continue;                  /**< add a segment to an existing recording */

    /* ---- Metrics, served, kept in a file or sent ---- */

    const char *listen; /**< address at which GET /metrics serves the results so far to Prometheus:
                             "127.0.0.1:5001", "[::1]:5001", or "5001" for this machine alone; 0
                             picks a free port; NULL: none. Requests for another host name than
                             localhost, the host's or this machine's addresses are refused;
                             comma-separated extra host names may follow: "0.0.0.0:5001,trainer" */
    /** Folder of node_exporter's textfile collector, which sessions may share. Each session keeps a
     * file with its metrics there, gpu-tracker-HOST-PID.prom; they have the label `session`, and
     * those of the machine are omitted. The file stays at the end; sessions remove files that were
     * not written for ten minutes. NULL: none. */
    const char *textfile_folder;
    /** Address of a receiver of OTLP over HTTP: "http://host:4318", or with the path where that is
     * not /v1/metrics; "": as OpenTelemetry's variables say, else http://localhost:4318. The
     * variables for headers, timeout, compression, interval, resource and service are followed; see
     * docs/push.md. Samples that a receiver does not take are lost; the source "otlp" of the
     * results counts them. NULL: none. */
    const char *otlp;
    const char *remote_write; /**< address of a receiver of Prometheus' remote write, version 1, for
                                   the metrics of `listen`: "http://host:9090", or with the path
                                   where that is not /api/v1/write. Lost samples: source
                                   "remote_write". NULL: none */
    const char *labels; /**< labels of all metrics that are served or sent: "job=train,team=vision";
                           NULL: none */
    double push_interval_seconds; /**< interval between two samples that are sent; 0: the receiver's
                                     default (OTLP: OTEL_METRIC_EXPORT_INTERVAL, else a minute;
                                     remote write: 15 seconds) */
    double push_timeout_seconds;  /**< response timeout of a receiver, capped at 10 s at the end; 0:
                                       OTLP: OTEL_EXPORTER_OTLP_TIMEOUT, else 10; remote write: 30;
                                       at the end 5 % of the tracked time, 0.5 to 3 */

    /* ---- Where the machine is read ---- */

    /** NULL: /proc. A procfs of another PID namespace can be used to track the machine, or a
     * process by its PID there, without enforced limits. To launch a command or to track the
     * calling process it must be of the caller's own namespace. */
    const char *procfs_root;
    const char *sysfs_root; /**< NULL: /sys */
    const char *nvml_path;  /**< path of libnvidia-ml.so.1; NULL: where the driver installs it */

    /* ---- Callbacks ---- */

    /** Called with one line (no newline) for each warning, from the sampling thread too. NULL:
     * none. */
    void (*warn)(void *user, const char *message);
    /** Called with each sample, the last one included, by the thread that took it. It must be
     * quick, and must not call into the session, except gput_session_latest_snapshot(). With
     * `snapshots` set, the latest snapshot usually has the same sample with its processes and GPUs.
     * NULL: none. */
    void (*sample)(void *user, const struct gput_sample *sample);
    void *user; /**< passed to the callbacks */
    /** Called by gput_session_create() for a file, a receiver or labels that cannot be used, with
     * the name of the option ("tracking_file"; see gput_session_option_find()). True: the session
     * is created without it. False, or NULL: it is not created. */
    bool (*do_without)(void *user, const char *option, const struct gput_error *reason);

    /** Also read how busy parts of the chip are (processors, tensor cores, memory, links; NVIDIA
     * from Hopper on). DCGM and other readers of the same counters may miss values meanwhile; a
     * warning says so. */
    bool gpu_parts;
};

/** Sets the defaults in a struct of that size; for gput_session_options_default(). */
GPUT_API void gput_session_options_init(struct gput_session_options *options, size_t size);

/** The defaults above. */
static inline struct gput_session_options gput_session_options_default(void)
{
    struct gput_session_options options;
    gput_session_options_init(&options, sizeof options);
    return options;
}

/** The type of an option's value. */
enum gput_session_option_kind {
    GPUT_SESSION_OPTION_KIND_FLAG,           /**< "true" or "false" */
    GPUT_SESSION_OPTION_KIND_COUNT,          /**< a whole number above 0 */
    GPUT_SESSION_OPTION_KIND_NUMBER,         /**< a number within a range */
    GPUT_SESSION_OPTION_KIND_NUMBER_OR_TEXT, /**< likewise; a text that is no number is a name */
    GPUT_SESSION_OPTION_KIND_WORD,           /**< one word out of a list */
    GPUT_SESSION_OPTION_KIND_TEXT,           /**< any text */
    GPUT_SESSION_OPTION_KIND_LIST,           /**< texts separated by commas */
    GPUT_SESSION_OPTION_KIND_PATH,           /**< the name of a file or folder */
};

/** A named option of a session. Shared: see gputracker/sized.h. */
struct gput_session_option {
    const char *name; /**< as the Tracker class of Python and config files have it: "sleep_time" */
    enum gput_session_option_kind kind;
    const char *noun;   /**< what messages call the value: "sleep time" */
    const char *wanted; /**< which values are valid: "a number of seconds, 0.001 or more" */
};

/** The option of that name; NULL: there is none. Static. */
GPUT_API const struct gput_session_option *gput_session_option_find(const char *name);

/**
 * Sets an option from text, for programs that take options from a command line or a file. `text` is
 * not copied: it has to stay until gput_session_create(). NULL: a text, list or path is not given.
 *
 *     gput_session_option_set(&options, "sleep_time", "0.5", &error);
 *
 * Errors: GPUT_ERROR_INVALID: there is no such option, or it does not take that value.
 */
GPUT_API int gput_session_option_set(struct gput_session_options *options, const char *name,
    const char *text, struct gput_error *error);

struct gput_session;

/**
 * Checks the options, finds the sources and creates the tracking file, without sampling yet. Copies
 * what it needs from `options`.
 *
 * On success `*session` is to be freed by gput_session_destroy(); on failure it is NULL.
 * Errors: GPUT_ERROR_INVALID (an option), GPUT_ERROR_EXISTS (the tracking file, without overwrite),
 * GPUT_ERROR_NOT_FOUND (a GPU, a host to listen at), GPUT_ERROR_IO (a port that is in use, too),
 * GPUT_ERROR_PERMISSION, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_session_create(const struct gput_session_options *options,
    struct gput_session **session, struct gput_error *error);

/**
 * Starts to track the calling process and its descendants; the sampling thread does not count.
 * Errors besides those of gput_session_track_pid(): GPUT_ERROR_INVALID when limits are to be
 * enforced: a process cannot terminate itself.
 */
GPUT_API int gput_session_track_self(struct gput_session *session, struct gput_error *error);

/**
 * Starts to track a running process and its descendants. `pid` is the number that the process has
 * in `procfs_root`. Errors: GPUT_ERROR_NOT_FOUND when there is no such process;
 * GPUT_ERROR_UNSUPPORTED when `procfs_root` is of another pid namespace, and either the options do
 * not name it or limits are to be enforced.
 */
GPUT_API int gput_session_track_pid(
    struct gput_session *session, pid_t pid, struct gput_error *error);

/**
 * The same for several. The main process is the calling one if it is among them, else the first
 * that exists. The others and what they start count as its descendants. Give a process before those
 * that it started. A process that does not exist gives a warning. Errors: GPUT_ERROR_NOT_FOUND when
 * none exists; GPUT_ERROR_INVALID when none is given.
 */
GPUT_API int gput_session_track_pids(
    struct gput_session *session, const pid_t *pids, size_t count, struct gput_error *error);

/**
 * Starts to measure the machine alone: CPU, RAM, GPUs, energy, network. No process is tracked, so
 * all figures of main, descendants and combined are missing; with the option `snapshots` these list
 * all processes of the machine. It runs until gput_session_stop().
 */
GPUT_API int gput_session_track_machine(struct gput_session *session, struct gput_error *error);

/**
 * Starts a command and tracks it from its first instruction. The command inherits everything from
 * the caller (working directory, environment, standard streams, signal mask as it was before the
 * call). Its environment also has GPUT_SESSION, the ids of the sessions that it is in. The calling
 * process becomes a child subreaper, so that orphaned descendants stay tracked, and reaps those
 * orphans, at samples and in gput_session_wait().
 *
 * Children that the caller starts itself remain the caller's: they are neither tracked nor reaped.
 * They are distinguished from orphans by the kernel's announcements (`gpu-tracker doctor`: process
 * connector). Without these, only orphans that an earlier sample saw as descendants of the command
 * remain tracked and are reaped. With `no_other_children` there can be no others, and all are.
 *
 * The command ignores SIGCHLD if the program did when it created the session. Since then a program
 * may have stopped ignoring it, to learn how the command ends.
 *
 * The session waits for the command. If the program collects the command itself, because it ignores
 * SIGCHLD or waits for any child, the command's end is still noticed, but its status is -1. The
 * figures of wait4() are then missing from the results, which say so.
 *
 * `argv` ends with NULL; argv[0] is searched for in PATH. Errors: GPUT_ERROR_NOT_FOUND (no such
 * command; message `Command not found: "x"`), GPUT_ERROR_PERMISSION (not executable),
 * GPUT_ERROR_UNSUPPORTED (`procfs_root` is of another pid namespace; the command is not started),
 * GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_session_launch(
    struct gput_session *session, char *const argv[], struct gput_error *error);

/** The address at which the session serves metrics: gput_session_options.listen in numbers, with
 * the port that was chosen. NULL: none, or not any more. Belongs to the session. */
GPUT_API const char *gput_session_address(const struct gput_session *session);

/** The main process, or 0 before tracking started. */
GPUT_API pid_t gput_session_pid(const struct gput_session *session);

/** A descriptor that becomes readable (POLLIN) when the main process has ended. The session owns it
 * and closes it when destroyed. -1: the system has none, or the process is of another pid
 * namespace: then call gput_session_wait() from time to time. */
GPUT_API int gput_session_end_fd(const struct gput_session *session);

/**
 * Waits until the main process has ended or `timeout_ms` passed (-1: no limit, 0: does not wait);
 * `*ended` says which. A signal that interrupts the wait returns early with GPUT_OK and `*ended`
 * false.
 *
 * For a launched command: takes the last sample while its figures can still be read, then collects
 * it from the kernel; `*status` is its wait(2) status. Orphans are reaped on the way. For a process
 * that was not launched `*status` is 0.
 *
 * While a tree is ended for a limit (gput_session_options.limits), it waits until no process of it
 * is left, at most two seconds more than the grace. Processes that survive SIGKILL are warned of.
 * `*ended` is then true for a process that was not launched although it is alive.
 */
GPUT_API int gput_session_wait(struct gput_session *session, int timeout_ms, bool *ended,
    int *status, struct gput_error *error);

/**
 * Takes a last sample (unless the process has ended), stops the sampling thread, completes the
 * tracking file and removes the resource usage file.
 * Errors: GPUT_ERROR_STATE when tracking was not started or was stopped before.
 */
GPUT_API int gput_session_stop(struct gput_session *session, struct gput_error *error);

/**
 * Results of the whole session after a stop, of the session so far before it.
 *
 * On success the caller frees `*results` by gput_results_destroy(); they may outlive the session.
 * On failure it is NULL. Errors: GPUT_ERROR_STATE before tracking began, and in a fork of the
 * process that created the session (which can only destroy its copy); GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_session_results(
    struct gput_session *session, struct gput_results **results, struct gput_error *error);

/**
 * The results so far, as the sampling thread last published them: at most half a second, or one
 * interval, old. For monitoring a session: it may be called from any thread between the beginning
 * of tracking and gput_session_destroy(), and neither waits for a sample nor delays one. Figures
 * that are only known at the end are missing.
 *
 * Ownership as gput_session_results(). Errors: GPUT_ERROR_STATE before tracking began,
 * GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_session_results_so_far(
    struct gput_session *session, struct gput_results **results, struct gput_error *error);

/**
 * Results of a session that never began, for a report of a process that was gone before it could be
 * tracked. They have the units of the options and what is known of the machine.
 *
 * Ownership as gput_session_results(). Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_session_empty_results(const struct gput_session_options *options,
    struct gput_results **results, struct gput_error *error);

/** Frees everything. A session that still tracks, as when an error ends the program, is stopped. It
 * then leaves its resource usage file with all of its figures. NULL is allowed. In a fork of the
 * process that created the session it does nothing: the session belongs to the parent. */
GPUT_API void gput_session_destroy(struct gput_session *session);

#ifdef __cplusplus
}
#endif

#endif
