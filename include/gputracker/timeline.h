/*
 * One timeline out of many recordings: training profiles, PyTorch and Chrome traces, and the files
 * of tracked sessions, on one clock.
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

/** What start and end of a selection are. */
enum gput_merge_unit {
    GPUT_MERGE_TIME, /**< microseconds since the epoch */
    GPUT_MERGE_STEP, /**< step numbers: from the begin of the one to just before the other */
};

struct gput_timeline_options {
    /**
     * What is merged, each a trace root (a folder with "system" or "framework" in it), a folder of
     * trace files (merged timelines in it are left out, with a warning), a trace file: of PyTorch's
     * profiler or any other in the Chrome form, packed by gzip or not; or a file of a tracked
     * session: its tracking file or its sub-tracking file (.csv, .sqlite, .gputblocks).
     */
    const char *const *inputs;
    size_t input_count;
    bool has_start,
        has_end; /**< whether `start` and `end` count; else from the beginning, to the end */
    int64_t start, end;
    enum gput_merge_unit unit;
    /** Of a trace root, only the files with these suffixes: "pythontimeline.json",
     * "model_timeline.json", "horovod_timeline.json", "smdataparallel_timeline.json",
     * "trace.json.gz". None: all. */
    const char *const *suffixes;
    size_t suffix_count;
    bool without_readings; /**< leave the readings of a trace root's system out */
    /** The file to write, packed by gzip if its name ends with ".gz"; "-": the standard output.
     * NULL: "<end, us>_<node>_merged_timeline.json" in `output_folder`. */
    const char *output;
    const char *node;          /**< in that name; NULL: that of the inputs, "all" for several */
    const char *output_folder; /**< NULL: the first input, or the folder it is in */
    /** Readings of this dimension (or name, as "cpu0") below this value are marked by an instant
     * event that shows all readings around it. NULL: none are. */
    const char *low_dimension; /**< default "GPUUtilization" */
    double low_threshold;      /**< default 85 */
    size_t memory_bytes;       /**< how much may be held in memory; 0: 192 MiB */
    /** Called with one line (no newline) for each file that was not whole. NULL: not told. */
    void (*warn)(void *user, const char *message);
    /** Called now and then with how far merging is, 0 to 1; it may fall back a little. NULL: not.
     */
    void (*progress)(void *user, double done);
    void *user; /**< handed to warn() and progress() */
};

/** The defaults above. */
GPUT_API struct gput_timeline_options gput_timeline_options_default(void);

/** What was merged. */
struct gput_timeline_result {
    char path[4096];    /**< the file that was written, or "-" */
    uint64_t files;     /**< files that were read */
    uint64_t slices;    /**< events with a duration that were written */
    uint64_t counters;  /**< counter readings that were written */
    uint64_t others;    /**< instants, flows and the like that were written */
    uint64_t left_out;  /**< events outside of the selection */
    uint64_t damaged;   /**< places that could not be read and were skipped */
    uint64_t truncated; /**< files that end too early */
    uint64_t unusable;  /**< events without a time, a duration or a partner, or of no known type */
    int64_t start_us;   /**< the earliest begin, since the epoch */
    int64_t end_us;     /**< the latest end */
};

/**
 * Merges and writes. The file appears whole or not at all. Memory is bounded whatever the size of
 * the inputs; what does not fit goes to a nameless temporary file in the folder of the output, or
 * in /var/tmp where the output is no file.
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
