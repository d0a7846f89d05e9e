/*
 * The files below a trace root, as SageMaker's profiler lays them out:
 *
 *     ROOT/system/incremental/[HOUR/]<second>.<node>.json
 *     ROOT/framework/pevents/<hour>/<end of the last event, us>_<node>_<suffix>
 *     ROOT/framework/tensorflow/detailed_profiling/<hour>/<step>/plugins/profile/<run>/<host>.trace.json.gz
 *     ROOT/framework/<framework>/{cprofile|pyinstrument}/<node>/<stats dir>/python_stats…
 */
#pragma once

#include "base/error.h"
#include "files/trace/read_report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_file_kind {
    TRACE_FILE_SYSTEM,     /* readings of the machine, JSON lines */
    TRACE_FILE_EVENTS,     /* a list of events */
    TRACE_FILE_TENSORFLOW, /* TensorFlow's own, with its time base next to it */
    TRACE_FILE_PYTHON,     /* a Python profile: python_stats, python_stats.json */
};

struct trace_file {
    enum trace_file_kind kind;
    char *path;
    char *node;
    const char *suffix; /* "pythontimeline.json" …; static text, "" for other kinds */
    int64_t time_us;    /* time of the first reading, or of the last event; 0 when not known */
    int64_t base_us;    /* time base to add to the times in it; 0 when not known */
};

/* Files in order of kind, time and path. */
struct trace_root {
    struct trace_file *files;
    size_t count;
};

/*
 * Lists the files below `path`. A folder that has the root in "profiler-output" is accepted, too.
 * Errors: GPUT_ERROR_NOT_FOUND when there is no such folder, GPUT_ERROR_FORMAT when it has neither
 * "system" nor "framework" in it.
 */
int trace_root_read(const char *path, struct trace_root *root, struct gput_error *error);

void trace_root_finish(struct trace_root *root);

/* The parts of trace_root_read(): trace_root_add() adds a file of "system" or "framework" if its
 * path has one of the forms above; trace_root_sort() then sorts all files. */
int trace_root_add(
    struct trace_root *root, const char *path, bool system, struct gput_error *error);
void trace_root_sort(struct trace_root *root);

/* Reads the times in "<node>_<start us>_<end us>.metadata". Returns false for another name. */
bool trace_root_metadata_times(const char *name, int64_t *start_us, int64_t *end_us);

/* Whether trace_root_read() accepts the folder `path`. */
bool trace_root_is(const char *path);

/* Returns false and warns if a file is gone, unreadable or not regular; it is to be skipped. */
bool trace_file_is_readable(const struct trace_file *file, const struct read_report *report);

/* The suffixes of files of framework events, TensorFlow's last. */
extern const char *const trace_suffixes[];
extern const size_t trace_suffix_count;

/* Selects the files to read: those of an interval of time (widened by three minutes) and of some
 * suffixes. */
struct trace_choice {
    int64_t start_us; /* INT64_MIN: from the beginning */
    int64_t end_us;   /* INT64_MAX: to the end */
    const char *const *suffixes;
    size_t n_suffixes; /* 0: all */
};

/*
 * Sets `chosen[i]` for each files[i] that may have selected data. Readings: within each series of
 * rotated files (one node), from the last file that begins before the interval to the first that
 * reaches its end. Events: all files whose last event ends in or after the interval, since it may
 * have begun in it.
 */
void trace_root_choose(
    const struct trace_root *root, const struct trace_choice *choice, bool *chosen);

/*
 * A folder of trace files, one for each rank.
 */
#define MERGED_SUFFIX "_merged_timeline.json"

struct trace_paths {
    char **paths; /* owned, as are the texts */
    size_t count;
};

/* An empty list is all zeroes. */

/* Adds a file, or all trace files (.json, .json.gz, .json.zst) of a folder, by name. Merged
 * timelines are skipped with a warning to `report`, since they repeat the other files. Errors:
 * GPUT_ERROR_NOT_FOUND; GPUT_ERROR_FORMAT for a folder without any. */
int trace_paths_add(struct trace_paths *list, const char *path, const struct read_report *report,
    struct gput_error *error);

void trace_paths_finish(struct trace_paths *list);
