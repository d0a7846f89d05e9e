/*
 * Views of recordings of training runs: profiles of SageMaker Debugger, Python profiles, traces of
 * PyTorch's profiler. Each view gives one or several tables.
 *
 *     struct gput_profile_options options = gput_profile_options_default();
 *     options.path = "profiler-output";
 *     if (gput_profile_tables(GPUT_PROFILE_STEPS, &options, &tables, &error) == GPUT_OK)
 *         gput_tables_destroy(tables);
 */
#ifndef GPUTRACKER_PROFILE_H
#define GPUTRACKER_PROFILE_H

#include <gputracker/error.h>
#include <gputracker/table.h>
#include <gputracker/timeline.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The views of a training profile. */
enum gput_profile_view {
    /* Views of a trace root: */
    GPUT_PROFILE_JOB,         /**< one record: when the job and its training loop began and ended */
    GPUT_PROFILE_STEPS,       /**< durations of steps by training phase, metric or process */
    GPUT_PROFILE_PHASES,      /**< the intervals of the training phases and those between them */
    GPUT_PROFILE_UTILIZATION, /**< utilization of resources, over all or by training phase */
    GPUT_PROFILE_DEVICES,     /**< number of readings of a device in each range */
    GPUT_PROFILE_DATALOADER,  /**< initialization, workers, getnext and batch time, with outliers */
    GPUT_PROFILE_METRICS,   /**< the readings of the system and the events of the framework, row by
                               row; or sums over the events at moments or in intervals */
    GPUT_PROFILE_READINGS,  /**< the readings of the system alone, row by row */
    GPUT_PROFILE_FRAMEWORK, /**< the events of the framework alone, row by row */
    GPUT_PROFILE_EVENTS,    /**< the same with all columns, also those of data loaders */
};

/** Grouping of steps. */
enum gput_profile_by {
    GPUT_PROFILE_BY_TRAINING_PHASE,
    GPUT_PROFILE_BY_FRAMEWORK_METRIC,
    GPUT_PROFILE_BY_PROCESS
};

/** An interval of time: microseconds since the epoch, both ends inclusive. Final. */
struct gput_profile_interval {
    int64_t start_us;
    int64_t end_us;
};

/** A range of percent, both ends inclusive. Final. */
struct gput_profile_range {
    double low;
    double high;
};

/** A reading of the system. Final. */
struct gput_profile_reading {
    int64_t time_us;       /**< since the epoch */
    double value;          /**< NaN: missing */
    const char *metric;    /**< "cpu0" */
    const char *dimension; /**< "CPUUtilization" */
    const char *node;      /**< "algo-1" */
    const char *type;      /**< "cpu", "gpu", "memory", "i/o", "network" */
};

/** An event of the framework. Final. */
struct gput_profile_event {
    int64_t start_us; /**< since the epoch */
    int64_t end_us;
    int64_t step;        /**< -1: not known */
    const char *metric;  /**< "Step:ModeKeys.TRAIN" for an interval of a training step */
    const char *process; /**< the phase */
    const char *node;
};

/** Rows in memory, in any order. They belong to the caller; no string may be NULL. Final. */
struct gput_profile_rows {
    const struct gput_profile_reading *readings;
    size_t n_readings;
    const struct gput_profile_event *events;
    size_t n_events;
    int64_t start_us; /**< origin of relative times */
};

