/*
 * Analysis: statistics over a session and over each code block, from a tracking file and a
 * sub-tracking file.
 *
 *     struct gput_analysis_options options = gput_analysis_options_default();
 *     options.tracking_file = "tracking.csv";
 *     options.sub_tracking_file = "sub-tracking.csv";
 *     struct gput_analysis *analysis;
 *     if (gput_analysis_create(&options, &analysis, &error) == GPUT_OK)
 *         for (size_t i = 0; i < gput_analysis_block_count(analysis); i++)
 *             puts(gput_code_block_name(gput_analysis_block(analysis, i)));
 *     gput_analysis_destroy(analysis);
 *
 * Both files are read once, in one pass each. Memory grows with the number of code blocks and of
 * their calls (about 50 bytes a call), not with the rows of the tracking file.
 */
#ifndef GPUTRACKER_ANALYSIS_H
#define GPUTRACKER_ANALYSIS_H

#include <gputracker/energy.h>
#include <gputracker/error.h>
#include <gputracker/format.h>
#include <gputracker/table.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Statistics of one measurement over the rows that have a value. Shared: see gputracker/sized.h.
 * NaN when no row has a value, and when all values are 0 while some are missing. std divides by n,
 * not n - 1.
 */
struct gput_statistics {
    double min;
    double max;
    double mean;
    double std;
    uint64_t n_missing; /**< rows without a value */
};

/** How blocks are split into parts. */
enum gput_split {
    GPUT_SPLIT_NONE,
    GPUT_SPLIT_PROCESS, /**< a part for each process that ran the block */
    GPUT_SPLIT_THREAD,  /**< a part for each thread; needs a sub-tracking file with thread ids */
    GPUT_SPLIT_RANK,    /**< a part for each rank of a parallel job, as `run --regions` records it;
                           processes without a rank form one part */
};

/**
 * Groups code blocks by their names, which have the form `source:domain/name`, as those of regions
 * and phases do. A group is a code block itself. It is named by its source ("nvtx"), domain
 * ("nvtx:train"; "token" where the source has none) or category. Blocks without one are in "(no
 * source)" or "(no category)". A row or a joule counts once in a group; calls that are nested in
 * each other each count fully.
 */
enum gput_grouping {
    GPUT_GROUP_NONE,
    GPUT_GROUP_SOURCE,
    GPUT_GROUP_DOMAIN,
    GPUT_GROUP_CATEGORY, /**< by the text in brackets at the end of a name, "nvtx:train [phase]" */
};

/** Options of an analysis. Sized: see gputracker/sized.h. */
struct gput_analysis_options {
    size_t size;               /**< set by gput_analysis_options_default() */
    const char *tracking_file; /**< .csv or .sqlite */
    /** .csv, .sqlite or .gputblocks; NULL: only the whole session. */
    const char *sub_tracking_file;
    enum gput_split split; /**< default: GPUT_SPLIT_NONE */
    bool details; /**< also percentiles, self time and the thread's CPU time; costs more; default:
                     false */
    /** Called with one line (no newline) for each warning. NULL: none. */
    void (*warn)(void *user, const char *message);
    /** Called repeatedly with the completed share of the work, 0 to 1. NULL: none. */
    void (*progress)(void *user, double done);
    void *user;                  /**< passed to both */
    unsigned cores;              /**< number of cores that read a large tracking file; 0: one. See
                                    gput_usable_cores() */
    enum gput_grouping grouping; /**< default: GPUT_GROUP_NONE; not together with `split` */
    /**
     * Count calls without a stop up to the last sample: in the samples, joules, total and self time
     * of their block, not in its calls and their durations. Skip stops without a start; otherwise a
     * file without thread ids that has one is refused. Default: false.
     */
    bool open_calls;
};

/** Sets the defaults in a struct of that size; for gput_analysis_options_default(). */
GPUT_API void gput_analysis_options_init(struct gput_analysis_options *options, size_t size);

/** The defaults above. */
static inline struct gput_analysis_options gput_analysis_options_default(void)
{
    struct gput_analysis_options options;
    gput_analysis_options_init(&options, sizeof options);
    return options;
}

/**
 * Counters of the kernel and the processor, read at the start and stop of each call. They are exact
 * also for calls shorter than the interval of samples. GPUT_BLOCK_EXACT=1 and
 * gput_blocks_options.exact enable them.
 */
enum gput_exact_figure {
    GPUT_EXACT_THREAD_CPU_TIME,  /**< seconds, of the thread that ran the call */
    GPUT_EXACT_PROCESS_CPU_TIME, /**< seconds, of its process: all threads, whatever they work on */
    GPUT_EXACT_MINOR_FAULTS,     /**< page faults of the thread without I/O */
    GPUT_EXACT_MAJOR_FAULTS,     /**< page faults of the thread with I/O */
    GPUT_EXACT_PEAK_RSS_RISE,    /**< increase of the process's peak RSS in bytes; 0 for a call that
                                    stays below an earlier peak */
    GPUT_EXACT_PACKAGE_ENERGY,   /**< joules of the machine's CPU packages, by all processes; their
                                    counters advance about once a millisecond */
    /* Only where marks were asked for them (gput_blocks_options.block_peaks, .counters, .gpu_time):
     */
    GPUT_EXACT_BLOCK_PEAK_RSS,      /**< the largest, not the sum: peak RSS of the process within a
                                         call, in bytes, by all of its threads */
    GPUT_EXACT_BLOCK_PEAK_RSS_RISE, /**< bytes by which that peak is above the RSS at the start */
    GPUT_EXACT_INSTRUCTIONS, /**< executed by the thread in user space; so are the next two */
    GPUT_EXACT_CYCLES,
    GPUT_EXACT_CACHE_MISSES,
    GPUT_EXACT_GPU_TIME, /**< seconds that engines of GPUs were busy with the process, added up */
    GPUT_EXACT_FIGURE_COUNT,
};

