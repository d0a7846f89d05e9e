/*
 * Sub-tracking files: the start and stop of each call of a code block; each mark is a row. One
 * vtable, one source file a format:
 *
 *   .csv         sub_tracking_csv.c      header process_id,code_block_name,position,timestamp
 *   .sqlite      sub_tracking_sqlite.c   table `data` with the same columns
 *   .gputblocks  sub_tracking_log.c      a log of fixed-size records (block_log.h)
 *
 * Readers and writers stream: in memory are a buffer and the distinct names, never all marks.
 */
#pragma once

#include "base/cleanup.h"
#include "base/error.h"
#include "files/marks/sub_tracking_labels.h"
#include "files/marks/sub_tracking_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sub_tracking_position { SUB_TRACKING_START = 0, SUB_TRACKING_STOP = 1 };

/* The value of a missing figure. */
#define SUB_TRACKING_UNKNOWN INT64_C(-1)

/*
 * The kernel's counters at the moment of the mark: the figures of a call are those at its stop
 * minus those at its start. Each is SUB_TRACKING_UNKNOWN where the file has none.
 */
struct sub_tracking_exact {
    int64_t thread_cpu_ns;  /* CPU time of the marking thread */
    int64_t process_cpu_ns; /* CPU time of its process, all threads */
    int64_t minor_faults;   /* of the thread: page faults without I/O */
    int64_t major_faults;   /* of the thread: page faults with I/O */
    int64_t peak_rss_bytes; /* peak RSS of the process so far: an increase is a new peak */
    int64_t energy_uj;      /* energy counter of the machine's CPU packages, microjoules */
    /* Figures that cost more, only if requested: SUB_TRACKING_COLUMN_BLOCK_PEAK,
     * _COLUMNS_COUNTERS, _COLUMN_GPU. */
    int64_t block_peak_rss_bytes; /* at a start the RSS of the process; at a stop its peak since */
    int64_t instructions;         /* of the marking thread, in user space, as the next two */
    int64_t cycles;
    int64_t cache_misses;
    int64_t gpu_ns; /* that engines of GPUs were busy with the process */
};

/* A mark, which is a row of the file. */
struct sub_tracking_mark {
    int64_t process_id;
    int64_t thread_id;    /* SUB_TRACKING_UNKNOWN when the file has none */
    int64_t started_ns;   /* of a stop: `timestamp_ns` of its start, where the file has it */
    int64_t timestamp_ns; /* nanoseconds since the epoch, exactly as in the file */
    double timestamp;     /* seconds since the epoch: the double nearest to the file's */
    uint32_t name;        /* index in the reader's name table */
    uint8_t position;     /* enum sub_tracking_position, nothing else */
    struct sub_tracking_exact exact;
};

/* The optional columns of a file; a set of bits. */
enum sub_tracking_columns {
    SUB_TRACKING_COLUMN_THREAD_ID = 1 << 0,
    SUB_TRACKING_COLUMNS_EXACT = 1 << 1, /* at least one column of `exact`, the first six */
    SUB_TRACKING_COLUMN_STARTED = 1 << 2,
    SUB_TRACKING_COLUMN_BLOCK_PEAK = 1 << 3,
    SUB_TRACKING_COLUMNS_COUNTERS = 1 << 4,
    SUB_TRACKING_COLUMN_GPU = 1 << 5,
    SUB_TRACKING_COLUMNS_COUNTED = SUB_TRACKING_COLUMNS_EXACT | SUB_TRACKING_COLUMN_BLOCK_PEAK |
                                   SUB_TRACKING_COLUMNS_COUNTERS |
                                   SUB_TRACKING_COLUMN_GPU, /* all of `exact` */
    /* Columns that distinguish calls of one block that run at the same time. */
    SUB_TRACKING_COLUMNS_DISTINGUISH_CALLS =
        SUB_TRACKING_COLUMN_THREAD_ID | SUB_TRACKING_COLUMN_STARTED,
};

enum sub_tracking_format {
    SUB_TRACKING_CSV,
    SUB_TRACKING_SQLITE,
    SUB_TRACKING_LOG,
};

/*
 * The format for the extension of `path`. Errors: GPUT_ERROR_INVALID with the old tool's message:
 * `Invalid file name: "x". Valid file extensions are ".csv" and ".sqlite".`, and after it the newer
 * formats.
 */
int sub_tracking_format_of(
    const char *path, enum sub_tracking_format *format, struct gput_error *error);

/* Converts nanoseconds to the nearest double of seconds, as a CSV file of them reads back. */
double sub_tracking_seconds_of_ns(int64_t ns);

/* Calls that are not in a file because their marks could not be written; all 0: none. */
struct sub_tracking_lost {
    uint64_t calls;
    bool at_least;      /* there may be more: the file was truncated, or has marks without a name */
    int64_t process_id; /* of the last ones */
    int64_t since_ns;   /* when the first and the last one were lost, since the epoch */
    int64_t until_ns;
};

/* ---- Reading ---- */

struct sub_tracking_reader;