/** Options of a view. Sized: see gputracker/sized.h. */
struct gput_profile_options {
    size_t size;      /**< set by gput_profile_options_default() */
    const char *path; /**< the trace root */
    /** Rows in memory to use instead of a trace root; NULL: none. */
    const struct gput_profile_rows *rows;
    int64_t start; /**< microseconds since the epoch or a step number, inclusive; INT64_MIN, the
                        default: from the beginning */
    int64_t end;   /**< likewise, inclusive; INT64_MAX, the default: to the end */
    enum gput_timeline_unit unit;
    enum gput_profile_by by;      /**< grouping of STEPS */
    bool by_phase;                /**< UTILIZATION: for each training phase */
    bool by_dimension;            /**< UTILIZATION: for each dimension of a resource */
    const char *const *resources; /**< UTILIZATION, DEVICES: "cpu", "gpu", "memory", "i/o",
                                     "network"; none: all (DEVICES: cpu and gpu) */
    size_t n_resources;
    const char *const *phases; /**< PHASES, UTILIZATION by phase: names of training phases; none:
                                  all */
    size_t n_phases;
    bool each_step; /**< PHASES, UTILIZATION by phase: an interval for each step, not for each run
                       of steps of one phase */
    const struct gput_profile_range *ranges; /**< DEVICES; none: 90 to 100, 10 to 90, 0 to 10 */
    size_t n_ranges;
    const int64_t *moments; /**< METRICS: instead of the rows, sums over the events that strictly
                               contain one of these moments, microseconds since the epoch */
    size_t n_moments;
    const struct gput_profile_interval *intervals; /**< METRICS: instead of the rows, sums over the
                                                      events, without steps, that overlap one of
                                                      these */
    size_t n_intervals;
    const char *const *metrics; /**< METRICS: only rows of these names, dimensions, processes; none:
                                   all */
    size_t n_metrics;
    /** Maximum memory to use; 0: 192 MiB. The rest goes to unnamed temporary files. */
    size_t memory_bytes;
    const char *temporary_folder; /**< for those files; NULL: /var/tmp */
    /**
     * The views that give rows (METRICS without moments and intervals, READINGS, FRAMEWORK, EVENTS,
     * DATALOADER) pass them in parts of at most 10,000. All parts of a table, at least one, come
     * before those of the next. The table itself then has no rows. `part` is one of `tables`, which
     * has all tables of the view. Both are valid until it returns. Any result but GPUT_OK ends the
     * view, which returns it. NULL: all rows are in `*tables`.
     */
    int (*receive)(void *user, const struct gput_tables *tables, const struct gput_table *part,
        struct gput_error *error);
    /** Called with one line (no newline) for each truncated or damaged file. May be NULL. */
    void (*warn)(void *user, const char *message);
    /** Called now and then with the progress of reading, 0 to 1. May be NULL. */
    void (*progress)(void *user, double done);
    void *user;     /**< passed to receive(), warn() and progress() */
    unsigned cores; /**< number of cores that read; 0: one. See gput_usable_cores() */
};

/** Sets the defaults in a struct of that size; for gput_profile_options_default(). */
GPUT_API void gput_profile_options_init(struct gput_profile_options *options, size_t size);

/** All of the profile, without callbacks. */
static inline struct gput_profile_options gput_profile_options_default(void)
{
    struct gput_profile_options options;
    gput_profile_options_init(&options, sizeof options);
    return options;
}

/**
 * Makes the tables of a view. Durations are in microseconds or, in the job's record, in seconds.
 * Moments are text in UTC, and microseconds relative to the first system file. What is not known is
 * missing, never zero.
 *
 * Returns: GPUT_OK and in `*tables` what gput_tables_destroy() frees.
 * Errors: GPUT_ERROR_NOT_FOUND (no such folder, resource or phase; nothing of the kind in it),
 * GPUT_ERROR_FORMAT (no trace root), GPUT_ERROR_INVALID, GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_profile_tables(enum gput_profile_view view,
    const struct gput_profile_options *options, struct gput_tables **tables,
    struct gput_error *error);

/** The moment that relative times of a trace root count from, microseconds since the epoch: that of
 * its first system file, 0 without one. Errors: as gput_profile_tables(). */
GPUT_API int gput_profile_start(const char *path, int64_t *start_us, struct gput_error *error);

/**
 * Finds the step that each event belongs to: the one that it names, else the one that began last of
 * those that strictly contain it, else -1. If the event's own node has steps, only these count,
 * else those of all nodes. `steps` has one element per event. The view STEPS is the same whether
 * events name the step found here or none. Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_profile_assign_steps(
    const struct gput_profile_rows *rows, int64_t *steps, struct gput_error *error);

/** The order of functions, named as in Python's pstats. */
enum gput_python_order {
    GPUT_PYTHON_TOTTIME, /**< time in the function itself */
    GPUT_PYTHON_CUMTIME, /**< time in the function and in all that it called */
    GPUT_PYTHON_PCALLS,  /**< calls that do not recurse */
    GPUT_PYTHON_NCALLS,  /**< all calls */
};

/** Options of the sums over Python profiles. Sized: see gputracker/sized.h. */
struct gput_python_options {
    size_t size; /**< set by gput_python_options_default() */
    /** Files (dumps of cProfile; sessions of pyinstrument, ending in ".json") and folders, in which
     * all "python_stats", "python_stats.json" and "*.prof" are taken. Several are added up. */
    const char *const *paths;
    size_t n_paths;
    enum gput_python_order by;
    size_t limit;      /**< number of functions; 0: 10 */
    bool pyinstrument; /**< use its sessions even if there are dumps of cProfile */
    /* Select profiles of a training run; by default all are used. */
    double start; /**< step, or microseconds since the epoch; NaN, the default: no bound */
    double end;   /**< likewise; NaN, the default: no bound */
    enum gput_timeline_unit unit;
    const char *start_phase; /**< "start", "stepstart", "forwardpassend", "stepend", "end"; NULL */
    const char *end_phase;
    const char *start_mode; /**< "train", "eval", "predict", "global", "prestepzero",
                               "posthookclose"; NULL: any */
    const char *end_mode;
    const char *node;                              /**< NULL: any */
    const char *framework;                         /**< NULL: any */
    void (*warn)(void *user, const char *message); /**< unreadable profiles; or NULL */
    /** Called after each profile with the progress, 0 to 1. May be NULL. */
    void (*progress)(void *user, double done);
    void *user; /**< passed to warn() and progress() */
};

