/*
 * Sub-tracking files: when each call of a code block started and stopped, a row a mark. One vtable,
 * one source file a format:
 *
 *   .csv         sub_tracking_csv.c      header process_id,code_block_name,position,timestamp
 *   .sqlite      sub_tracking_sqlite.c   table `data` with the same columns
 *   .gputblocks  sub_tracking_log.c      our own log of fixed-size records (block_log.h)
 *
 * Readers and writers stream: they hold a buffer and the distinct names, never the rows.
 */
#ifndef FORMATS_MARKS_SUB_TRACKING_FILE_H
#define FORMATS_MARKS_SUB_TRACKING_FILE_H

#include "base/error.h"
#include "formats/marks/sub_tracking_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sub_tracking_position { SUB_TRACKING_START = 0, SUB_TRACKING_STOP = 1 };

/* A figure that the file does not have. */
#define SUB_TRACKING_UNKNOWN INT64_C(-1)

/*
 * What the kernel had counted at the moment of the mark: the figures of a call are those at its
 * stop less those at its start. Each is SUB_TRACKING_UNKNOWN where the file has none.
 */
struct sub_tracking_exact {
    int64_t thread_cpu_ns;  /* CPU time of the marking thread */
    int64_t process_cpu_ns; /* CPU time of its process, all threads */
    int64_t minor_faults;   /* page faults of the thread that needed no reading from a disk */
    int64_t major_faults;   /* those that did */
    int64_t peak_rss_bytes; /* highest RSS of the process until then: a rise is a new peak */
    int64_t energy_uj;      /* energy counter of the machine's processor packages, microjoules */
};

/* A row. */
struct sub_tracking_row {
    int64_t process_id;
    int64_t thread_id;    /* SUB_TRACKING_UNKNOWN when the file does not tell */
    int64_t started_ns;   /* of a stop: `timestamp_ns` of its start, where the file tells */
    int64_t timestamp_ns; /* nanoseconds since the epoch, exactly what the file's decimals say */
    double timestamp;     /* seconds since the epoch: the double nearest to what the file says */
    uint32_t name;        /* in the reader's name table */
    uint8_t position;     /* enum sub_tracking_position, nothing else */
    struct sub_tracking_exact exact;
};

/* Which optional columns a file has; a set of bits. */
enum sub_tracking_columns {
    SUB_TRACKING_COLUMN_THREAD_ID = 1 << 0,
    SUB_TRACKING_COLUMNS_EXACT = 1 << 1, /* at least one column of `exact` */
    SUB_TRACKING_COLUMN_STARTED = 1 << 2,
    /* What tells calls of one block apart that run at the same time. */
    SUB_TRACKING_COLUMNS_APART = SUB_TRACKING_COLUMN_THREAD_ID | SUB_TRACKING_COLUMN_STARTED,
};

enum sub_tracking_format {
    SUB_TRACKING_CSV,
    SUB_TRACKING_SQLITE,
    SUB_TRACKING_LOG,
};

/*
 * The format that the extension of `path` stands for.
 * Errors: GPUT_ERROR_INVALID with the old tool's message: `Invalid file name: "x". Valid file
 * extensions are ".csv" and ".sqlite".`, and after it what it did not know of.
 */
int sub_tracking_format_of(
    const char *path, enum sub_tracking_format *format, struct gput_error *error);

/* ".csv", ".sqlite", ".gputblocks". */
const char *sub_tracking_extension(enum sub_tracking_format format);

/* The double nearest to that many nanoseconds in seconds; what a CSV file of them reads back as. */
double sub_tracking_seconds_of_ns(int64_t ns);

/* ---- Reading ---- */

struct sub_tracking_reader;

/*
 * Opens a file by its extension and reads its header. Names are added to `names`, which the caller
 * owns, keeps for as long as the reader lives, and may share between readers.
 *
 * On success the caller owns `*reader` (sub_tracking_reader_close()).
 * Errors: GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION, GPUT_ERROR_INVALID (the extension),
 * GPUT_ERROR_FORMAT (`Sub-tracking file x is invalid: …`: a column is missing, no table `data`, no
 * log of ours), GPUT_ERROR_MEMORY.
 */
int sub_tracking_reader_open(const char *path, struct sub_tracking_names *names,
    struct sub_tracking_reader **reader, struct gput_error *error);

/*
 * The same for a file of which whatever is whole will do: rows that are damaged are left out, of a
 * database that is cut off or damaged those that can be reached are read. The warning counts them.
 */
int sub_tracking_reader_salvage(const char *path, struct sub_tracking_names *names,
    struct sub_tracking_reader **reader, struct gput_error *error);

/* How many damaged rows were left out so far. */
uint64_t sub_tracking_reader_rows_left_out(const struct sub_tracking_reader *reader);

/* NULL is fine. */
void sub_tracking_reader_close(struct sub_tracking_reader *reader);

/*
 * Reads the next rows, at most `capacity` of them (a few hundred at a time is quick), in the order
 * of the file, which need not be that of time. `*count` is 0 at the end of the file and
 * after an error, only then.
 *
 * A last line that was cut off (the writer was killed, the disk was full) ends the file: see
 * sub_tracking_reader_warning().
 * Errors: GPUT_ERROR_FORMAT (the message names the line), GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
int sub_tracking_reader_next(struct sub_tracking_reader *reader, struct sub_tracking_row *rows,
    size_t capacity, size_t *count, struct gput_error *error);

/* The optional columns that the file has; known once it is open. */
unsigned sub_tracking_reader_columns(const struct sub_tracking_reader *reader);

/* How far reading has come, and the whole, in bytes (SQLite: of the file, estimated): for progress.
 */
void sub_tracking_reader_progress(
    const struct sub_tracking_reader *reader, uint64_t *done, uint64_t *total);

/*
 * After the end of the file: one sentence about what had to be left out ("Sub-tracking file x: the
 * last line is cut off and was left out; 123 rows were kept."), or NULL. Owned by the reader.
 */
const char *sub_tracking_reader_warning(const struct sub_tracking_reader *reader);

/* ---- Writing ---- */

struct sub_tracking_writer;

/*
 * Starts a new file at `path`, in the format of its extension, with the given optional columns.
 * Rows go to a file next to it until sub_tracking_writer_finish() puts it in place; what was at
 * `path` before stays until then.
 *
 * On success the caller owns `*writer`, and ends it by _finish() or _abandon().
 */
int sub_tracking_writer_create(const char *path, unsigned columns,
    struct sub_tracking_writer **writer, struct gput_error *error);

/* Adds rows; their names are those of `names`. After an error only _abandon() is left to call. */
int sub_tracking_writer_add(struct sub_tracking_writer *writer, const struct sub_tracking_row *rows,
    size_t count, const struct sub_tracking_names *names, struct gput_error *error);

/* Completes the file, puts it in place and frees the writer, also when it fails (then nothing is
 * left behind). */
int sub_tracking_writer_finish(struct sub_tracking_writer *writer, struct gput_error *error);

/* Removes what was written and frees the writer. NULL is fine. */
void sub_tracking_writer_abandon(struct sub_tracking_writer *writer);

#endif
