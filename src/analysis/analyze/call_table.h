/*
 * The calls of code blocks: pairs start and stop marks, in any order, to calls sorted by start.
 *
 * Marks are kept by lane, that is by code block, process and, where the file has thread ids,
 * thread: 9 bytes a mark until they are paired, 24 bytes a call afterwards. Exact figures are
 * summed up by lane.
 *
 * How marks pair up:
 * - A file without thread ids is read as the Python tool reads it: the marks of a block in order of
 *   process, time and position (a start before a stop); a start that is the last of its process is
 * still open and is skipped; the rest pair up two by two.
 * - With thread ids the marks of a block in one thread pair up like brackets, in the order of time
 *   and, at one time, of the file; starts that are still open are skipped. A stop with a recorded
 * start time belongs to that start.
 * - A stop without a start is skipped and counted. Without thread ids the Python tool refuses most
 * files with one, and so does this unless open calls are kept.
 * - Where starts and stops of a lane take turns in the order of the file alone, and some stop lies
 * before its start, the system's time was set back: such calls are skipped and counted.
 */
#pragma once

#include "analysis/analyze/exact_figures.h"
#include "base/error.h"
#include "files/marks/sub_tracking_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call {
    double start; /* seconds after the origin of the table */
    double stop;  /* not before start */
    uint32_t lane;
};

/* For qsort(), also one that is not stable: by start, of two that start together the outer one
 * first. */
int call_compare(const void *left, const void *right);

/* All calls of one block in one process or thread. */
struct call_lane {
    int64_t process_id;
    int64_t thread_id; /* SUB_TRACKING_UNKNOWN when the file has none */
    int64_t rank;      /* of the process in `ranks`; 0 without */
    uint32_t name;     /* in the name table */
    uint32_t block;    /* index of its block among those sorted by name */
    uint32_t track;    /* the same for all lanes of one process (and thread) */
    uint64_t n_calls;
    struct exact_figures *exact; /* of its calls; NULL unless the table is exact; owned */

    /* Marks, until call_table_pair(). */
    double *times;
    uint8_t *positions;
    double *started; /* recorded start of each stop, else NaN; NULL without has_starts */
    size_t count;
    size_t capacity;
};

/* Plain data; every array is owned. */
struct call_table {
    const struct sub_tracking_names *names; /* not owned */
    bool by_thread;                         /* lanes are threads */
    bool has_starts;                        /* stops may have a recorded start */
    unsigned exact; /* the exact figures of calls that are summed up: bits 1 << figure */
    bool each_call; /* and keep those of each call; to be set before the first mark */
    struct sub_tracking_labels *ranks; /* that sort lanes before processes; NULL: none; not owned;
                                          to be set before call_table_pair() */
    bool keep_open; /* keep starts without a stop; to be set before call_table_pair() */
    bool has_lost;  /* marks are known to be missing; to be set before call_table_pair() */
    bool whole_ns;  /* times are computed from nanoseconds, relative to `origin` */
    double origin;  /* seconds since the epoch of time 0 in `calls` */

    struct call_lane *lanes; /* after call_table_pair() sorted by block, rank, process, thread */
    size_t n_lanes;
    uint32_t *lane_slots; /* hash table: index in `lanes` + 1, 0 is free */
    size_t n_slots;

    struct call *calls; /* sorted by start */
    size_t n_calls;
    struct call *open; /* calls whose start has no stop, with a stop of infinity; see keep_open */
    size_t n_open, open_capacity;
    bool *is_open;         /* of each call, after call_table_close_open(); else NULL */
    uint32_t *block_names; /* names in sorted order */
    size_t n_blocks;
    size_t n_tracks;
    uint64_t n_doubtful; /* calls made of two starts or two stops, as the Python tool does when
                            calls of one name overlap in a process */
    uint64_t n_backward; /* calls that were skipped: they stop before they start */
    uint64_t n_skipped;  /* calls that were skipped: they have no stop; see keep_open */
    uint64_t n_lone;     /* stops that were skipped: the marks of their starts are missing */
    struct {
        double time; /* as those of calls */
        int64_t process_id;
        uint32_t name;
    } first_lone; /* the earliest of them */
};

/*
 * Initializes an empty table for a file with those optional columns; `exact`: sum up exact figures,
 * where there are any. Times of a log (`whole_ns`) are exact to the nanosecond, those of other
 * files are the doubles that the Python tool reads.
 */
void call_table_init(struct call_table *table, const struct sub_tracking_names *names,
    unsigned columns, bool whole_ns, bool exact);

void call_table_finish(struct call_table *table); /* frees all of it */

/* Adds marks. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_FORMAT (a time that is not a number). */
int call_table_add(struct call_table *table, const struct sub_tracking_mark *rows, size_t count,
    struct gput_error *error);

/*
 * Pairs the marks up and frees them.
 *
 * Errors: GPUT_ERROR_FORMAT (`Sub-tracking file is invalid. Detected timestamp pair (A, B) with
 * …`), GPUT_ERROR_MEMORY.
 */
int call_table_pair(struct call_table *table, struct gput_error *error);

/* After pairing, with keep_open: makes the open calls calls of the table. GPUT_ERROR_MEMORY. */
int call_table_join_open(struct call_table *table, struct gput_error *error);

/* Ends the calls that are still open at `end`; `is_open` marks them. Errors: GPUT_ERROR_MEMORY. */
int call_table_close_open(struct call_table *table, double end, struct gput_error *error);

#define CALL_TABLE_WARNING_SIZE 512

/* After pairing: whether its calls are uncertain or incomplete, with a warning. */
bool call_table_warning(
    const struct call_table *table, const char *path, char message[CALL_TABLE_WARNING_SIZE]);

/*
 * The time of a session, outside of which its sub-tracking file may have calls of other runs: files
 * of an earlier run stay in a folder, and several runs can write into one.
 */

/* Seconds since the epoch; infinite where there is no bound. */
struct call_window {
    double from, to;
    int64_t pid; /* its calls that have no stop may start before; SUB_TRACKING_UNKNOWN: none */
};

/* What was skipped. */
struct call_window_rest {
    size_t before, after;
    double farthest; /* seconds from the window to the call that is farthest from it */
};

/* After call_table_pair(): skips the calls that lie wholly outside. An open call from before
 * is inside if its process is. Exact figures of a lane of which some are skipped are unknown.
 * Errors: GPUT_ERROR_MEMORY. */
int call_window_apply(const struct call_window *window, struct call_table *table,
    struct call_window_rest *rest, struct gput_error *error);