/*
 * Opens a file by its extension and reads its header. Names are added to `names`, which the caller
 * owns, which must outlive the reader, and which readers may share.
 *
 * On success the caller owns `*reader` (sub_tracking_reader_close()). Errors: GPUT_ERROR_NOT_FOUND,
 * GPUT_ERROR_PERMISSION, GPUT_ERROR_INVALID (the extension), GPUT_ERROR_FORMAT (`Sub-tracking file
 * x is invalid: …`: a column is missing, no table `data`, not a log), GPUT_ERROR_MEMORY.
 */
int sub_tracking_reader_open(const char *path, struct sub_tracking_names *names,
    struct sub_tracking_reader **reader, struct gput_error *error);

/*
 * The same for a damaged file: damaged rows are skipped; of a truncated or damaged database the
 * rows that can be reached are read. The warning counts them.
 */
int sub_tracking_reader_salvage(const char *path, struct sub_tracking_names *names,
    struct sub_tracking_reader **reader, struct gput_error *error);

/* How many damaged rows were skipped so far. */
uint64_t sub_tracking_reader_rows_skipped(const struct sub_tracking_reader *reader);

/* NULL is fine. */
void sub_tracking_reader_close(struct sub_tracking_reader *reader);
CLEANUP_DEFINE(struct sub_tracking_reader, sub_tracking_reader_close)
#define CLEANUP_READER CLEANUP(sub_tracking_reader_close_pointer)

/*
 * Reads the next marks, at most `capacity` of them; a few hundred at a time is fast. They are in
 * the order of the file, which need not be that of time. `*count` is 0 only at the end of the file
 * and after an error.
 *
 * A truncated last line (the writer was killed, the disk was full) is skipped: see
 * sub_tracking_reader_warning(). So are the rows of lost calls and of labels: see
 * sub_tracking_reader_lost(), sub_tracking_reader_labels().
 * Errors: GPUT_ERROR_FORMAT (the message names the line),
 * GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
int sub_tracking_reader_next(struct sub_tracking_reader *reader, struct sub_tracking_mark *rows,
    size_t capacity, size_t *count, struct gput_error *error);

/* The optional columns that the file has; known once it is open. */
unsigned sub_tracking_reader_columns(const struct sub_tracking_reader *reader);

/* The lost calls of the file; complete at its end. Owned by the reader. */
const struct sub_tracking_lost *sub_tracking_reader_lost(const struct sub_tracking_reader *reader);

/* Returns the labels of processes and threads; complete at the end of the file. Owned by the
 * reader. */
struct sub_tracking_labels *sub_tracking_reader_labels(struct sub_tracking_reader *reader);

/* Bytes read so far and in total (SQLite: estimated), for progress. */
void sub_tracking_reader_progress(
    const struct sub_tracking_reader *reader, uint64_t *done, uint64_t *total);

/*
 * After the end of the file: what was skipped, and what was lost when it was written ("Sub-tracking
 * file x: the last line is truncated and was skipped; 123 rows were kept."), or NULL. Owned by the
 * reader.
 */
const char *sub_tracking_reader_warning(const struct sub_tracking_reader *reader);

/* ---- Writing ---- */

struct sub_tracking_writer;

/*
 * Starts a new file at `path`, in the format of its extension, with the given optional columns. It
 * is written to a temporary path until sub_tracking_writer_finish() renames it; a file at `path`
 * stays until then.
 *
 * On success the caller owns `*writer`, and ends it by _finish() or _abandon().
 */
int sub_tracking_writer_create(const char *path, unsigned columns,
    struct sub_tracking_writer **writer, struct gput_error *error);

/* Adds marks; their names are those of `names`. After an error only _abandon() may be called. */
int sub_tracking_writer_add(struct sub_tracking_writer *writer,
    const struct sub_tracking_mark *rows, size_t count, const struct sub_tracking_names *names,
    struct gput_error *error);

/*
 * Passes the next rows of a reader on, where as many threads can do so at once: `*count` rows; 0:
 * what follows has to be read and added. The result is the same. `cores` and the writer stay the
 * same from call to call. After an error only _abandon() may be called.
 */
int sub_tracking_reader_pass(struct sub_tracking_reader *reader, struct sub_tracking_writer *writer,
    unsigned cores, size_t *count, struct gput_error *error);

/* Adds lost calls; without any it does nothing. That there may be some, only a log says. After an
 * error only _abandon() may be called. */
int sub_tracking_writer_add_lost(struct sub_tracking_writer *writer,
    const struct sub_tracking_lost *lost, struct gput_error *error);

/* Adds what is said of processes and threads. After an error only _abandon() may be called. */
int sub_tracking_writer_add_labels(struct sub_tracking_writer *writer,
    const struct sub_tracking_labels *labels, struct gput_error *error);

/* Completes the file, renames it and frees the writer. On failure the file is removed and the
 * writer freed. */
int sub_tracking_writer_finish(struct sub_tracking_writer *writer, struct gput_error *error);

/* Removes what was written and frees the writer. NULL is fine. */
void sub_tracking_writer_abandon(struct sub_tracking_writer *writer);