/** Sets the defaults in a struct of that size; for gput_python_options_default(). */
GPUT_API void gput_python_options_init(struct gput_python_options *options, size_t size);

/** All profiles, without callbacks. */
static inline struct gput_python_options gput_python_options_default(void)
{
    struct gput_python_options options;
    gput_python_options_init(&options, sizeof options);
    return options;
}

/**
 * The functions that took the most time, over all profiles that can be read; `warn` is called for
 * the others. The text for cProfile dumps is exactly what Python's pstats prints; JSON and CSV are
 * a table.
 *
 * Result and errors: see gputracker/format.h; GPUT_ERROR_NOT_FOUND (a path, or no profile that
 * fits), GPUT_ERROR_FORMAT (no profile).
 */
GPUT_API int gput_python_render(const struct gput_python_options *options, enum gput_format format,
    char **bytes, size_t *length, struct gput_error *error);

/**
 * What cProfile counted, summed over the selected dumps:
 *
 * - "functions", in the order of the dumps: file, line, name, prim_calls, total_calls, total_time,
 *   cumulative_time (in seconds);
 * - "callers": function and caller as row numbers of "functions", and the same figures.
 *
 * A caller that was not profiled itself follows after the functions, without figures. Errors: as
 * gput_python_render().
 */
GPUT_API int gput_python_function_tables(const struct gput_python_options *options,
    struct gput_tables **tables, struct gput_error *error);

/** The selected profiles: path, node, mode, steps, phases and time. */
GPUT_API int gput_python_profile_tables(const struct gput_python_options *options,
    struct gput_tables **tables, struct gput_error *error);

/** The views of traces of PyTorch's profiler. */
enum gput_kineto_view {
    GPUT_KINETO_BREAKDOWN, /**< idle, compute, communication, memory, and how much of the last two
                              overlaps with compute, for each trace (its rank, if known, and its
                              path) and GPU */
    GPUT_KINETO_KERNELS,   /**< kernels by total time, the rest in one row */
    GPUT_KINETO_IDLE, /**< idle time of each stream by cause; unknown if the trace has no launch */
    GPUT_KINETO_DIFF, /**< two traces, or two folders of them, side by side, by name */
};

/** Options of a view. Sized: see gputracker/sized.h. */
struct gput_kineto_options {
    size_t size;              /**< set by gput_kineto_options_default() */
    const char *const *paths; /**< traces, or folders of them: one file per rank, or a merged
                                 timeline of several; DIFF: two */
    size_t n_paths;
    size_t limit; /**< KERNELS, DIFF: number of rows; 0: 10, for DIFF all */
    /** IDLE: a gap shorter than this, in nanoseconds, before a kernel that was launched in time is
     * the delay of one kernel after another; 0: 30,000. */
    int64_t kernel_delay_ns;
    /** Maximum memory to use; 0: 192 MiB. The rest goes to an unnamed temporary file. */
    size_t memory_bytes;
    const char *temporary_folder;                  /**< for that file; NULL: /var/tmp */
    void (*warn)(void *user, const char *message); /**< files that are truncated or damaged, ranks
                                                      that are missing, unknown or different */
    /** Called now and then with the progress of reading, 0 to 1. May be NULL. */
    void (*progress)(void *user, double done);
    void *user;     /**< passed to warn() and progress() */
    unsigned cores; /**< number of cores that read; 0: one. See gput_usable_cores() */
};

/** Sets the defaults in a struct of that size; for gput_kineto_options_default(). */
GPUT_API void gput_kineto_options_init(struct gput_kineto_options *options, size_t size);

/** No traces yet, and the defaults above. */
static inline struct gput_kineto_options gput_kineto_options_default(void)
{
    struct gput_kineto_options options;
    gput_kineto_options_init(&options, sizeof options);
    return options;
}

/**
 * Makes the table of a view. Times are microseconds. For traces without GPUs, BREAKDOWN, KERNELS
 * and IDLE show the CPU: "threads" (operators, data loading, other), "operators" by their own time,
 * "gaps" between them.
 *
 * Returns: GPUT_OK and in `*tables` what gput_tables_destroy() frees. Errors: GPUT_ERROR_NOT_FOUND
 * (a path; no activity in any trace), GPUT_ERROR_FORMAT, GPUT_ERROR_INVALID, GPUT_ERROR_IO,
 * GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_kineto_tables(enum gput_kineto_view view,
    const struct gput_kineto_options *options, struct gput_tables **tables,
    struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
