/*
 * The columns of sub-tracking files, in the order of new files, and the text of their timestamps;
 * shared by the CSV and the SQLite format.
 */
#pragma once

#include "files/marks/sub_tracking_file.h"

#include <stddef.h>
#include <stdint.h>

/* Enough for the name, NUL included. */
#define SUB_TRACKING_LOST_NAME_SIZE 64

enum sub_tracking_column {
    SUB_TRACKING_PROCESS_ID,
    SUB_TRACKING_NAME,
    SUB_TRACKING_POSITION,
    SUB_TRACKING_TIMESTAMP,
    SUB_TRACKING_REQUIRED_COLUMNS,
    /* Optional columns are integers, empty (NULL) where unknown. */
    SUB_TRACKING_THREAD_ID = SUB_TRACKING_REQUIRED_COLUMNS,
    SUB_TRACKING_STARTED_NS,
    SUB_TRACKING_THREAD_CPU_NS,
    SUB_TRACKING_PROCESS_CPU_NS,
    SUB_TRACKING_MINOR_FAULTS,
    SUB_TRACKING_MAJOR_FAULTS,
    SUB_TRACKING_PEAK_RSS_BYTES,
    SUB_TRACKING_ENERGY_UJ,
    SUB_TRACKING_BLOCK_PEAK_RSS_BYTES,
    SUB_TRACKING_INSTRUCTIONS,
    SUB_TRACKING_CYCLES,
    SUB_TRACKING_CACHE_MISSES,
    SUB_TRACKING_GPU_NS,
    SUB_TRACKING_COLUMN_COUNT,
    SUB_TRACKING_OTHER_COLUMN = SUB_TRACKING_COLUMN_COUNT, /* unknown: skipped */
};

const char *sub_tracking_column_name(enum sub_tracking_column column);

/* The column of that name; SUB_TRACKING_OTHER_COLUMN when it is unknown. */
enum sub_tracking_column sub_tracking_column_find(const char *name, size_t length);

/* Its bit in a set of enum sub_tracking_columns; 0 for required and unknown columns. */
unsigned sub_tracking_column_bit(enum sub_tracking_column column);

/* The columns that a new file with these optional ones has, in order. Returns how many. */
unsigned sub_tracking_columns_of(
    unsigned columns, enum sub_tracking_column list[SUB_TRACKING_COLUMN_COUNT]);

/* The member of a mark for an optional column. */
int64_t *sub_tracking_column_figure(struct sub_tracking_mark *row, enum sub_tracking_column column);

/* Makes every optional figure SUB_TRACKING_UNKNOWN. */
void sub_tracking_mark_clear_figures(struct sub_tracking_mark *row);

/* ---- Timestamps ---- */

/* Enough for the text of any timestamp, NUL included. */
#define SUB_TRACKING_TIME_TEXT_SIZE 40

/* Seconds with as many decimals as it takes, at least one: "1745449609.7528222". Returns the
 * length. */
size_t sub_tracking_format_ns(int64_t ns, char *text);

/* The text that reads back to both the mark's nanoseconds and its double (to the double, where no
 * text does both). */
size_t sub_tracking_format_timestamp(const struct sub_tracking_mark *row, char *text);

/*
 * Parses seconds since the epoch at `text`: the nearest double, and nanoseconds exactly as in the
 * decimals. Returns the first byte after the number, NULL when there is none or it is beyond the
 * 292 years that nanoseconds can represent.
 */
const char *sub_tracking_parse_timestamp(
    const char *text, const char *end, double *seconds, int64_t *ns);

/* The nanoseconds of the shortest text of this double. False when out of range. */
bool sub_tracking_ns_of_seconds(double seconds, int64_t *ns);

/*
 * Fills the two rows of lost calls, except the number of their name, and the name. Returns its
 * length. The text of the rows is of one length for any number of calls and any time, so that they
 * can be written over.
 */
size_t sub_tracking_lost_rows(const struct sub_tracking_lost *lost,
    struct sub_tracking_mark rows[2], char name[SUB_TRACKING_LOST_NAME_SIZE]);

/* Whether that is the name of lost calls, and how many they are. Sets `calls` and `at_least`. */
bool sub_tracking_lost_parse(const char *name, size_t length, struct sub_tracking_lost *lost);

/* Adds others: their number, and the time of both. */
void sub_tracking_lost_add(struct sub_tracking_lost *lost, const struct sub_tracking_lost *other);
