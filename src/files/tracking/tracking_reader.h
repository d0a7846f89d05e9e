/*
 * Reads a tracking file, ours or the old tool's, CSV or SQLite: the static data, then the rows, in
 * constant memory. Columns may be in any order; unknown columns are skipped; missing measurements
 * and empty cells are NaN.
 */
#pragma once

#include "base/error.h"
#include "model/results.h"

#include <gputracker/measurement.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gput_tables;
struct tracking_reader;

/* A row, in the units of the file's static data. */
struct tracking_row {
    double values[GPUT_MEASUREMENT_COUNT]; /* by enum gput_measurement_id; NaN: not in the file */
    double timestamp;                      /* seconds since the epoch */
};

/* A cell of the static data as in the file. */
struct tracking_static_cell {
    const char *name;
    const char *text; /* "gigabytes", "67.25414912000001", "12"; "" when missing */
};

/*
 * Opens a file by its extension and reads its static data and header.
 *
 * On success the caller owns `*reader` (tracking_reader_close()).
 * Errors: GPUT_ERROR_INVALID (the extension), GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION,
 * GPUT_ERROR_FORMAT (`Tracking file x is invalid: …`), GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
int tracking_reader_open(
    const char *path, struct tracking_reader **reader, struct gput_error *error);

/*
 * The same for a damaged file: damaged rows are skipped; of a truncated or damaged database the
 * rows that can be reached are read. The warning counts them.
 */
int tracking_reader_salvage(
    const char *path, struct tracking_reader **reader, struct gput_error *error);

/* Has as many threads as that, at least one, parse the rows of a large file, the caller among them.
 * What is given stays the same. To be called before the first row. */
void tracking_reader_use_cores(struct tracking_reader *reader, unsigned cores);

/* How many damaged rows were skipped so far. */
uint64_t tracking_reader_rows_skipped(const struct tracking_reader *reader);

void tracking_reader_close(struct tracking_reader *reader); /* NULL is fine */

/*
 * The static data; sizes in bytes; numbers that the file does not have are NaN (counts: 0). Owned
 * by the reader.
 */
const struct gput_static_data *tracking_reader_static_data(const struct tracking_reader *reader);

/* The static data's cells in the order of the file, all columns, also unknown ones. Owned by the
 * reader. */
const struct tracking_static_cell *tracking_reader_static_cells(
    const struct tracking_reader *reader, size_t *count);

/* Whether the file has a column for that measurement. */
bool tracking_reader_has(const struct tracking_reader *reader, enum gput_measurement_id id);

/*
 * Reads the next rows, at most `capacity` of them (a few hundred at a time is fast), in the order
 * of the file. `*count` is 0 only at the end.
 *
 * A truncated last line (the tracker was killed, the disk was full) is skipped: see
 * tracking_reader_warning(). Errors: GPUT_ERROR_FORMAT (the message names line and column),
 * GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
int tracking_reader_next(struct tracking_reader *reader, struct tracking_row *rows, size_t capacity,
    size_t *count, struct gput_error *error);

/* Adds the further tables of the file to `building`: of CSV the one of GPUs next to it.
 * Errors: GPUT_ERROR_INVALID (there are none), and as tracking_reader_next(). */
int tracking_reader_tables(
    struct tracking_reader *reader, struct gput_tables *building, struct gput_error *error);

/* Bytes read so far and in total (SQLite: rows), for progress. Total 0: unknown. */
void tracking_reader_progress(
    const struct tracking_reader *reader, uint64_t *done, uint64_t *total);

/* After the end: one sentence about what was skipped ("Tracking file x: the last line is truncated
 * and was skipped; 123 rows were kept."), or NULL. Owned by the reader. */
const char *tracking_reader_warning(const struct tracking_reader *reader);

/*
 * The samples of a tracking file in a few sums, read as a stream.
 */

/* Without gaps: it is hashed. */
struct tracking_samples {
    double jump; /* between two times, where the clock was set; 0: none */
    double first, last, cpu_seconds, gpu_sum, system_sum;
    double count, cpu_count, gpu_count, system_count; /* rows, and those with a value */
    double max_ram, max_gpu_ram;                      /* in the units of the file */
    double first_cpu_percent; /* of the time before the first row; not in cpu_seconds */
    uint64_t first_row;       /* a hash of it; 0: there is none */
};

/* Reads all that is left. Errors: those of tracking_reader_next(). */
int tracking_samples_read(
    struct tracking_reader *reader, struct tracking_samples *samples, struct gput_error *error);

/* Whether a file is the beginning of another, in CSV: a copy that was made while that was written.
 * What follows its last line end does not count. */
bool tracking_samples_begin(const char *path, const char *other);

/* Equal for the copies of a file, which may have no identity next to them. 0: it has no samples. */
uint64_t tracking_samples_hash(const struct tracking_samples *samples);
