/*
 * Writes a tracking file: the static data once, then a row a sample. One vtable, one source file a
 * format, chosen by the extension:
 *
 *   .plain.csv tracking_csv.c    line 1: header of the rows that follow, which all readers of CSV
 * take; the static data are in the file next to it (tracking_sidecar.h).
 *   .csv     tracking_csv.c      lines 1 and 2: header and values of the static data; line 3:
 * header of the rows that follow. A row is on disk when the call returns. .sqlite tracking_sqlite.c
 * tables `static_data` (one row) and `data`. Rows are committed at most one second after they were
 * written.
 *
 * RAM is in the units of the static data; a missing figure is an empty cell or NULL; the timestamp
 * is in seconds since the epoch with six decimals.
 *
 * A row that cannot be written (a full disk) is lost completely: no part of it stays in the file.
 * Later rows are written again when possible.
 * The caller blocks SIGXFSZ where the size of files may be limited (base/file.h).
 */
#pragma once

#include "base/error.h"
#include "base/file_restore.h"

#include "model/results.h"
#include <gputracker/measurement.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracking_file;

/* Whether the extension is a supported one. Errors: GPUT_ERROR_INVALID: `Invalid file name: "x".
 * Valid file extensions are ".csv" and ".sqlite".` */
int tracking_file_check_name(const char *path, struct gput_error *error);

/*
 * Creates the file with its static data. `path` and `static_data` are copied. On success the caller
 * owns `*file` and ends it by tracking_file_finish().
 * Errors: those of tracking_file_check_name(); GPUT_ERROR_EXISTS: `File x already exists.`;
 * GPUT_ERROR_IO, GPUT_ERROR_PERMISSION,
 * GPUT_ERROR_NOT_FOUND (the folder), GPUT_ERROR_MEMORY.
 */
int tracking_file_create(const char *path, const struct gput_static_data *static_data,
    bool overwrite, struct tracking_file **file, struct gput_error *error);

/*
 * Before the first row: replaces the static data, where they differ. Units stay as they are. A pipe
 * has them once, from the first call or row on. Errors: GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
int tracking_file_set_static_data(struct tracking_file *file,
    const struct gput_static_data *static_data, struct gput_error *error);

/*
 * Adds a row. `now_ns` is the monotonic time; the interval between rows says to a format that
 * batches whether it can wait for the next one. On an error this row, and with a format that
 * batches up to a second of rows before it, are lost: see tracking_file_rows_lost().
 */
int tracking_file_write_row(struct tracking_file *file, const struct gput_sample *sample,
    int64_t now_ns, struct gput_error *error);

/* From now on rows may wait for tracking_file_flush(): on a slow disk each write takes its time. */
void tracking_file_gather_rows(struct tracking_file *file);

/* Writes the rows that wait so, and leaves alone what a format batches itself. Where a disk fails
 * for a reason that may pass (EIO, ESTALE), they wait for the next call. On an error those that did
 * not fit are lost. */
int tracking_file_flush(struct tracking_file *file, struct gput_error *error);

/* The timestamp in the row of a sample: seconds, truncated to microseconds. For the rows of further
 * tables. */
double tracking_timestamp(const struct gput_sample *sample);

/* Rows that could not be written so far. */
uint64_t tracking_file_rows_lost(const struct tracking_file *file);

/*
 * Before the end: gives a file that was removed meanwhile a name again, and finds one that was
 * moved. `*fate` says which, and tracking_file_path() where it is then. Errors: those of the
 * system: its rows are lost.
 */
int tracking_file_restore(
    struct tracking_file *file, enum file_fate *fate, struct gput_error *error);

/* Where it is, as it was named. Belongs to the file. */
const char *tracking_file_path(const struct tracking_file *file);

/* Completes and closes the file and frees `file`, also when it fails. NULL is fine. `rows_lost` may
 * be NULL; it gets the final count. */
int tracking_file_finish(struct tracking_file *file, uint64_t *rows_lost, struct gput_error *error);

/* ---- Further tables ---- */

enum tracking_value_kind {
    TRACKING_NULL, /* not for columns */
    TRACKING_INTEGER,
    TRACKING_REAL,
    TRACKING_TEXT,
    TRACKING_KEY, /* of columns: a text; a row replaces the one that has the same */
};

struct tracking_column {
    const char *name;
    enum tracking_value_kind kind;
};

struct tracking_value {
    enum tracking_value_kind kind;
    union {
        int64_t integer;
        double real;      /* NaN is written as NULL */
        const char *text; /* NULL is written as NULL; only used during the call */
    };
};

static inline struct tracking_value tracking_real(double real)
{
    return (struct tracking_value){.kind = TRACKING_REAL, .real = real};
}

static inline struct tracking_value tracking_text(const char *text)
{
    return (struct tracking_value){.kind = TRACKING_TEXT, .text = text};
}

static inline struct tracking_value tracking_integer(int64_t integer)
{
    return (struct tracking_value){.kind = TRACKING_INTEGER, .integer = integer};
}

#define TRACKING_FILE_MAX_TABLES 8
/* The one with a row for each GPU. */
#define TRACKING_GPU_TABLE "gpu_data"

/* Whether the file itself holds further tables (SQLite does). Of CSV each is a file next to it
 * (tracking_csv_table.h), so the session writes few there. */
bool tracking_file_has_tables(const struct tracking_file *file);

/*
 * Adds a table; `*table` is its number for tracking_file_write_table_row().
 * Errors: GPUT_ERROR_UNSUPPORTED for a pipe, GPUT_ERROR_STATE for one table too many,
 * GPUT_ERROR_EXISTS for another file where that of the table is to be, GPUT_ERROR_IO,
 * GPUT_ERROR_MEMORY.
 */
int tracking_file_add_table(struct tracking_file *file, const char *name,
    const struct tracking_column *columns, size_t count, unsigned *table, struct gput_error *error);

/* Adds a row to such a table: a value for each of its columns. Batched like rows of samples. */
int tracking_file_write_table_row(struct tracking_file *file, unsigned table,
    const struct tracking_value *values, int64_t now_ns, struct gput_error *error);
