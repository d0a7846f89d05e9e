/*
 * One timeline out of many recordings: training profiles, PyTorch and Chrome traces, and the files
 * of tracked sessions, on one clock.
 *
 *     const char *const inputs[] = {"profiler-output", "tracking.csv"};
 *     struct gput_timeline_options options = gput_timeline_options_default();
 *     struct gput_timeline_result result = gput_timeline_result_default();
 *     options.inputs = inputs;
 *     options.n_inputs = 2;
 *     if (gput_timeline_merge(&options, &result, &error) == GPUT_OK)
 *         puts(result.path);
 */
#ifndef GPUTRACKER_TIMELINE_H
#define GPUTRACKER_TIMELINE_H

#include <gputracker/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The unit of start and end of a selection. */
enum gput_timeline_unit {
    GPUT_TIMELINE_TIME, /**< microseconds since the epoch */
    GPUT_TIMELINE_STEP, /**< step numbers: from the beginning of the start step to just before the
                        end step */
    /** Step numbers, both steps inclusive: to just before the next step after the end step, or to
     * the end where there is none. */
    GPUT_TIMELINE_WHOLE_STEPS,
};

/** Options of a merge. Sized: see gputracker/sized.h. */
struct gput_timeline_options {
    size_t size; /**< set by gput_timeline_options_default() */
    /**
     * What to merge. Each input is one of these:
     *
     * - a trace root: a folder that contains "system" or "framework";
     * - a folder of trace files. Merged timelines in it are skipped, with a warning;
     * - a trace file of PyTorch's profiler or any other in Chrome's format, which may be packed by
     * gzip or Zstandard;
     * - a tracking file or sub-tracking file of a session (.csv, .sqlite, .gputblocks).
     */
    const char *const *inputs;
    size_t n_inputs;
    int64_t start; /**< in `unit`; INT64_MIN, the default: from the beginning */
    int64_t end;   /**< in `unit`; INT64_MAX, the default: to the end */
    enum gput_timeline_unit unit;
    /** Of a trace root, only the files with these suffixes: "pythontimeline.json",
     * "model_timeline.json", "horovod_timeline.json", "smdataparallel_timeline.json",
     * "trace.json.gz". None: all. */
    const char *const *suffixes;
    size_t n_suffixes;
    bool without_readings; /**< skip the system readings of a trace root */
    /** The file to write, compressed with gzip if its name ends with ".gz"; "-": standard output.
     * NULL: "<end, us>_<node>_merged_timeline.json" in `output_folder`. */
    const char *output;
    const char *node; /**< node in that name; NULL: that of the inputs, "all" for several */
    const char *output_folder; /**< NULL: the first input, or the folder it is in */
    /** Readings of this dimension (or name, such as "cpu0") that are below the threshold are marked
     * by an instant event with all readings around it. NULL: none are. */
    const char *low_dimension; /**< default "GPUUtilization" */
    double low_threshold;      /**< default 85 */
    size_t memory_bytes;       /**< maximum memory to use; 0: 192 MiB */
    /** Called with one line (no newline) for each truncated or damaged file. May be NULL. */
    void (*warn)(void *user, const char *message);
    /** Called now and then with the progress of merging, 0 to 1; it may decrease a little. May be
     * NULL. */
    void (*progress)(void *user, double done);
    void *user;     /**< passed to warn() and progress() */
    unsigned cores; /**< number of cores that read and write; 0: one. See gput_usable_cores() */
};

/** Sets the defaults in a struct of that size; for gput_timeline_options_default(). */
GPUT_API void gput_timeline_options_init(struct gput_timeline_options *options, size_t size);

/** The defaults above. */
static inline struct gput_timeline_options gput_timeline_options_default(void)
{
    struct gput_timeline_options options;
    gput_timeline_options_init(&options, sizeof options);
    return options;
}

/** Counts of a merge. Sized: see gputracker/sized.h. */
struct gput_timeline_result {
    size_t size;        /**< set by gput_timeline_result_default() */
    char path[4096];    /**< the file that was written, or "-" */
    uint64_t files;     /**< files that were read */
    uint64_t slices;    /**< events with a duration that were written */
    uint64_t counters;  /**< counter readings that were written */
    uint64_t others;    /**< instants, flows and the like that were written */
    uint64_t left_out;  /**< events outside of the selection */
    uint64_t damaged;   /**< malformed places that were skipped */
    uint64_t truncated; /**< truncated files */
    uint64_t unusable;  /**< events without a time, a duration or a partner, or of no known type */
    int64_t start_us;   /**< the earliest start, since the epoch */
    int64_t end_us;     /**< the latest end */
};

/** Clears a struct of that size; for gput_timeline_result_default(). */
GPUT_API void gput_timeline_result_init(struct gput_timeline_result *result, size_t size);

/** Nothing yet. */
static inline struct gput_timeline_result gput_timeline_result_default(void)
{
    struct gput_timeline_result result;
    gput_timeline_result_init(&result, sizeof result);
    return result;
}

/**
 * Merges the inputs and writes the timeline. The file appears complete or not at all. Memory is
 * bounded, whatever the size of the inputs. The rest goes to an unnamed temporary file in the
 * folder of the output, or in /var/tmp if the output is not a file.
 *
 * `result` may be NULL.
 * Errors: GPUT_ERROR_INVALID (options; an output that is one of the inputs), GPUT_ERROR_NOT_FOUND
 * (an input; nothing in the selection; no such step), GPUT_ERROR_FORMAT (an input that is no
 * recording), GPUT_ERROR_IO, GPUT_ERROR_PERMISSION, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_timeline_merge(const struct gput_timeline_options *options,
    struct gput_timeline_result *result, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
