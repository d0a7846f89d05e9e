/*
 * The implementation of tracking_file.h and tracking_reader.h: the formats, and what they share.
 *
 * The file or reader of a format has struct tracking_file or struct tracking_reader as its first
 * member.
 */
#pragma once

#include "base/file_restore.h"
#include "base/str.h"
#include "files/salvage.h"
#include "files/tracking/tracking_file.h"
#include "files/tracking/tracking_reader.h"
#include "model/measurement_list.h"

#include <float.h>

struct tracking_format {
    const char *extension; /* ".csv" */
    bool is_plain;         /* without static data: those are in the file next to it */
    bool has_tables;       /* in the file itself; otherwise each is a file next to it */

    /* Writing: as the functions of the same names in tracking_file.h, except that the caller of
     * `finish` frees the shared part. */
    int (*create)(const struct tracking_format *format, const char *path,
        const struct gput_static_data *static_data, bool overwrite, struct tracking_file **file,
        struct gput_error *error);
    int (*put_static_data)(struct tracking_file *file, bool are_same, struct gput_error *error);
    int (*write_row)(struct tracking_file *file, const struct gput_sample *sample, int64_t now_ns,
        struct gput_error *error);
    int (*flush)(
        struct tracking_file *file, struct gput_error *error); /* NULL: it batches itself */
    int (*finish)(struct tracking_file *file, struct gput_error *error);
    int (*restore)(struct tracking_file *file, enum file_fate *fate, struct gput_error *error);
    int (*add_table)(struct tracking_file *file, const char *name,
        const struct tracking_column *columns, size_t count, unsigned *table,
        struct gput_error *error);
    int (*write_table_row)(struct tracking_file *file, unsigned table,
        const struct tracking_value *values, int64_t now_ns, struct gput_error *error);

    /* Reading: likewise. `open` reads the static data and the header. Readers stop with an error at
     * damage; with salvage, errors of rows go through salvage_row(). */
    int (*open)(
        const char *path, bool salvage, struct tracking_reader **reader, struct gput_error *error);
    void (*use_cores)(struct tracking_reader *reader, unsigned cores); /* NULL: one is used */
    int (*next)(struct tracking_reader *reader, struct tracking_row *rows, size_t capacity,
        size_t *count, struct gput_error *error);
    int (*read_tables)(
        struct tracking_reader *reader, struct gput_tables *building, struct gput_error *error);
    void (*progress)(const struct tracking_reader *reader, uint64_t *done, uint64_t *total);
    void (*close)(struct tracking_reader *reader); /* also after `open` failed */
};

extern const struct tracking_format tracking_csv;
extern const struct tracking_format tracking_plain_csv;
extern const struct tracking_format tracking_sqlite;

/* The format for the extension of `path` (tracking_file.c). Errors: GPUT_ERROR_INVALID. */
int tracking_format_of(
    const char *path, const struct tracking_format **format, struct gput_error *error);

/*
 * Locks the open file until the tracker unlocks it or dies: two trackers that write to one file
 * would mix their rows. Without support of the file system nothing is locked. Errors:
 * GPUT_ERROR_EXISTS: another tracker writes to it.
 */
int tracking_lock(int fd, const char *path, struct gput_error *error);

/* ---- Columns ---- */

/* The values of a row: each measurement has the place of its id, and the timestamp follows. */
#define TRACKING_TIMESTAMP GPUT_MEASUREMENT_COUNT
#define TRACKING_VALUES (GPUT_MEASUREMENT_COUNT + 1)

#define TRACKING_COLUMNS (TRACKED_MEASUREMENTS + 1)
#define TRACKING_STATIC_COLUMNS 9

/* The place of the value of each column of a file. */
extern const int tracking_columns[TRACKING_COLUMNS];

/* Name and kind of the value at that place. */
struct tracking_column tracking_column_of(int place);

/* The place of the value of the column of that name (not terminated); -1: no column has it. */
int tracking_column_find(const char *name, size_t length);

/* The smallest value at that place: sizes and counts have 0. */
extern const double tracking_min_values[TRACKING_VALUES];

/* Whether the value can be one of that place; NaN is: it is missing. */
static inline bool tracking_value_is_possible(int place, double value)
{
    return !(value < tracking_min_values[place] || value > DBL_MAX);
}

extern const struct tracking_column tracking_static_columns[TRACKING_STATIC_COLUMNS];

/* The value of that column of the static data, in its units. */
struct tracking_value tracking_static_value(
    const struct gput_static_data *static_data, size_t column);

/* ---- Writing ---- */

struct tracking_file {
    const struct tracking_format *format;
    char *path;
    struct gput_static_data static_data;
    double factors[GPUT_MEASUREMENT_COUNT]; /* from base units to those of the file */
    uint64_t rows_lost;
    bool gathers_rows;                          /* until `flush` */
    bool has_identity_table, has_identity_file; /* of tracking_identity.c */
    unsigned identity_table;
};

/* Fills the shared part. False without memory. */
bool tracking_file_init(struct tracking_file *file, const struct tracking_format *format,
    const char *path, const struct gput_static_data *static_data);

/* ---- Reading ---- */

struct tracking_reader {
    const struct tracking_format *format;
    char *path;
    struct gput_static_data static_data;
    struct tracking_static_cell *cells; /* `name` and `text` are owned */
    size_t cell_count;
    bool has[TRACKING_VALUES];
    uint64_t rows; /* returned so far */
    struct salvage salvage;
    struct str warning;
};

bool tracking_reader_init(struct tracking_reader *reader, const struct tracking_format *format,
    const char *path, bool salvage);

/* Says what is wrong with a cell of a row: "abc" is not a number. Its text is not terminated.
 * Returns GPUT_ERROR_FORMAT. `what`: "line". */
int tracking_reader_bad_cell(struct tracking_reader *reader, const char *what,
    unsigned long long number, int place, const char *text, size_t length,
    struct gput_error *error);

/* `Tracking file x is invalid: …`; returns GPUT_ERROR_FORMAT. */
int tracking_reader_invalid(struct tracking_reader *reader, struct gput_error *error,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds a cell of the static data; the texts need not be terminated. */
int tracking_reader_add_cell(struct tracking_reader *reader, const char *name, size_t name_length,
    const char *text, size_t text_length, struct gput_error *error);

/* Fills static_data from the cells. */
int tracking_reader_parse_static_data(struct tracking_reader *reader, struct gput_error *error);

/* Checks that `has` has all columns that a tracking file needs. */
int tracking_reader_check_columns(struct tracking_reader *reader, struct gput_error *error);
