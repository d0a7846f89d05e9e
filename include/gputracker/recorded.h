/*
 * The content of tracking and sub-tracking files as tables, row by row: for programs that process
 * samples and calls themselves. Files may be ours or those of the Python gpu_tracker. Everything is
 * read into memory: 8 bytes a cell.
 *
 *     if (gput_recorded_samples("tracking.csv", NULL, &tables, &error) == GPUT_OK) {
 *         const struct gput_table *samples = gput_tables_find(tables, "samples");
 *         printf("%zu samples\n", gput_table_row_count(samples));
 *         gput_tables_destroy(tables);
 *     }
 */
#ifndef GPUTRACKER_RECORDED_H
#define GPUTRACKER_RECORDED_H

#include <gputracker/error.h>
#include <gputracker/table.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An interval of time, including both ends. Final. */
struct gput_recorded_span {
    double start; /**< seconds since the epoch */
    double end;
};

/** Options of reading. Sized: see gputracker/sized.h. */
struct gput_recorded_options {
    size_t size; /**< set by gput_recorded_options_default() */
    /** Only samples inside at least one of these, in any order; NULL: all samples. */
    const struct gput_recorded_span *spans;
    size_t n_spans;
    const char *code_block; /**< only marks and calls of this code block; NULL: all */
    /** Called with one line (no newline) for each warning, such as a truncated last line. NULL:
     * none. */
    void (*warn)(void *user, const char *message);
    void *user;
    /** Called with the rows of a table as they are read, in parts of at most 131,072: each call
     * gives one table. The tables of the result have no rows then, and memory is bounded. NULL: all
     * rows are in the result. static_data is not passed in parts. */
    gput_table_receiver *receive;
    /** For joins of many files. Damaged rows of samples are skipped with a warning. Samples have a
     * column for each measurement of tracking files, also those that this file lacks, and RAM in
     * bytes. Start and stop of calls are rounded inwards: a sample lies in a call, by its
     * timestamp, exactly where an analysis says so. If a call lies between two adjacent doubles,
     * its start is after its stop. */
    bool for_joins;
};

/** Sets the defaults in a struct of that size; for gput_recorded_options_default(). */
GPUT_API void gput_recorded_options_init(struct gput_recorded_options *options, size_t size);

/** Everything, without warnings. */
static inline struct gput_recorded_options gput_recorded_options_default(void)
{
    struct gput_recorded_options options;
    gput_recorded_options_init(&options, sizeof options);
    return options;
}

/**
 * The samples of a tracking file (.csv or .sqlite), as two tables:
 *
 *     samples      a row a sample, in the order of the file. A column for each measurement that the
 *                  file has: counts of threads are integers, all others are in the column's unit.
 *                  The last column is timestamp (seconds since the epoch).
 *     static_data  a record: the file's units and capacities
 *
 * On success the caller frees `*tables` by gput_tables_destroy(). `options` may be NULL. Errors:
 * GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION, GPUT_ERROR_INVALID (the extension),
 * GPUT_ERROR_FORMAT (`Tracking file x is invalid: …`), GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_recorded_samples(const char *path, const struct gput_recorded_options *options,
    struct gput_tables **tables, struct gput_error *error);

/**
 * The further tables of a tracking file, by their names: those of a database (.sqlite), and
 * gpu_data of the file next to a .csv file. Those that the session did not have are missing:
 *
 *     gpu_data      each GPU
 *     energy_data   joules since the start
 *     io_data       bytes read and written since the start
 *     process_data  the processes
 *
 * Ownership and errors as gput_recorded_samples(); GPUT_ERROR_INVALID for a .csv file that
 * has none.
 */
GPUT_API int gput_recorded_tables(
    const char *path, struct gput_tables **tables, struct gput_error *error);

/**
 * The marks of a sub-tracking file (.csv, .sqlite or .gputblocks), in the order of the file: the
 * table "marks". Its columns are process_id, thread_id, code_block_name, position (0 start, 1 stop)
 * and timestamp (seconds since the epoch). A file with exact figures has further ones:
 * thread_cpu_ns, process_cpu_ns, minor_faults, major_faults, peak_rss_bytes, energy_uj.
 *
 * Ownership and errors as gput_recorded_samples().
 */
GPUT_API int gput_recorded_marks(const char *path, const struct gput_recorded_options *options,
    struct gput_tables **tables, struct gput_error *error);

/**
 * The calls of these marks: the table "calls" with the columns process_id, thread_id,
 * code_block_name, start, stop (seconds since the epoch) and compute_time (seconds), sorted by
 * start. Calls that are still open are skipped. For a file with exact figures further columns have
 * those of each call, by enum gput_exact_figure: exact_thread_cpu_time (seconds) and so on, missing
 * where unknown.
 *
 * Ownership and errors as gput_recorded_samples(); GPUT_ERROR_FORMAT also when starts and stops do
 * not pair up.
 */
GPUT_API int gput_recorded_calls(const char *path, const struct gput_recorded_options *options,
    struct gput_tables **tables, struct gput_error *error);

/**
 * Divides the time of these calls into consecutive segments. Within a segment the same set of code
 * blocks runs; the column `leaf` is the id of that set. Two tables:
 *
 *     segments  start (seconds since the epoch), leaf
 *     leaves    leaf, code_block_name: a row for each block of a leaf
 *
 * The first segment begins at minus infinity, with leaf 0, the empty set. A sample belongs to the
 * last segment that begins at or before its timestamp. So an ASOF join finds its code blocks
 * exactly, also where calls are nested, overlap, or are of several threads.
 *
 * Ownership and errors as gput_recorded_calls(). Memory grows with the calls: 24 bytes each.
 */
GPUT_API int gput_recorded_segments(const char *path, const struct gput_recorded_options *options,
    struct gput_tables **tables, struct gput_error *error);

/**
 * The calls that are open, for a file that its program still writes to: the table "open_calls" with
 * the columns process_id, thread_id, code_block_name and start (seconds since the epoch). Stops
 * without a start, and damaged or incomplete marks, are skipped. Memory grows with the blocks and
 * the calls that are open, not with the file.
 *
 * Ownership and errors as gput_recorded_samples().
 */
GPUT_API int gput_recorded_open_calls(
    const char *path, struct gput_tables **tables, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