/** "thread_cpu_time", "peak_rss_rise" …. Static text. NULL: this version of the library has no
 * such figure. */
GPUT_API const char *gput_exact_figure_name(enum gput_exact_figure figure);

/** "seconds", "bytes", "joules"; NULL: a count. Static text. */
GPUT_API const char *gput_exact_figure_unit(enum gput_exact_figure figure);

struct gput_analysis; /**< made by gput_analysis_create() or gput_analysis_load() */

/**
 * Analyzes a session. On success the caller frees `*analysis` by gput_analysis_destroy(); on
 * failure it is NULL.
 *
 * Errors: GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION, GPUT_ERROR_INVALID (an extension; a split by
 * thread of a file without thread ids), GPUT_ERROR_FORMAT (an invalid file; calls whose starts and
 * stops do not pair up), GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_analysis_create(const struct gput_analysis_options *options,
    struct gput_analysis **analysis, struct gput_error *error);

/**
 * Loads the results of an analysis from a file in JSON. Pickles are read by the Python package.
 *
 * Errors: GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION, GPUT_ERROR_FORMAT, GPUT_ERROR_IO,
 * GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_analysis_load(
    const char *path, struct gput_analysis **analysis, struct gput_error *error);

/** NULL is fine. */
GPUT_API void gput_analysis_destroy(struct gput_analysis *analysis);

/** The number of measurements, which is the length of each list of figures. */
GPUT_API size_t gput_analysis_measurement_count(const struct gput_analysis *analysis);

/** The name of the measurement at that index, "main_ram"; NULL: there is no such index. */
GPUT_API const char *gput_analysis_measurement_name(
    const struct gput_analysis *analysis, size_t index);

/** Figures over all rows of the tracking file, of the measurement at that index; NULL: there is no
 * such index. */
GPUT_API const struct gput_statistics *gput_analysis_overall(
    const struct gput_analysis *analysis, size_t measurement);

/** Joules of the session. NaN: unknown, also when unknown for more than 2 % of the time (a lost
 * GPU). */
GPUT_API double gput_analysis_energy(
    const struct gput_analysis *analysis, enum gput_energy_figure figure);

/* ---- Code blocks ---- */

/** Part of an analysis, which owns it. What else is known of it, also by process, thread or rank
 * and with percentiles, is in the table "code_blocks" of gput_analysis_tables(). */
struct gput_code_block;

/** The number of code blocks, and one of them, sorted by name; NULL: no such index. */
GPUT_API size_t gput_analysis_block_count(const struct gput_analysis *analysis);
GPUT_API const struct gput_code_block *gput_analysis_block(
    const struct gput_analysis *analysis, size_t index);

GPUT_API const char *gput_code_block_name(const struct gput_code_block *block);

/** Calls that were started and stopped. */
GPUT_API uint64_t gput_code_block_calls(const struct gput_code_block *block);
/** Rows of the tracking file inside at least one call. */
GPUT_API uint64_t gput_code_block_timepoints(const struct gput_code_block *block);

/** Seconds per call, and their sum over all calls. */
GPUT_API const struct gput_statistics *gput_code_block_compute_time(
    const struct gput_code_block *block);
GPUT_API double gput_code_block_compute_time_total(const struct gput_code_block *block);

/** Statistics of the measurement at that index of the analysis over the rows of
 * gput_code_block_timepoints(), in units of the tracking file; NULL: no such index. */
GPUT_API const struct gput_statistics *gput_code_block_usage(
    const struct gput_code_block *block, size_t measurement);

/** Joules during its calls: a moment in several calls counts once. NaN when the tracking file does
 * not have it (only SQLite files do, of machines with energy counters). */
GPUT_API double gput_code_block_energy(
    const struct gput_code_block *block, enum gput_energy_figure figure);

/** The sum over its calls, or the largest of them (GPUT_EXACT_BLOCK_PEAK_RSS): concurrent calls (in
 * several threads, or nested) count fully each. NaN when the sub-tracking file does not have it. */
GPUT_API double gput_code_block_exact_figure(
    const struct gput_code_block *block, enum gput_exact_figure figure);

/** Seconds in which none of the blocks called inside it ran. NaN: without `details`. */
GPUT_API double gput_code_block_self_time(const struct gput_code_block *block);

/* ---- Reports ---- */

/**
 * The analysis as text, JSON or CSV.
 *
 * Result and errors: see gputracker/format.h.
 */
GPUT_API int gput_analysis_render(const struct gput_analysis *analysis, enum gput_format format,
    char **bytes, size_t *length, struct gput_error *error);

/**
 * The analysis as tables:
 *
 * - "static_data", a record;
 * - "overall", a row a measurement: measurement, unit, min, max, mean, std, missing_timepoints;
 * - "code_blocks", a row a block, and after it one for each of its parts: code_block_name,
 *   process_id, thread_id; num_timepoints, num_calls, num_non_empty_calls, num_outside_calls;
 *   compute_time_min … _total in seconds. Where known: rank, thread_name, category, energy_… in
 *   joules, exact_…;
 * - "code_block_usage", a row a block and measurement;
 * - "lost_calls", a record: num_lost_calls, at_least;
 * - "energy", a record with the joules of the session by gput_energy_figure_name(), where the
 *   tracking file has them.
 *
 * With `details` also p50, p95, p99, self_time_total, cpu_time_total.
 *
 * On success the caller frees `*tables` by gput_tables_destroy(). Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_analysis_tables(
    const struct gput_analysis *analysis, struct gput_tables **tables, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
